"""Right versions of functions, for tasks that call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab_utils.instruments.network.dims import Dim
from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.instruments.network.show import packets, routes
from lab_utils.instruments.network.strategy import Strategy, check_even
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case

LENT: dict[str, tuple[str, ...]] = {
    "1.5": ("route", "waiting_cycle", "arrivals"),
    "2.11": (
        "strategies",
        "layer_traffic",
        "collective_seconds",
        "device_memory",
        "best_strategy",
    ),
    "2.12": ("device_memory",),
}
_MOST = 20_000  # nodes in all routes of a call
_MOST_RANKS = 4096


def lend(name: str, _case: Case, arguments: Any) -> Any:
    """What a right version answers.

    Raises:
        LabError, TypeError, ValueError: the arguments are none of an honest call.
    """
    if name not in _LENDERS:
        raise LabError(f"{name} is not lent")
    return _LENDERS[name](*arguments)


def _route(src: int, dst: int, width: int, height: int) -> list[int]:
    if min(width, height) < 1 or width * height > _MOST:
        raise LabError("this is no mesh")
    if not (0 <= src < width * height and 0 <= dst < width * height):
        raise LabError("there is no such node")
    return routes.xy(src, dst, width)


def _waiting_cycle(*ways: Any) -> Any:
    _small(ways)
    return routes.circle([tuple(route) for route in ways])


def _arrivals(told: Any, link: Any) -> list[int]:
    _small([route for _, _, route in told])
    messages = [Message(start, nbytes, tuple(route)) for start, nbytes, route in told]
    return packets.arrivals(messages, Link(*link))


def _small(ways: Any) -> None:
    if sum(len(way) for way in ways) > _MOST:
        raise LabError("these routes are too long")


def _strategies(ranks: int) -> list[list[int]]:
    from autograder.reference.job import search

    if not 1 <= ranks <= _MOST_RANKS:
        raise LabError("so many ranks are in no task")
    return [[o.dp, o.tp, o.sp, o.pp, int(o.recompute)] for o in search.strategies(ranks)]


def _setting(
    model: Mapping[str, Any], job: Mapping[str, Any], strategy: Mapping[str, Any]
) -> tuple[Transformer, Job, Strategy]:
    found = Transformer(**model), Job(**job), Strategy(**strategy)
    if found[0].layers > 2000 or found[2].ranks > _MOST_RANKS:
        raise LabError("such a model is in no task")
    check_even(*found[:2], replace(found[2], pp=1))  # a stage is asked for as a whole model
    return found


def _traffic(*setting: Any) -> list[list[Any]]:
    from autograder.reference.job import search

    return [list(one) for one in search.layer_traffic(*_setting(*setting))]


def _seconds(collective: str, nbytes: float, dims: Any) -> float:
    from autograder.reference.job import schedules

    parts = [Dim(**dim) for dim in dims]
    if max((dim.size for dim in parts), default=1) > 64:
        raise LabError("such a dimension is in no task")
    return schedules.seconds(collective, nbytes, parts)


def _memory(model: Any, job: Any, strategy: Any, state: int) -> list[int]:
    from autograder.reference.job import search

    return list(search.counted_memory(*_setting(model, job, strategy), state))


def _best(rows: Any, room: float | None) -> Any:
    fits = [row for row in rows if room is None or row[6] <= room * 1e9]
    return min(fits, key=lambda row: row[5])[:5] if fits else None


_LENDERS: dict[str, Callable[..., Any]] = {
    "route": _route,
    "waiting_cycle": _waiting_cycle,
    "arrivals": _arrivals,
    "strategies": _strategies,
    "layer_traffic": _traffic,
    "collective_seconds": _seconds,
    "device_memory": _memory,
    "best_strategy": _best,
}
