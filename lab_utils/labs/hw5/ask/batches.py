"""How the tasks of notebook 3 are asked, large batches and what the ranks must agree on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch.distributed as dist
from torch.utils.data.distributed import DistributedSampler

from lab_utils.instruments.ranks.asked import asked_of_ranks, tensor_told
from lab_utils.kit.answers import ask_file, collection, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask
from lab_utils.labs.hw5.shares import share_of
from lab_utils.labs.hw5.wire_log import KINDS, Message, ModelBytes

_LONGEST = 5000  # images of one rank


def ask_rate(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 3.1: the learning rate of some steps."""
    rule = (given["rate"], given["base"], given["batch"], given["warmup"])
    return [number(function(step, *rule), "what you return") for step in given["steps"]]


def ask_shard(function: Any, given: Mapping[str, Any]) -> list[list[list[int]]]:
    """Task 3.4: the images of every rank, epoch by epoch."""
    images, ranks, seed, drop = (given[n] for n in ("images", "ranks", "seed", "drop_last"))
    told = []
    with _without_pytorchs():
        for epoch in given["epochs"]:
            rows = [function(images, r, ranks, epoch, seed, drop) for r in range(ranks)]
            told.append([_numbers(row) for row in rows])
    return told


def _numbers(row: Any) -> list[int]:
    told = []
    for one in collection(row, "what you return"):
        told.append(int(number(one, "the number of an image")))
        if len(told) > _LONGEST:
            raise BadAnswer("there is no end of them", "A rank has its share of the images.")
    return told


@contextmanager
def _without_pytorchs() -> Iterator[None]:
    """While this is open, PyTorch's own sampler refuses: the student's is to do its work."""
    own = DistributedSampler.__iter__

    def refuse(_: Any) -> Any:
        look = "Build it from torch.randperm: what DistributedSampler does is what is asked."
        raise BadAnswer("DistributedSampler is called", look, "a sampler of your own")

    DistributedSampler.__iter__ = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        DistributedSampler.__iter__ = own  # type: ignore[method-assign]


def ask_traffic(function: Any, given: Mapping[str, Any]) -> dict[str, int]:
    """Task 3.6: bytes by kind."""
    log = [Message(*message) for message in given["log"]]
    told = mapping(function(log, ModelBytes(*given["model"])), "what you return")
    if lacking := [kind for kind in KINDS if kind not in told]:
        look = f"The dict has four keys: {', '.join(KINDS)}."
        raise BadAnswer(f"there is no {lacking[0]} in what you return", look)
    return {kind: int(number(told[kind], f"bytes of {kind}")) for kind in KINDS}


def ask_norm(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 3.8: each rank normalises its own images."""

    def job() -> dict[str, Any]:
        x = share_of(given, dist.get_rank())
        return tensor_told(function(x, given["eps"]))

    return asked_of_ranks(given, job)


ASK: dict[str, Ask] = {
    "3.1": asked_in_parts(ask_rate),
    "3.2": ask_file,
    "3.4": asked_in_parts(ask_shard),
    "3.6": asked_in_parts(ask_traffic),
    "3.8": ask_norm,
}
