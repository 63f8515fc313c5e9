"""How the tasks of notebook 1 are asked, ranks, collectives and tensor parallel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import compute
from lab_utils.instruments.ranks.asked import (
    BACKWARD,
    a_tensor,
    asked_of_ranks,
    gradient_told,
    tensor_told,
)
from lab_utils.kit.borrow import lent_as_text
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.task import Ask, Borrow
from lab_utils.labs.lab3b.numbers import (
    block_input,
    block_numbers,
    chunks_of,
    heads_numbers,
    linear_numbers,
    numbers_of,
    one_whole_chunk,
    random_numbers,
)


def ask_reduce_scatter(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.1: what is in the chunks of each rank at the end."""
    return _ring(function, given, lambda rank: chunks_of(given, rank))


def ask_all_gather(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.2: the same; at the start each rank has one chunk that is complete."""
    return _ring(function, given, lambda rank: one_whole_chunk(given, rank))


def _ring(
    function: Any, given: Mapping[str, Any], start: Callable[[int], list[torch.Tensor]]
) -> Any:
    def job() -> tuple[list[list[float]], list[int]]:
        own = start(dist.get_rank())
        chunks = list(own)
        function(chunks)
        others = [place for place, chunk in enumerate(own) if chunks[place] is not chunk]
        return [numbers_of(chunk) for chunk in own], others

    answer = asked_of_ranks(given, job)
    if "told" not in answer:
        return answer
    for rank, (_, others) in enumerate(answer["told"]):
        if others:
            words = f"chunk {others[0]} of rank {rank} is another tensor in the end"
            look = "In place means that the tensor itself changes: chunk += … or chunk.copy_(…)."
            raise BadAnswer(words, look, "the tensors of the list, with other numbers in them")
    return {**answer, "told": [numbers for numbers, _ in answer["told"]]}


def ask_column(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.3: this rank has some outputs of the layer, and all inputs."""

    def job() -> dict[str, Any]:
        whole, ranks, rank = linear_numbers(given), dist.get_world_size(), dist.get_rank()
        x = whole["x"].requires_grad_()
        weight = whole["weight"].chunk(ranks)[rank].clone().requires_grad_()
        bias = whole["bias"].chunk(ranks)[rank].clone().requires_grad_()
        gradient = whole["gradient"].chunk(ranks, -1)[rank]
        return _through(lambda: function(x, weight, bias), gradient, x=x, weight=weight, bias=bias)

    return asked_of_ranks(given, job)


def ask_row(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.4: this rank has some inputs of the layer, and makes all outputs."""

    def job() -> dict[str, Any]:
        whole, ranks, rank = linear_numbers(given), dist.get_world_size(), dist.get_rank()
        x = whole["x"].chunk(ranks, -1)[rank].clone().requires_grad_()
        weight = whole["weight"].chunk(ranks, -1)[rank].clone().requires_grad_()
        bias = whole["bias"].requires_grad_()
        return _through(
            lambda: function(x, weight, bias), whole["gradient"], x=x, weight=weight, bias=bias
        )

    return asked_of_ranks(given, job)


def _through(
    forward: Callable[[], Any], gradient: torch.Tensor, **leaves: torch.Tensor
) -> dict[str, Any]:
    """Forward and backward through a layer: its output, and the gradients of its leaves."""
    result = a_tensor(forward())
    told: dict[str, Any] = {"out": tensor_told(result)}
    compute(0.0, BACKWARD)
    if result.requires_grad and result.shape == gradient.shape:
        result.backward(gradient)
    return {**told, "gradients": {name: gradient_told(leaf) for name, leaf in leaves.items()}}


def ask_shard(function: Any, given: Mapping[str, Any]) -> list[Any]:
    """Task 1.5: which rows of a fused weight each rank takes; each row holds its own number."""
    rows = torch.arange(3 * given["width"], dtype=torch.float64)
    weight = rows[:, None].expand(-1, 2).clone() if given["columns"] else rows
    ranks = given["ranks"]
    parts = [a_tensor(function(weight, given["heads"], rank, ranks)) for rank in range(ranks)]
    return [tensor_told(part) for part in parts]


def ask_dropout(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.6: outside and inside of a part that is split, twice, and with another seed."""

    def job() -> dict[str, Any]:
        x = random_numbers(given["seed"], given["shape"])
        told = {}
        for place, (name, sharded, seed) in enumerate(
            (
                ("outside", False, given["first"]),
                ("inside", True, given["first"]),
                ("outside-again", False, given["first"]),
                ("inside-again", True, given["first"]),
                ("outside-later", False, given["second"]),
                ("inside-later", True, given["second"]),
            )
        ):
            torch.manual_seed(100 * dist.get_rank() + place)  # ranks drew other numbers meanwhile
            told[name] = tensor_told(function(x.clone(), given["p"], seed, sharded))
        return told

    return asked_of_ranks(given, job)


def ask_block(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.7: a transformer block, of which this rank has some heads and some hidden units."""

    def job() -> dict[str, Any]:
        ranks, rank = dist.get_world_size(), dist.get_rank()
        heads = given["heads"] // ranks
        part = block_numbers(given)
        for name in ("up_weight", "up_bias"):
            part[name] = part[name].chunk(ranks)[rank].clone()
        for name in ("out_weight", "down_weight"):
            part[name] = part[name].chunk(ranks, -1)[rank].clone()
        part |= heads_numbers(given, range(rank * heads, (rank + 1) * heads))
        x, gradient = block_input(given)
        leaves = {name: tensor.requires_grad_() for name, tensor in {"x": x, **part}.items()}
        return _through(lambda: function(x, dict(part), heads), gradient, **leaves)

    return asked_of_ranks(given, job)


ASK: dict[str, Ask] = {
    "1.1": ask_reduce_scatter,
    "1.2": ask_all_gather,
    "1.3": ask_column,
    "1.4": ask_row,
    "1.5": ask_shard,
    "1.6": ask_dropout,
    "1.7": ask_block,
}
BORROWED: dict[str, Borrow] = {name: lent_as_text(name) for name in ("column_linear", "row_linear")}
