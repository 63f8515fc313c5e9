"""How a training job is spread over devices, and what runs on one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError


@dataclass(frozen=True, order=True)
class Strategy:
    """Degrees of parallelism.

    Attributes:
        dp: replicas, each with its share of the batch (data parallel).
        tp: ranks that share every matrix (tensor parallel).
        sp: ranks that share the tokens of each sequence (sequence parallel).
        pp: stages, one behind the other (pipeline parallel).
        recompute: whether a layer keeps its input alone, and runs again in backward.
    """

    dp: int = 1
    tp: int = 1
    sp: int = 1
    pp: int = 1
    recompute: bool = False

    def __post_init__(self) -> None:
        if min(self.dp, self.tp, self.sp, self.pp) < 1:
            raise LabError("a strategy: every degree is 1 or more")

    @property
    def ranks(self) -> int:
        """How many devices it takes."""
        return self.dp * self.tp * self.sp * self.pp

    def __str__(self) -> str:
        return f"{self.dp}_{self.tp}_{self.sp}_{self.pp}_{int(self.recompute)}"


class Traffic(NamedTuple):
    """One collective of a layer.

    ``phase`` is ``"forward"``, ``"again"`` (forward runs again), ``"backward"`` or ``"update"``;
    ``collective`` is ``"all_reduce"``, ``"all_gather"`` or ``"reduce_scatter"``; ``axis`` is who
    takes part: ``"tp"``, ``"sp"`` or ``"copies"`` (all ranks with the same weights: dp times sp).
    ``nbytes`` is the whole: what is added up, what is gathered in the end, what is scattered.
    """

    phase: str
    collective: str
    axis: str
    nbytes: int


PHASES = ("forward", "again", "backward", "update")
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter")
AXES = ("tp", "sp", "copies")


def check_even(model: Transformer, job: Job, strategy: Strategy) -> None:
    """Refuse what would cut something into unequal parts.

    A head may be cut in two: what its ranks would have to say to each other is left out.

    Raises:
        LabError: the message says what.
    """
    tp, sp = strategy.tp, strategy.sp
    uneven = {
        "heads": model.heads * model.head % tp or model.kv_heads * model.head % tp,
        "hidden": model.hidden % tp,
        "tokens": job.tokens % sp,
        "layers": model.layers % strategy.pp,
        "the batch": job.batch % (strategy.dp * job.micro_batches),
    }
    for what, rest in uneven.items():
        if rest:
            raise LabError(f"strategy {strategy} cuts {what} into unequal parts")
