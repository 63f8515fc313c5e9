"""How the tasks of notebook 1 are asked, a mesh and the messages on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.kit.answers import collection, described, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow, Call

_LONGEST = 20_000  # things in a list
_NODES = "Numbers of nodes are wanted there, as in [1, 2, 3]."


def ask_connect(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 1.1: links."""
    return _links(function(given["width"], given["height"]), "what you return")


def ask_route(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 1.2: routes between several pairs of nodes of one mesh."""
    width, height = given["width"], given["height"]
    return [_whole(function(a, b, width, height), "a route") for a, b in given["pairs"]]


def ask_circle(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 1.3: links in a circle."""
    return _links(function([list(route) for route in given["routes"]]), "what you return")


def ask_arrivals(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 1.4: times of arrival."""
    messages = [Message(start, nbytes, route) for start, nbytes, route in given["messages"]]
    told = [number(one, "a time") for one in _some(function(messages, Link(*given["link"])))]
    return [int(one) if one.is_integer() else one for one in told]


def ask_own_routes(function: Any, given: Mapping[str, Any]) -> list[list[int]]:
    """Task 1.5: routes of a student's own choice."""
    pairs = [(src, dst) for src, dst in given["pairs"]]
    told = _some(function(pairs, given["width"], given["height"]))
    return [_whole(one, "a route") for one in told]


def ask_log(function: Any, given: Mapping[str, Any]) -> dict[str, float]:
    """Task 1.6: numbers by name."""
    told = {}
    for name, value in mapping(function(given["text"]), "what you return").items():
        if isinstance(value, str):
            look = "Take the unit or the % away, and make a number of what is left: float(…)."
            raise BadAnswer(f"{name} is the text {value[:40]!r}", look, "numbers, not text")
        told[str(name)] = number(value, str(name))
        if len(told) > _LONGEST:
            raise BadAnswer("your dict is very long", "Eight numbers are wanted.")
    return told


def _some(value: Any, what: str = "what you return") -> list[Any]:
    told = []
    for one in collection(value, what):
        told.append(one)
        if len(told) > _LONGEST:
            raise BadAnswer(f"{what} goes on and on", "It is much longer than needed.")
    return told


def _whole(value: Any, what: str) -> list[int]:
    told = []
    for one in _some(value, what):
        found = number(one, f"a number in {what}")
        if not found.is_integer():
            raise BadAnswer(f"{what} holds {described(one)}", _NODES)
        told.append(int(found))
    return told


def _links(value: Any, what: str) -> list[list[int]]:
    links = [_whole(one, "a link") for one in _some(value, what)]
    for link in links:
        if len(link) != 2:
            look = "A link is a pair: (from, to)."
            raise BadAnswer(f"a link of yours has {len(link)} numbers", look)
    return links


ASK: dict[str, Ask] = {
    "1.1": asked_in_parts(ask_connect),
    "1.2": ask_route,
    "1.3": asked_in_parts(ask_circle),
    "1.4": asked_in_parts(ask_arrivals),
    "1.5": ask_own_routes,
    "1.6": ask_log,
}


def _route(call: Call) -> Callable[..., Any]:
    return lambda src, dst, width, height: call([int(src), int(dst), int(width), int(height)])


def _waiting_cycle(call: Call) -> Callable[..., Any]:
    def waiting_cycle(routes: Any) -> list[tuple[int, ...]]:
        told = call([_whole(route, "a route") for route in routes])
        return [tuple(link) for link in told]

    return waiting_cycle


def _arrivals(call: Call) -> Callable[..., Any]:
    def arrivals(messages: Any, link: Any) -> Any:
        told = [[int(m.start), int(m.nbytes), _whole(m.route, "a route")] for m in messages]
        return call([told, [int(link.latency), float(link.bandwidth)]])

    return arrivals


BORROWED: dict[str, Borrow] = {
    "route": _route,
    "waiting_cycle": _waiting_cycle,
    "arrivals": _arrivals,
}
