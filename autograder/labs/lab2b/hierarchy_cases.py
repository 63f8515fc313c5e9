"""Cases of notebook 1: traces, stages and tables of designs, made so that mistakes show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from operator import add
from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab2b.clockwork import cycles_by_clock
from autograder.labs.lab2b.oracles import best_by_definition, levels_missed, places_missed
from lab_utils.labs.lab2b.machine import LINE, Point
from lab_utils.labs.lab2b.show.space import every_design

_SMALL = [1, 2, 3, 1, 4, 2, 5, 1, 2, 3]
_WALK = [0, 1, 2, 16, 17, 32, 33, 3, 4, 48, 49, 18, 34, 5, 64, 19, 6, 35]
_TRIES = 500  # until every mistake shows
_GOALS = ("efficiency", "combined")


def public() -> dict[str, list[CaseData]]:
    """By task."""
    big = max(_WALK) // LINE + 1
    return {
        "1.1": [
            _misses_case(f"{policy}, {size} lines", _SMALL, size, policy)
            for policy, size in (("LRU", 3), ("FIFO", 3), ("LRU", 0))
        ],
        "1.2": [
            _levels_case("2 and 3 lines", _WALK, 2, 3),
            _levels_case("no second level", _WALK, 2, 0),
            _levels_case("a second level that holds all", _WALK, 2, big),
        ],
        "1.3": [_anomaly_case(3), _anomaly_case(5)],
        "1.4": [
            _cycles_case("three stages, by hand", [10, 8, 3], [3, 1, 5], [1, 0, 1]),
            _cycles_case("memory is slow", [8, 8, 4, 10], [9, 2, 3, 9], [4, 2, 2, 1]),
            _cycles_case("the upper wire is slow", [3, 9, 6], [7, 1, 9], [1, 1, 3], 2, 4),
        ],
        "1.5": [
            _best_case(f"144 real designs, {goal}", _real(_REAL)[::-1], goal) for goal in _GOALS
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task."""
    rng = random.Random(2)
    return {
        "1.1": [*_hidden_misses(rng)],
        "1.2": [*_hidden_levels(rng)],
        "1.3": [_anomaly_case(size) for size in (4, 6, 7, 8, 9, 10)],
        "1.4": [*_hidden_cycles(rng)],
        "1.5": [*_hidden_best(rng)],
    }


# Task 1.1


def _misses_case(name: str, trace: list[int], size: int, policy: str) -> CaseData:
    given = {"trace": trace, "size": size, "policy": policy}
    return {"name": name, "given": given, "wanted": {"places": places_missed(trace, size, policy)}}


def _hidden_misses(rng: random.Random) -> Iterator[CaseData]:
    """Each trace under both policies, which most of them tell apart."""
    forms: list[tuple[str, int, int]] = [  # what the trace is like, lines in all, size
        ("few lines", 6, 3),
        ("many lines", 40, 7),
        ("a loop that is too long", 9, 5),
        ("two lines fit", 5, 2),
        ("some lines more often", 14, 4),
        ("a large buffer", 30, 12),
        ("one line fits", 4, 1),
        ("all fits", 8, 11),
        ("no line fits", 3, 0),
    ]
    for words, lines, size in forms:
        for _ in range(_TRIES):
            trace = _lines_of(rng, words, lines)
            lru, fifo = (_misses_case(words, trace, size, policy) for policy in ("LRU", "FIFO"))
            alike = words in ("one line fits", "all fits", "no line fits")
            if alike or lru["wanted"] != fifo["wanted"]:
                yield in_parts(words, [lru, fifo])
                break


def _lines_of(rng: random.Random, words: str, lines: int) -> list[int]:
    """A trace that comes back to some lines more often than to others."""
    if words == "a loop that is too long":
        loop = rng.sample(range(100), lines)
        return [line for _ in range(4) for line in (*loop, rng.choice(loop), loop[0])]
    names = rng.sample(range(200), lines)
    return [names[min(rng.randrange(lines), rng.randrange(lines))] for _ in range(60)]


# Task 1.2


