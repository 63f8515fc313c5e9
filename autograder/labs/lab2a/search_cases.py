"""Cases of tasks 2.4 to 2.8: waiting cycle by cycle, comparing all with all."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab2a import oracle
from autograder.labs.lab2a.cases import case, numbered
from lab_utils.instruments.systolic.designs import design_space


def search_cases(which: str) -> dict[str, list[CaseData]]:
    """Public or hidden cases, by task."""
    rng = np.random.default_rng(5 if which == "public" else 6)
    return {
        "2.4": _stall_cases(which, rng),
        "2.5": numbered(_score_cases(which, rng), "design", which),
        "2.6": _best_cases(which, rng),
        "2.7": numbered(_swing_cases(which, rng), "objective", which),
        "2.8": numbered(_front_cases(which, rng), "space", which),
    }


_Misses = tuple[list[int], list[int], int]


def _stall_cases(which: str, rng: np.random.Generator) -> list[CaseData]:
    if which == "public":
        return [
            _stall_case("three misses, by hand", ([4, 20, 30], [1, 2, 4], 12)),
            _stall_case("always in time", ([30, 60, 95], [1, 2, 3], 12)),
        ]
    never_late: list[_Misses] = [
        ([50, 120, 300], [1, 2, 3], 42),
        ([33, 71], [1, 2], 30),
        ([90, 95, 190, 400], [2, 3, 4, 6], 28),
        ([61], [3], 19),
    ]
    middle: _Misses = ([3, 9, 200, 260], [1, 6, 7, 8], 22)
    first: _Misses = ([0, 90, 190], [3, 4, 5], 31)
    parts = {
        "the worst miss is in the middle": [middle, never_late[0]],
        "the first miss is the worst": [first, never_late[1]],
        "never late": [never_late[2], ([8, 300, 700], [2, 3, 5], 17)],
        "nothing misses": [([], [], 12), ([2, 55, 230], [1, 7, 8], 26)],
        "whole rounds": [_random_misses(rng, 25, 9), ([5, 15, 400], [2, 4, 5], 22)],
        "many misses": [_random_misses(rng, 60, 3), never_late[3]],
        "few misses, slow memory": [_random_misses(rng, 5, 2, 83)],
    }
    return [
        in_parts(name, [_stall_case(name, part) for part in misses])
        for name, misses in parts.items()
    ]


def _stall_case(name: str, misses: _Misses) -> CaseData:
    cycles, halves, period = misses
    return case(
        name,
        {"cycles": cycles, "halves": halves, "period": period},
        stalls=oracle.stalls_cycle_by_cycle(cycles, halves, period),
    )


def _random_misses(rng: np.random.Generator, many: int, most: int, period: int = 22) -> _Misses:
    cycles = np.sort(rng.choice(40 * many, many, replace=False))
    halves = np.cumsum(rng.integers(1, most + 1, many))
    return cycles.tolist(), halves.tolist(), period


def _score_cases(which: str, rng: np.random.Generator) -> Iterable[CaseData]:
    space = design_space()
    for place in rng.choice(len(space), 2 if which == "public" else 6, replace=False):
        design = space[place]
        cycles, efficiency = (
            int(rng.integers(20_000, 250_000)),
            round(float(rng.uniform(20, 99)), 3),
        )
        yield case(
            str(design),
            {"design": list(design), "cycles": cycles, "efficiency": efficiency},
            scores=oracle.exact_scores(design, cycles, efficiency),
        )


def _best_cases(which: str, rng: np.random.Generator) -> list[CaseData]:
    made: dict[str, list[float]] = {
        "fourteen designs": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7],
        "some alike": [round(float(one), 1) for one in rng.integers(0, 13, 40) / 4],
    }
    if which == "hidden":
        made = {
            "nearly all alike": [
                *[784.4] * 60,
                *[round(float(x), 3) for x in rng.uniform(1, 700, 30)],
            ],
            "fewer than ten different scores": [float(x) for x in rng.integers(0, 6, 50)],
            "all the same": [2.5] * 12,
            "scores below 0 too": [float(x) for x in rng.integers(-40, 10, 90)],
            "the best come last": [float(x // 3) for x in range(60)],
            "a few designs": [0.75, 0.5, 0.25, 0.5],
            "a whole space": [round(float(x), 2) for x in rng.normal(300, 2, 800)],
        }
    return [
        case(name, {"scores": scores}, best=oracle.best_by_searching(scores))
        for name, scores in made.items()
    ]


def _swing_cases(which: str, rng: np.random.Generator) -> Iterable[CaseData]:
    if which == "public":
        lists = [([1.0, 3.0, 2.0], [50.0, 56.0, 52.0]), ([0.5, 0.7], [2.0, 1.9])]
    else:
        lists = [
            (
                rng.uniform(0, high, 30).round(3).tolist(),
                (base + rng.uniform(0, wide, 30)).round(3).tolist(),
            )
            for high, base, wide in (
                (2, 700, 90),
                (9, 3, 1),
                (0.6, 0.1, 2),
                (50, 900, 7),
                (4, -3, 4),
            )
        ]
        lists.append(([7.0, 7.0, 7.0], [1.0, 2.0, 4.0]))
    for first, second in lists:
        spans = [float(np.ptp(terms)) for terms in (first, second)]
        share = 100 * spans[0] / sum(spans)
        yield case(
            f"{len(first)} designs", {"first": first, "second": second}, swings=[share, 100 - share]
        )


def _front_cases(which: str, rng: np.random.Generator) -> Iterable[CaseData]:
    lists: list[list[tuple[int, int]]] = [
        [(5, 1), (4, 2), (4, 4), (2, 3), (2, 5), (1, 9), (6, 6)],
        [(3, 3), (1, 5), (3, 3), (5, 1), (3, 4), (2, 6)],
    ]
    if which == "hidden":
        grids = [(9, 40), (200, 60), (14, 90), (1000, 120), (5, 30)]
        lists = [
            [(int(x), int(y)) for x, y in rng.integers(1, most, (many, 2))] for most, many in grids
        ]
        for points in (lists[0], lists[2], lists[4]):  # equal designs, all of them on the front
            points.append(points[oracle.front_by_comparing(points)[0]])
        lists.append([(7, 7)] * 3 + [(8, 7), (7, 8)])
        lists.append([(x, 30 - x) for x in range(1, 30)] + [(1, 30), (29, 2)])
    for points in lists:
        yield case(
            f"{len(points)} designs",
            {"points": [list(point) for point in points]},
            front=oracle.front_by_comparing(points),
        )
