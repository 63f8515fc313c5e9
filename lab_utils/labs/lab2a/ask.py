"""How the tasks of Lab 2A are asked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.systolic.designs import Conv, Design, Gemm
from lab_utils.kit.answers import a_type, collection, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.guard import to_be_written
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask

_LONGEST = 20_000  # numbers, or characters of a text


def ask_gemm(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 1.1: M, N, K."""
    return _numbers(function(Conv(*given["conv"])), 3)


def ask_mapped(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 1.2: along rows, along columns, in time."""
    return _numbers(function(given["dataflow"], *given["gemm"]), 3)


def ask_fold(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.3: cycles of a fold."""
    return _number(function(given["dataflow"], given["height"], given["width"], given["steps"]))


def ask_cycles(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.4: cycles of all folds."""
    return _number(function(*given["mapped"], *given["array"], given["fold"]))


def ask_efficiency(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.5: per cent."""
    return _number(function(*given["mapped"], *given["array"]))


def ask_topology(function: Any, given: Mapping[str, Any]) -> str:
    """Task 2.1: the text of a topology file."""
    kind: Any = Gemm if given["kind"] == "gemm" else Conv
    return _text(function([kind(*layer) for layer in given["layers"]]))


def ask_config(function: Any, given: Mapping[str, Any]) -> str:
    """Task 2.2: the text of a configuration file."""
    return _text(function(Design(*given["design"]), given["bandwidth"]))


def ask_totals(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.3: cycles, stalls, efficiency."""
    return _numbers(function(given["conv"], given["gemm"]), 3)


def ask_stalls(function: Any, given: Mapping[str, Any]) -> float:
    """Task 2.4: stall cycles; the lists come as numpy arrays."""
    import numpy as np

    misses = (np.array(given[name], dtype=np.int64) for name in ("cycles", "halves"))
    return _number(function(*misses, given["period"]))


def ask_scores(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.5: two scores."""
    return _numbers(function(Design(*given["design"]), given["cycles"], given["efficiency"]), 2)


def ask_best(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 2.6: places in the list of scores."""
    return _places(function(list(given["scores"])), len(given["scores"]))


def ask_swings(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.7: two numbers of per cent."""
    return _numbers(function(list(given["first"]), list(given["second"])), 2)


def ask_pareto(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 2.8: places in the list of points."""
    points = [(cycles, area) for cycles, area in given["points"]]
    return _places(function(points), len(points))


def ask_error(function: Any, given: Mapping[str, Any]) -> float:
    """Task 3.1: per cent."""
    return _number(function(list(given["predicted"]), list(given["cycles"])))


def ask_split(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 3.2: places of designs to learn from, and of designs to test with."""
    designs = [Design(*one) for one in given["designs"]]
    told = list(collection(function(designs), "what you return"))
    if len(told) != 2:
        look = "Return two lists: places to learn from, places to test with."
        raise BadAnswer(f"what you return has {len(told)} parts", look)
    return [_places(part, len(designs)) for part in told]


def ask_predict(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 3.3: predictions for files whose cycles nobody told."""
    known, asked = (_configs(given["form"], given[name]) for name in ("known", "asked"))
    with to_be_written("predict", "model_rows"), to_be_written("predict", "scale_sim"):
        return _numbers(function(known, list(given["cycles"]), asked), len(asked))


def _configs(form: str, designs: Sequence[Sequence[Any]]) -> list[str]:
    return [form.format(**Design(*one)._asdict()) for one in designs]


def _number(value: Any) -> float:
    told = number(value, "what you return")
    if not math.isfinite(told):
        raise BadAnswer(f"what you return is {told}", "A finite number is wanted there.")
    return int(told) if told.is_integer() else told


def _numbers(value: Any, many: int) -> list[float]:
    told = [_number(one) for one in collection(value, "what you return")]
    if len(told) != many:
        raise BadAnswer(f"what you return has {len(told)} numbers", f"There must be {many}.")
    return told


def _text(value: Any) -> str:
    if not isinstance(value, str):
        look = "Return the text itself; the next cell writes it to a file."
        raise BadAnswer(f"what you return is {a_type(value)}", look)
    if len(value) > _LONGEST:
        raise BadAnswer("the text is much too long", "A few lines are wanted.")
    return value


def _places(value: Any, many: int) -> list[int]:
    """Places in a list of so many; they count from 0."""
    places = []
    for one in collection(value, "what you return"):
        place = number(one, "a place")
        if place != int(place) or not 0 <= place < many:
            look = f"Places are whole numbers from 0 to {many - 1}."
            raise BadAnswer(f"one of the places is {one}", look)
        places.append(int(place))
        if len(places) > _LONGEST:
            raise BadAnswer("your list goes on and on", "Each place comes once.")
    return places


ASK: dict[str, Ask] = {
    "1.1": ask_gemm,
    "1.2": asked_in_parts(ask_mapped),
    "1.3": asked_in_parts(ask_fold),
    "1.4": ask_cycles,
    "1.5": ask_efficiency,
    "2.1": ask_topology,
    "2.2": ask_config,
    "2.3": ask_totals,
    "2.4": asked_in_parts(ask_stalls),
    "2.5": ask_scores,
    "2.6": ask_best,
    "2.7": ask_swings,
    "2.8": ask_pareto,
    "3.1": ask_error,
    "3.2": ask_split,
    "3.3": ask_predict,
}