def _levels_case(name: str, words: list[int], first: int, second: int) -> CaseData:
    lines = [word // LINE for word in words]
    given = {"addresses": words, "l1": first, "l2": second}
    wanted = {"misses": levels_missed(lines, first, second)}
    return {"name": name, "given": given, "wanted": wanted}


def _hidden_levels(rng: random.Random) -> Iterator[CaseData]:
    """Words, and the sizes that they are tried with; in half of them there is no second level."""
    forms: list[tuple[str, Callable[[], list[int]], list[tuple[int, int]]]] = [
        ("windows of an image", lambda: _windows(rng, 9, 14, 3), [(4, 8), (4, 0)]),
        ("windows with a stride", lambda: _windows(rng, 12, 20, 3, 2), [(4, 11), (4, 0)]),
        ("all fits into the second level", lambda: _columns(rng, 20, 40), [(6, 200), (5, 9)]),
        ("random words", lambda: [rng.randrange(400) for _ in range(150)], [(5, 10), (7, 0)]),
        ("some words more often", lambda: _favourites(rng), [(4, 9)]),
        ("some words more often, larger levels", lambda: _favourites(rng), [(6, 12), (6, 0)]),
        ("a second level that is smaller", lambda: _favourites(rng), [(7, 5)]),
        ("several second levels", lambda: _favourites(rng), [(3, 6), (3, 11)]),
    ]
    for name, make, sizes in forms:
        for _ in range(_TRIES):
            words = make()
            lines = [word // LINE for word in words]
            right = [levels_missed(lines, *size) for size in sizes]
            slips = [
                [levels_missed(words, *size) for size in sizes],
                [
                    [levels_missed(lines, *size)[0], levels_missed(lines, *size[::-1])[0]]
                    for size in sizes
                ],
            ]
            if "windows" not in name:
                slips.append([_as_fifo(lines, *size) for size in sizes])
            if right not in slips:
                yield in_parts(name, [_levels_case(name, words, *size) for size in sizes])
                break


def _as_fifo(lines: list[int], first: int, second: int) -> list[int]:
    """What two levels miss that evict as a FIFO does."""
    asked = [lines[place] for place in places_missed(lines, first, "FIFO")]
    return [len(asked), len(places_missed(asked, second, "FIFO"))]


def _windows(rng: random.Random, height: int, width: int, side: int, stride: int = 1) -> list[int]:
    """Words of an image of three channels under a window that moves over a part of it."""
    top = rng.randrange(3)
    rows = range(top, top + height - side, stride)
    return [
        ((y + r) * width + x + s) * 3
        for y in rows
        for x in range(0, width - side, stride)
        for r in range(side)
        for s in range(side)
    ][:500]


def _columns(rng: random.Random, height: int, width: int) -> list[int]:
    begin = rng.randrange(40)
    return [begin + y * width + x for x in range(0, 18, 2) for y in range(height)][:400]


def _favourites(rng: random.Random) -> list[int]:
    return [min(rng.randrange(300), rng.randrange(300)) for _ in range(200)]


# Tasks 1.3 and 1.4


def _anomaly_case(size: int) -> CaseData:
    name = f"{size} lines against {size + 1}"
    return {"name": name, "given": {"size": size}, "wanted": {"larger": size + 1}}


def _cycles_case(
    name: str, compute: list[int], first: list[int], second: list[int], near: int = 1, far: int = 4
) -> CaseData:
    given: dict[str, Any] = {"compute": compute, "first": first, "second": second}
    wanted = {"cycles": cycles_by_clock(compute, first, second, near, far)}
    return {"name": name, "given": {**given, "near": near, "far": far}, "wanted": wanted}


def _hidden_cycles(rng: random.Random) -> Iterator[CaseData]:
    """Each list of stages with a slow memory, and with a slow upper wire."""
    forms = [
        ("memory is slow", 6, 1, 4),
        ("memory is very slow", 9, 1, 11),
        ("both wires are alike", 7, 2, 3),
        ("a wide upper wire", 8, 2, 9),
        ("a single stage", 1, 3, 5),
        ("many stages", 40, 1, 4),
        ("two stages", 2, 2, 7),
        ("the array is slow", 12, 1, 5),
    ]
    for name, many, near, far in forms:
        slow = 80 if name == "the array is slow" else 30
        for _ in range(_TRIES):
            compute = [rng.randint(3, slow) for _ in range(many)]
            first = [rng.randint(2, 12) for _ in range(many)]
            second = [max(1, lines - rng.randint(0, 9)) for lines in first]
            wires = [(near, far), (5, 6)]
            parts = [_cycles_case(name, compute, first, second, *wire) for wire in wires]
            right = [part["wanted"]["cycles"] for part in parts]
            wrong = zip(*(_cycles_slips(compute, first, second, *w) for w in wires), strict=True)
            if list(right) not in [list(slip) for slip in wrong]:
                yield in_parts(name, parts)
                break


def _cycles_slips(
    compute: list[int], first: list[int], second: list[int], near: int, far: int
) -> list[int]:
    """What each of the usual mistakes answers."""
    upper, lower = [near * lines for lines in first], [far * lines for lines in second]
    slower = [*map(max, upper, lower)]

    def ahead(fetch: list[int]) -> int:
        return fetch[0] + sum(map(max, compute, [*fetch[1:], 0]))

    return [
        ahead([*map(add, upper, lower)]),
        ahead(upper),
        ahead(lower),
        ahead(slower) - slower[0],
        sum(map(max, compute, slower)),
        max(sum(compute), sum(slower)),
        # Where there is one stage, nothing overlaps.
        sum(compute) + sum(slower) if len(compute) > 1 else 0,
    ]


# Task 1.5

_REAL = [("ws", 5, 4), ("ws", 10, 9), ("ws", 7, 8), ("ws", 10, 8)]


def _best_case(name: str, points: list[Point], goal: str) -> CaseData:
    given = {"points": [list(point) for point in points], "goal": goal}
    return {"name": name, "given": given, "wanted": {"best": best_by_definition(points, goal)}}


def _real(arrays: list[tuple[str, int, int]]) -> list[Point]:
    return [point for points in every_design(arrays) for point in points]


def _hidden_best(rng: random.Random) -> Iterator[CaseData]:
    """Each list of designs for both goals."""
    forms = [
        ("many ties", 14, 60),
        ("some ties", 20, 50),
        ("hardly a tie", 40, 45),
        ("few scores", 6, 8),
    ]
    for name, values, many in forms:
        for _ in range(_TRIES):
            points = _made_up(rng, values, many)
            if name == "few scores":
                points += points
            right = [best_by_definition(points, goal) for goal in _GOALS]
            if right not in [[slip(points, goal) for goal in _GOALS] for slip in _SLIPS]:
                yield _both_goals(name, points)
                break
    yield _both_goals("real designs", _real([("ws", 7, 4), ("os", 9, 8), ("is", 5, 5)]))
    yield _both_goals("other real designs", _real([("ws", 9, 4), ("os", 8, 8), ("is", 6, 3)]))


def _both_goals(name: str, points: list[Point]) -> CaseData:
    return in_parts(name, [_best_case(name, points, goal) for goal in _GOALS])


def _made_up(rng: random.Random, values: int, many: int) -> list[Point]:
    """Designs that nobody simulated; few values of efficiency, so that many are equal."""
    known = [round(rng.uniform(30, 98), 4) for _ in range(values)]
    return [
        Point(
            rng.randint(3, 10),
            rng.randint(3, 10),
            rng.choice(["os", "ws", "is"]),
            rng.randint(5, 10),
            rng.randint(5, 10),
            rng.choice(known),
            rng.randint(20_000, 90_000),
        )
        for _ in range(many)
    ]


def _ranked(points: list[Point], goal: str, copies: int, by_cycles: bool = False) -> list[Any]:
    """The list of somebody who counts so many copies of the first level, with right areas."""

    def size(p: Point, copies: int) -> float:
        return 525 * p.height * p.width + 1015.7 * copies * (p.ifmap + p.filter)

    def worth(p: Point, copies: int) -> float:
        if goal == "efficiency":
            return round(p.efficiency, 6)
        return round(17500 / p.cycles + 15000 / size(p, copies), 6)

    def tie(p: Point) -> float:
        return p.cycles if by_cycles else size(p, copies)

    found: dict[float, Point] = {}
    for point in sorted(points, key=lambda p: (-worth(p, copies), tie(p))):
        found.setdefault(worth(point, copies), point)
    return [[worth(p, 3), round(size(p, 3), 1)] for p in list(found.values())[:10]]


_SLIPS: tuple[Callable[[list[Point], str], list[Any]], ...] = (
    partial(_ranked, copies=1),
    partial(_ranked, copies=2),
    partial(_ranked, copies=3, by_cycles=True),
)
