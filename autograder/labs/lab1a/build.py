"""Makes the cases and the pictures of Lab 1A; ``make notebooks`` writes them.

What is right, a run says: of numbers that count (notebook 1), of PyTorch on tensors without data,
of a clock that is tried, of a scan over batches (notebook 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from autograder.authoring.derived import CaseData, Files, case_files
from autograder.labs.lab1a import clockwork, shapes, slips
from autograder.labs.lab1a.definitions import RIGHT, cost
from autograder.labs.lab1a.pictures import pictures
from autograder.labs.lab1a.torch_layer import DTYPES, decoder_layer, memory
from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.shapes import Transformer

OPERATOR = {"1.2": "gemm", "1.3": "softmax", "1.4": "layernorm", "1.5": "attention"}


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    images = Path("solutions/lab1a/images")
    return {
        **case_files("lab1a", _cases(shapes.PUBLIC), _cases(shapes.HIDDEN)),
        **{images / name: svg for name, svg in pictures().items()},
    }


def _cases(given: Mapping[str, Mapping[str, Any]]) -> dict[str, list[CaseData]]:
    return {
        task: [_case(task, name, *arguments) for name, arguments in cases.items()]
        for task, cases in given.items()
    }


def _case(task: str, name: str, *arguments: Any) -> CaseData:
    given, wanted = _MAKE.get(task, _operations)(task, *arguments)
    return {"name": name, "given": given, "wanted": wanted}


def _elements(_task: str, operator: str, *dims: int) -> Any:
    given = {"operator": operator, "dims": list(dims)}
    right = cost(RIGHT[operator], dims).elements
    return given, {"elements": right, "slips": slips.of_elements(operator, dims)}


def _operations(task: str, *numbers: int) -> Any:
    """The last number is ``w``, but for a GEMM, which has nothing heavy in it."""
    operator = OPERATOR[task]
    dims, w = (numbers, 1) if operator == "gemm" else (numbers[:-1], numbers[-1])
    given: dict[str, Any] = {"dims": list(dims)} | ({} if operator == "gemm" else {"w": w})
    right = cost(RIGHT[operator], dims).operations(w)
    wrong = slips.of_operations(task, RIGHT[operator], dims, w)
    return given, {"operations": right, "slips": wrong}


def _times(
    _task: str,
    operations: int,
    elements: int,
    dtype: str,
    machine: Machine,
    compute_eff: float,
    memory_eff: float,
) -> Any:
    work = {"operations": operations, "elements": elements, "dtype": dtype}
    given = {
        **work,
        "machine": machine_data(machine),
        "compute_eff": compute_eff,
        "memory_eff": memory_eff,
    }
    right = clockwork.times(operations, elements, dtype, machine, compute_eff, memory_eff)
    return given, {"times": right, "slips": slips.of_times(given, machine)}


def machine_data(machine: Machine) -> dict[str, Any]:
    """A machine as plain data."""
    return {
        "name": machine.name,
        "rates": dict(machine.rates),
        "bandwidth": machine.bandwidth,
        "memory": machine.memory,
        "clock": machine.clock,
    }


def network(batch: int, tokens: int, d_in: int, d_model: int, d_ff: int) -> list[list[Any]]:
    """The operators of the drawing, their dims read off tensors that go through it."""
    made: list[list[Any]] = []

    def norm(x: torch.Tensor) -> torch.Tensor:
        made.append(["layernorm", list(x.shape)])
        return x

    def times(operator: str, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        y = x @ weight
        made.append([operator, [*y.shape, x.shape[-1]]])
        return y

    with torch.device("meta"):
        x = norm(torch.empty(batch, tokens, d_in))
        x = times("attention", x, torch.empty(d_in, d_model))
        x = times("gemm", x, torch.empty(d_model, d_ff))
        x = norm(times("gemm", x, torch.empty(d_ff, d_model)))
        made.append(["softmax", list(x.flatten(0, 1).shape)])
    return made


def _network(_task: str, *sizes: int) -> Any:
    names = ("batch", "tokens", "d_in", "d_model", "d_ff")
    right = network(*sizes)
    wrong: list[list[Any]] = []
    for name, by_place in slips.of_network(*sizes):
        left = {place: pair for place, pair in by_place.items() if pair != right[int(place)]}
        wrong += [[name, left]] if left else []
    return dict(zip(names, sizes, strict=True)), {"network": right, "slips": wrong}


def _row(
    _task: str,
    operations: int,
    moved: tuple[int, int, int],
    dtype: str,
    machine: Machine,
    compute_eff: float,
    memory_eff: float,
) -> Any:
    took = clockwork.times(operations, sum(moved), dtype, machine, compute_eff, memory_eff)
    work = (operations, list(moved), took, machine.clock)
    given = dict(zip(("operations", "moved", "times", "clock"), work, strict=True))
    item = DTYPES[dtype].itemsize
    return given, {"row": clockwork.row(*work), "slips": slips.of_row(*work, item)}


def _layer(task: str, model: Transformer, batch: int, new: int, past: int) -> Any:
    given = {"model": asdict(model), "batch": batch, "new": new, "past": past}
    right = decoder_layer(model, batch, new, past)
    if task == "2.4":
        return given, {"layer": right.flops, "slips": slips.of_flops(model, batch, new, past)}
    return given, {"layer": right.elements, "slips": slips.of_moved(model, batch, new, past)}


def _memory(_task: str, model: Transformer, batch: int, context: int, dtype: str) -> Any:
    given = {"model": asdict(model), "batch": batch, "context": context, "dtype": dtype}
    right = memory(model, batch, context, dtype)
    return given, {"memory": right, "slips": slips.of_memory(model, batch, context, dtype)}


def _ridge(_task: str, K: int, N: int, dtype: str, machine: Machine) -> Any:
    given = {"K": K, "N": N, "dtype": dtype, "machine": machine_data(machine)}
    right = clockwork.ridge_batch(K, N, dtype, machine)
    return given, {"batch": right, "slips": slips.of_ridge(K, N, dtype, machine)}


_MAKE: Mapping[str, Any] = {
    "1.1": _elements,
    "2.1": _times,
    "2.2": _network,
    "2.3": _row,
    "2.4": _layer,
    "2.5": _layer,
    "2.6": _memory,
    "2.7": _ridge,
}
