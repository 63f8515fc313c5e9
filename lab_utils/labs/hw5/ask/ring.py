"""How the tasks of notebook 2 are asked, the ring and the data-parallel step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.distributed as dist

from lab_utils.instruments.ranks import compute
from lab_utils.instruments.ranks.asked import asked_of_ranks, gradient_told
from lab_utils.instruments.ranks.numbers import numbers_of
from lab_utils.instruments.ranks.replicas import replica, replica_loss
from lab_utils.kit.answers import number
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask
from lab_utils.labs.hw5.brought import brought, gaps_kept, laid_out


def ask_ring(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.1: what is in each rank's tensor at the end, and whether its neighbours are whole."""

    def job() -> dict[str, Any]:
        values = brought(given, dist.get_rank())
        tensor, memory = laid_out(values, given["layout"])
        function(tensor)
        return {"numbers": numbers_of(tensor), "gaps": gaps_kept(memory, given["layout"])}

    return asked_of_ranks(given, job)


def ask_seconds(function: Any, given: Mapping[str, Any]) -> float:
    """Task 2.2: seconds."""
    names = ("nbytes", "ranks", "latency", "bandwidth")
    return number(function(*(given[name] for name in names)), "what you return")


def ask_step(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.3: two steps of training; after each the gradients, and how many hooks are left."""

    def job() -> list[Any]:
        rank, parameters, told = dist.get_rank(), replica(given), []
        images, total = given["rows"][rank], sum(given["rows"])
        for step in range(2):
            for parameter in parameters:
                parameter.grad = None
            compute(0.0, f"step-{step}")
            loss = replica_loss(given, parameters, rank, step)
            buckets = [list(bucket) for bucket in given["buckets"]]
            function(loss, list(parameters), buckets, images, total)
            hooks = sum(len(p._post_accumulate_grad_hooks or ()) for p in parameters)
            gradients = [gradient_told(parameter) for parameter in parameters]
            told.append({"gradients": gradients, "hooks": hooks})
        return told

    return asked_of_ranks(given, job)


ASK: dict[str, Ask] = {
    "2.1": ask_ring,
    "2.2": asked_in_parts(ask_seconds),
    "2.3": ask_step,
}
