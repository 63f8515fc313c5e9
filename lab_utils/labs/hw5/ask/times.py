"""How the tasks of notebook 1 are asked, times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.answers import collection, described, mapping, number, numbers
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask
from lab_utils.labs.hw5.device import Device

Times = dict[tuple[int, int], float]


def ask_timed(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.1: seconds on a device of ours, and how many epochs were run."""
    device = Device(**given["device"])
    seconds = number(
        function(device.batches, device.step, device.clock, device.sync), "what you return"
    )
    return {"seconds": seconds, "epochs": device.epochs}


def ask_impossible(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 1.2: batch sizes."""
    table = dict(given["rows"])
    told = function(table, *(given[name] for name in ("macs", "images", "peak", "saving")))
    rows = collection(told, "what you return")
    return sorted({int(number(batch, "a batch size")) for batch in rows})


def ask_speedups(function: Any, given: Mapping[str, Any]) -> list[list[float]]:
    """Task 1.4: a number for each cell."""
    told = mapping(function(times_of(given["times"])), "what you return")
    return [[*_cell(key), number(value, "a speed-up")] for key, value in told.items()]


def ask_strong(function: Any, given: Mapping[str, Any]) -> list[list[float]]:
    """Task 1.5: pairs of cells, and a speed-up."""
    told = []
    for point in collection(function(times_of(given["times"])), "what you return"):
        parts = list(point) if isinstance(point, (tuple, list)) else []
        if len(parts) != 3:
            look = "Each of them is ((1, batch), (gpus, batch), speed-up)."
            raise BadAnswer(f"one of them is {described(point)}", look)
        told.append([*_cell(parts[0]), *_cell(parts[1]), number(parts[2], "a speed-up")])
    return told


def ask_split(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.7: two numbers for each cell; or the words of a ValueError."""
    alone = dict(given["alone"])
    try:
        told = mapping(function(alone, times_of(given["times"])), "what you return")
    except ValueError as error:
        return {"refused": str(error)[:200]}
    return {
        "cells": [
            [*_cell(key), *numbers(value, "a pair of compute and communication", 2)]
            for key, value in told.items()
        ]
    }


def ask_bandwidth(function: Any, given: Mapping[str, Any]) -> list[list[float]]:
    """Task 1.8: a number for each cell."""
    told = function(times_of(given["times"]), given["images"], given["nbytes"])
    return [
        [*_cell(key), number(value, "a bandwidth")]
        for key, value in mapping(told, "what you return").items()
    ]


def times_of(rows: Sequence[Sequence[float]]) -> Times:
    """A table by (gpus, batch), from rows of plain data."""
    return {(int(gpus), int(batch)): seconds for gpus, batch, seconds in rows}


def _cell(key: Any) -> list[int]:
    parts = list(key) if isinstance(key, (tuple, list)) else []
    if len(parts) != 2:
        raise BadAnswer(f"a cell is called {described(key)}", "A cell is called (gpus, batch).")
    return [int(number(part, "part of a cell's name")) for part in parts]


ASK: dict[str, Ask] = {
    "1.1": asked_in_parts(ask_timed),
    "1.2": asked_in_parts(ask_impossible),
    "1.4": asked_in_parts(ask_speedups),
    "1.5": asked_in_parts(ask_strong),
    "1.7": asked_in_parts(ask_split),
    "1.8": asked_in_parts(ask_bandwidth),
}
