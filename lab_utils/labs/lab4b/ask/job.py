"""How the tasks of notebook 2 are asked, collectives and a training job."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from operator import index
from typing import Any

from lab_utils.instruments.network.dims import Dim
from lab_utils.instruments.network.schedule import Send
from lab_utils.instruments.network.strategy import (
    AXES,
    COLLECTIVES,
    PHASES,
    Strategy,
    Traffic,
)
from lab_utils.instruments.parallel import Job, Memory
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.answers import a_type, collection, described, fields_told, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow, Call
from lab_utils.labs.lab4b.rows import Row, StageLoad

_MOST_STEPS, _MOST_CHUNKS = 500, 200_000
_MOST_ROWS = 5000


def whole(value: Any, what: str) -> int:
    """A whole number, whatever type it has."""
    try:
        return index(value)
    except TypeError:
        told = number(value, what)
    if not told.is_integer():
        raise BadAnswer(f"{what} is {told}", "A whole number is wanted there.")
    return int(told)


def _schedule_told(value: Any) -> list[list[list[Any]]]:
    told: list[list[list[Any]]] = []
    moved = 0
    for step in collection(value, "what you return"):
        told.append([])
        for message in collection(step, f"step {len(told) - 1}"):
            one = _send_told(message, f"a message of step {len(told) - 1}")
            moved += len(one[2])
            told[-1].append(one)
        if len(told) > _MOST_STEPS or moved > _MOST_CHUNKS:
            raise BadAnswer("there is no end of messages", "Count the steps that you need first.")
    return told


def _send_told(message: Any, what: str) -> list[Any]:
    src, dst, chunks, add = fields_told(message, what, Send)
    if isinstance(chunks, int):
        look = "A message carries a collection of chunks: (3,) if it is one alone."
        raise BadAnswer(f"chunks of {what} is {described(chunks)}", look)
    if add not in (True, False):
        look = "True: the receiver adds up. False: it puts the chunk in the place of its own."
        raise BadAnswer(f"add of {what} is {described(add)}", look)
    numbers = [whole(one, f"a chunk of {what}") for one in collection(chunks, "chunks")]
    return [whole(src, f"src of {what}"), whole(dst, f"dst of {what}"), numbers, bool(add)]


def ask_ranks(function: Any, given: Mapping[str, Any]) -> Any:
    """Tasks 2.1 and 2.2: a schedule for so many ranks."""
    return _schedule_told(function(given["ranks"]))


def ask_sizes(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.3: a schedule for dimensions of these sizes."""
    return _schedule_told(function(list(given["sizes"])))


def ask_seconds(function: Any, given: Mapping[str, Any]) -> float:
    """Task 2.4: seconds of a collective."""
    dims = tuple(Dim(**dim) for dim in given["dims"])
    return number(function(given["collective"], given["nbytes"], dims), "what you return")


def _setting(given: Mapping[str, Any]) -> tuple[Transformer, Job, Strategy]:
    return Transformer(**given["model"]), Job(**given["job"]), Strategy(**given["strategy"])


def ask_traffic(function: Any, given: Mapping[str, Any]) -> list[list[Any]]:
    """Task 2.5: what a layer sends."""
    told = []
    for one in collection(function(*_setting(given)), "what you return"):
        phase, collective, axis, nbytes = fields_told(one, "an entry", Traffic)
        for value, known in ((phase, PHASES), (collective, COLLECTIVES), (axis, AXES)):
            if value not in known:
                look = f"Here it is one of {', '.join(known)}."
                raise BadAnswer(f"an entry says {described(value)}", look)
        told.append([str(phase), str(collective), str(axis), number(nbytes, "nbytes")])
        if len(told) > _MOST_ROWS:
            raise BadAnswer("there is no end of entries", "One layer sends a dozen at most.")
    return told


