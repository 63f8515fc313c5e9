"""How the tasks of Lab 1B are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lab_utils.kit.answers import a_type, collection, described, mapping, number, numbers
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.task import Ask
from lab_utils.labs.lab1b.models import Arrow, Op

_LONGEST = 20_000  # steps of an order, and numbers of a weight


def ops_of(given: Mapping[str, Any]) -> list[Op]:
    """The operators of a case."""
    return [Op(name, tuple(reads), makes, flops) for name, reads, makes, flops in given["ops"]]


def ask_traffic(function: Any, given: Mapping[str, Any]) -> dict[str, list[float]]:
    """Task 1.1: what each operator reads and writes."""
    groups = [list(group) for group in given["groups"]]
    told = mapping(function(ops_of(given), dict(given["nbytes"]), groups), "what you return")
    return {str(name): numbers(pair, f"the entry of {name}", 2) for name, pair in told.items()}


def ask_time(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.2: seconds."""
    moved = {name: tuple(pair) for name, pair in given["moved"].items()}
    return number(
        function(ops_of(given), moved, given["rate"], given["bandwidth"]), "what you return"
    )


def ask_fusions(function: Any, given: Mapping[str, Any]) -> list[list[str]]:
    """Task 1.3: the arrows chosen, as pairs of names."""
    arrows = [(maker, reader) for maker, reader in given["arrows"]]
    told = collection(function(list(arrows), timer(arrows, given["times"])), "what you return")
    return [_arrow(pair) for pair in told]


def timer(arrows: Sequence[Arrow], times: Sequence[float]) -> Callable[[Iterable[Arrow]], float]:
    """How long a model takes with these arrows fused, from a table of all sets of arrows."""
    bit = {arrow: 1 << place for place, arrow in enumerate(arrows)}

    def time(fused: Iterable[Arrow] = ()) -> float:
        """Microseconds of the whole model when the arrows in ``fused`` are fused."""
        mask = 0
        for pair in collection(fused, "what you give to time"):
            arrow = tuple(_arrow(pair))
            if arrow not in bit:
                look = "Only operators that an arrow joins can be fused: take arrows of the list."
                raise BadAnswer(f"{' -> '.join(arrow)} is not an arrow of this model", look)
            mask |= bit[arrow]
        return times[mask]

    return time


def ask_stationary(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.1: four numbers of elements."""
    told = function(given["keep"], tuple(given["shape"]), tuple(given["tiles"]))
    return numbers(told, "what you return", 4)


def ask_order(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Tasks 2.2 and 2.3: the steps of an order."""
    steps: list[list[int]] = []
    for step in collection(function(*given["tiles"]), "what you return"):
        steps.append([_whole(n, "an index") for n in numbers(step, "each step", 3)])
        if len(steps) > _LONGEST:
            raise BadAnswer("your order goes on and on", "Each step (m, n, k) comes once.")
    return steps


def ask_tiles(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.4: the sizes of a tile."""
    told = function(*given["shape"], given["budget"])
    return numbers(told, "what you return", 3)


def ask_gemm_times(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.5: compute and memory time."""
    types = (given["stored"], given["computed"])
    told = function(tuple(given["shape"]), *types, dict(given["rates"]), given["bandwidth"])
    return numbers(told, "what you return", 2)


def ask_quantize(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 2.6: whole numbers and scales."""
    told = function(np.array(given["weight"], dtype=np.float64))
    if not isinstance(told, (tuple, list)) or len(told) != 2:
        look = "Return two things: the whole numbers, and the scales."
        raise BadAnswer(f"what you return is {a_type(told)}", look)
    whole, scale = (_array(part) for part in told)
    return {
        "kind": str(getattr(told[0], "dtype", "")).removeprefix("torch."),
        **whole,
        **{f"scale_{key}": value for key, value in scale.items()},
    }


def _array(value: Any) -> dict[str, Any]:
    """Shape and numbers of whatever can be read as an array."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        text = f"a part of what you return is {described(value)}"
        raise BadAnswer(text, "An array of numbers is wanted there.") from None
    if array.size > _LONGEST:
        raise BadAnswer("an array that is much too large", "It is as large as the weight.")
    finite = bool(np.isfinite(array).all())
    return {"shape": list(array.shape), "numbers": array.ravel().tolist() if finite else None}


def _whole(value: float, what: str) -> int:
    if value != int(value):
        raise BadAnswer(f"{what} is {value}", "Whole numbers, counted from 0, are wanted there.")
    return int(value)


def _arrow(pair: Any) -> list[str]:
    names = [pair] if isinstance(pair, str) else list(collection(pair, "each arrow"))
    if len(names) != 2 or not all(isinstance(name, str) for name in names):
        look = "An arrow is a pair of names, as in the list that your function gets."
        raise BadAnswer(f"one of the arrows is {described(pair)}", look)
    return names


ASK: dict[str, Ask] = {
    "1.1": ask_traffic,
    "1.2": ask_time,
    "1.3": ask_fusions,
    "2.1": ask_stationary,
    "2.2": ask_order,
    "2.3": ask_order,
    "2.4": ask_tiles,
    "2.5": ask_gemm_times,
    "2.6": ask_quantize,
}
