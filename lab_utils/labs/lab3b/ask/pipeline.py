"""How the tasks of notebook 2 are asked, pipeline and data parallel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.distributed as dist

from lab_utils.instruments.ranks import compute
from lab_utils.instruments.ranks.asked import asked_of_ranks, gradient_told
from lab_utils.instruments.ranks.replicas import replica, replica_loss
from lab_utils.kit.answers import collection, described, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask
from lab_utils.labs.lab3b.numbers import numbers_of, random_numbers
from lab_utils.labs.lab3b.stages import Stage

_LONGEST = 5000  # steps of one rank, numbers of one bucket


def ask_schedule(function: Any, given: Mapping[str, Any]) -> list[list[list[Any]]]:
    """Tasks 2.1 and 2.2: the steps of each rank."""
    told = collection(function(given["stages"], given["micros"]), "what you return")
    return [[_step(step) for step in _few(steps, "the steps of a rank")] for steps in told]


def _step(step: Any) -> list[Any]:
    parts = list(step) if isinstance(step, (tuple, list)) else []
    if len(parts) != 2 or parts[0] not in ("F", "B"):
        look = 'A step is ("F", micro) or ("B", micro).'
        raise BadAnswer(f"one of the steps is {described(step)}", look)
    return [parts[0], _whole(parts[1], "the number of a micro-batch")]


def ask_micros(function: Any, given: Mapping[str, Any]) -> int:
    """Task 2.3: a number of micro-batches."""
    return _whole(function(given["stages"], given["percent"]), "what you return")


def ask_stage(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.4: a whole pipeline, each rank with its own stage and its own steps."""

    def job() -> dict[str, Any]:
        stage = Stage(given)
        function(stage, [(kind, micro) for kind, micro in given["schedule"][stage.rank]])
        return {name: gradient_told(weight) for name, weight in stage.weights.items()}

    return asked_of_ranks(given, job)


def ask_tied(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.5: the first and the last rank have a gradient, the others have None."""

    def job() -> list[float] | None:
        rank = dist.get_rank()
        if rank not in (0, given["ranks"] - 1):
            function(None)
            return None
        gradient = random_numbers(given["seed"] + rank, given["shape"])
        function(gradient)
        return numbers_of(gradient)

    return asked_of_ranks(given, job)


def ask_buckets(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 2.6: buckets of numbers of parameters."""
    told = _few(function(list(given["nbytes"]), given["most"]), "what you return")
    return [
        [_whole(one, "the number of a parameter") for one in _few(bucket, "a bucket")]
        for bucket in told
    ]


def ask_overlap(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.7: two steps of training; after each the gradients, and how many hooks are left."""

    def job() -> list[Any]:
        parameters, told = replica(given), []
        for step in range(2):
            for parameter in parameters:
                parameter.grad = None
            compute(0.0, f"step-{step}")
            loss = replica_loss(given, parameters, dist.get_rank(), step)
            function(loss, list(parameters), [list(bucket) for bucket in given["buckets"]])
            hooks = sum(len(p._post_accumulate_grad_hooks or ()) for p in parameters)
            gradients = [gradient_told(parameter) for parameter in parameters]
            told.append({"gradients": gradients, "hooks": hooks})
        return told

    return asked_of_ranks(given, job)


def _few(value: Any, what: str) -> list[Any]:
    told = []
    for one in collection(value, what):
        told.append(one)
        if len(told) > _LONGEST:
            raise BadAnswer(f"{what}: there is no end of them", "Each step comes once.")
    return told


def _whole(value: Any, what: str) -> int:
    told = number(value, what)
    if told != int(told):
        raise BadAnswer(f"{what} is {told}", "A whole number is wanted there.")
    return int(told)


ASK: dict[str, Ask] = {
    "2.1": asked_in_parts(ask_schedule),
    "2.2": asked_in_parts(ask_schedule),
    "2.3": asked_in_parts(ask_micros),
    "2.4": ask_stage,
    "2.5": ask_tied,
    "2.6": asked_in_parts(ask_buckets),
    "2.7": ask_overlap,
}