def ask_memory(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.6: three numbers of bytes."""
    told = function(*_setting(given), given["state"])
    fields = fields_told(told, "what you return", Memory)
    return [number(one, name) for one, name in zip(fields, Memory._fields, strict=True)]


def _strategy_told(value: Any, what: str) -> list[int]:
    if not isinstance(value, Strategy):
        look = "Return a Strategy, as in Strategy(dp=8, tp=8, recompute=True)."
        raise BadAnswer(f"{what} is {a_type(value)}", look)
    degrees = (value.dp, value.tp, value.sp, value.pp)
    return [*(whole(one, f"a degree of {what}") for one in degrees), int(bool(value.recompute))]


def ask_strategies(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 2.7: all strategies."""
    told: list[list[int]] = []
    for one in collection(function(given["ranks"]), "what you return"):
        told.append(_strategy_told(one, "one of them"))
        if len(told) > _MOST_ROWS:
            raise BadAnswer("there is no end of them", "Each strategy comes once.")
    return told


def ask_best(function: Any, given: Mapping[str, Any]) -> list[int] | None:
    """Task 2.8: one of the rows."""
    rows = [
        Row(Strategy(dp, tp, sp, pp, bool(again)), seconds, nbytes)
        for (dp, tp, sp, pp, again), seconds, nbytes in given["rows"]
    ]
    told = function(rows, given["room"])
    return None if told is None else _strategy_told(told, "what you return")


def ask_turning(function: Any, given: Mapping[str, Any]) -> float | None:
    """Task 2.9: a factor."""
    told = function(_seconds_of(given["one"]), _seconds_of(given["other"]))
    if told is None:
        return None
    factor = number(told, "what you return")
    if not math.isfinite(factor):
        raise BadAnswer(f"what you return is {factor}", "Return a factor, or None.")
    return factor


def _seconds_of(job: Mapping[str, float]) -> Callable[[float], float]:
    """A job whose links carry ``factor`` times as much; a part of its traffic can be hidden."""

    def seconds(factor: float) -> float:
        hidden = max(0.0, job["behind"] / factor - job["cover"])
        return job["compute"] + job["waits"] / factor + hidden

    return seconds


def ask_yml(function: Any, given: Mapping[str, Any]) -> str:
    """Task 2.10: the text of a file."""
    text = function(tuple(Dim(**dim) for dim in given["dims"]))
    if not isinstance(text, str):
        raise BadAnswer(f"what you return is {a_type(text)}", "Return the text of the file.")
    return text[:10_000]


def ask_winner(function: Any, given: Mapping[str, Any]) -> list[int] | None:
    """Task 2.11: the strategy that wins on a machine, from its files."""
    files = given["network"], given["system"]
    told = function(*files, Transformer(**given["model"]), Job(**given["job"]), given["room"])
    return None if told is None else _strategy_told(told, "what you return")


def ask_stage(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.12: four numbers of bytes."""
    told = function(*_setting(given), given["stage"], given["state"])
    fields = fields_told(told, "what you return", StageLoad)
    return [number(one, name) for one, name in zip(fields, StageLoad._fields, strict=True)]


ASK: dict[str, Ask] = {
    "2.1": asked_in_parts(ask_ranks),
    "2.2": asked_in_parts(ask_ranks),
    "2.3": asked_in_parts(ask_sizes),
    "2.4": asked_in_parts(ask_seconds),
    "2.5": asked_in_parts(ask_traffic),
    "2.6": asked_in_parts(ask_memory),
    "2.7": asked_in_parts(ask_strategies),
    "2.8": asked_in_parts(ask_best),
    "2.9": asked_in_parts(ask_turning),
    "2.10": asked_in_parts(ask_yml),
    "2.11": asked_in_parts(ask_winner),
    "2.12": asked_in_parts(ask_stage),
}


def _data(value: Any) -> Any:
    """As JSON: records become dicts."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (list, tuple)):
        return [_data(one) for one in value]
    return value


def _strategy_of(key: Sequence[int]) -> Strategy:
    dp, tp, sp, pp, again = key
    return Strategy(dp, tp, sp, pp, bool(again))


def _strategies(call: Call) -> Callable[..., Any]:
    return lambda ranks: [_strategy_of(key) for key in call([int(ranks)])]


def _traffic(call: Call) -> Callable[..., Any]:
    def layer_traffic(model: Transformer, job: Job, strategy: Strategy) -> list[Traffic]:
        return [Traffic(*row) for row in call(_data([model, job, strategy]))]

    return layer_traffic


def _seconds(call: Call) -> Callable[..., Any]:
    return lambda collective, nbytes, dims: call(_data([collective, nbytes, list(dims)]))


def _memory(call: Call) -> Callable[..., Any]:
    def device_memory(model: Transformer, job: Job, strategy: Strategy, state: int) -> Memory:
        return Memory(*call(_data([model, job, strategy, state])))

    return device_memory


def _best(call: Call) -> Callable[..., Any]:
    def best_strategy(rows: Any, room: float | None) -> Strategy | None:
        told = [[*_strategy_told(row.strategy, "a row"), row.seconds, row.nbytes] for row in rows]
        key = call([told, room])
        return None if key is None else _strategy_of(key)

    return best_strategy


BORROWED: dict[str, Borrow] = {
    "strategies": _strategies,
    "layer_traffic": _traffic,
    "collective_seconds": _seconds,
    "device_memory": _memory,
    "best_strategy": _best,
}
