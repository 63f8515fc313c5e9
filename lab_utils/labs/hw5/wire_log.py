"""What PyTorch's own ``DistributedDataParallel`` sends, written down message by message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from lab_utils.instruments.ranks import compute, run_ranks
from lab_utils.instruments.ranks.records import Diary

KINDS = ("parameters", "buffers", "gradients", "metadata")
PHASES = ("construct", "forward", "backward")
_PHASE = "phase:"


class Message(NamedTuple):
    """A collective that a rank took part in."""

    phase: str
    """``construct``, ``forward`` or ``backward``: what the program was doing."""
    what: str
    """``broadcast``, ``all_reduce`` or ``all_gather``."""
    dtype: str
    nbytes: int


class ModelBytes(NamedTuple):
    """What a model holds, in bytes; what it holds twice counts once."""

    parameters: int
    trained: int
    """Of these, parameters that have a gradient."""
    buffers: int


def bytes_of(model: nn.Module) -> ModelBytes:
    """What a model holds."""
    parameters = list(model.parameters())
    return ModelBytes(
        sum(p.nbytes for p in parameters),
        sum(p.nbytes for p in parameters if p.requires_grad),
        sum(b.nbytes for b in model.buffers()),
    )


def record_ddp(
    make: Callable[[], nn.Module],
    shape: Sequence[int],
    steps: int = 3,
    accumulate: int = 1,
    **options: Any,
) -> list[Message]:
    """The messages of rank 1 of 2, from building the model to the last backward.

    Args:
        make: makes the model.
        shape: of what goes into it.
        steps: how many times forward and backward run.
        accumulate: gradients travel in every so many-th step; the others run under ``no_sync``.
        options: for ``DistributedDataParallel``.
    """

    def job() -> None:
        model = make()
        compute(0.0, f"{_PHASE}construct")
        parallel = DistributedDataParallel(model, **options)
        for step in range(1, steps + 1):
            with parallel.no_sync() if step % accumulate else nullcontext():
                compute(0.0, f"{_PHASE}forward")
                loss = parallel(torch.ones(tuple(shape), dtype=_dtype(model))).sum()
                compute(0.0, f"{_PHASE}backward")
                loss.backward()

    return messages_of(run_ranks(2, job).diaries[1])


def messages_of(diary: Diary) -> list[Message]:
    """The collectives of a diary, with the phase that they fell into."""
    phase, found = PHASES[0], []
    for entry in diary:
        if entry[0] == "compute" and str(entry[2]).startswith(_PHASE):
            phase = str(entry[2]).removeprefix(_PHASE)
        if entry[0] == "collective":
            found.append(Message(phase, entry[2], entry[6], entry[4]))
    return found


def _dtype(model: nn.Module) -> torch.dtype:
    return next(model.parameters()).dtype
