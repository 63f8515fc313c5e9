"""Task 1.5: the ten best designs, for two goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2b.machine import Point

Rank = tuple[float, float]
"""What decides: a score, and where scores are equal an area."""


def area(point: Point, copies: int = 3) -> float:
    """Square micrometres; a second level is twice the first, so three times the first in all."""
    return 525 * point.height * point.width + 1015.7 * copies * (point.ifmap + point.filter)


def score(point: Point, goal: str, copies: int = 3) -> float:
    """The larger, the better; scores that agree in six digits after the point are equal."""
    if goal == "efficiency":
        return round(point.efficiency, 6)
    return round(17500 / point.cycles + 15000 / area(point, copies), 6)


def judge_top_ten(case: Case, answer: Sequence[Sequence[Any]]) -> list[Finding]:
    """Task 1.5: points of the list, distinct scores, the best first."""
    goal, wanted = case.given["goal"], [tuple(one) for one in case.wanted["best"]]
    for row in answer:
        if list(row) not in case.given["points"]:
            look = "Return points of the list as they are."
            return [Finding(f"a point that was not given: {row}", _many(wanted), look)]
    told = [Point(*row) for row in answer]
    mine = _ranks(told, goal, 3)
    if mine == wanted:
        return []
    all_points = [Point(*row) for row in case.given["points"]]
    look = _wrong(all_points, told, goal, mine, wanted)
    pairs = enumerate(zip(mine, wanted, strict=False))
    place = next((place for place, (one, other) in pairs if one != other), 0)
    return [Finding(_told(mine, place), _told(wanted, place), look)]


def _wrong(
    points: list[Point], told: list[Point], goal: str, mine: list[Any], wanted: list[Any]
) -> str:
    scores = [one for one, _ in mine]
    if len(set(scores)) < len(scores):
        return "The same score comes twice: of designs with equal scores only one is wanted."
    if len(told) != len(wanted):
        if len(wanted) < 10:
            return "There are fewer than ten different scores: return as many as there are."
        return "Ten designs are wanted: the best of each of the ten best scores."
    if mine == wanted[::-1]:
        return "The best comes first: yours is turned round."
    if scores == [one for one, _ in wanted]:
        fastest = [min((p for p in points if score(p, goal) == one), key=_cycles) for one in scores]
        if [p.cycles for p in told] == [p.cycles for p in fastest]:
            return "You break ties by cycles: of equally efficient designs the smallest is wanted."
        if _ranks(told, goal, 1) == _best(points, goal, 1):
            return _L2_AREA
        return "Of equally efficient designs the one with the smallest area is wanted."
    if _ranks(told, goal, 1) == _best(points, goal, 1):
        return _L2_AREA
    if _ranks(told, goal, 2) == _best(points, goal, 2):
        return "The second level has twice as much as the first: that is three times in all."
    other = "combined" if goal == "efficiency" else "efficiency"
    if _ranks(told, other, 3) == _best(points, other, 3):
        return "This is the order of the other goal."
    return "Some design has a better score: go through all points."


_L2_AREA = (
    "The area of the second level is missing: it is twice as large as the first, so buffers "
    "count three times."
)


def _cycles(point: Point) -> int:
    return point.cycles


def _ranks(points: Sequence[Point], goal: str, copies: int) -> list[Rank]:
    """Scores and areas as somebody has them who counts so many copies of the first level."""
    return [(score(point, goal, copies), round(area(point, copies), 1)) for point in points]


def _best(points: Sequence[Point], goal: str, copies: int) -> list[Rank]:
    """What the list of that somebody holds."""
    least: dict[float, float] = {}
    for one, size in _ranks(points, goal, copies):
        least[one] = min(size, least.get(one, size))
    return sorted(least.items(), reverse=True)[:10]


def _told(pairs: Sequence[Rank], place: int) -> str:
    if place >= len(pairs):
        return _many(pairs)
    one, size = pairs[place]
    return f"place {place + 1} of {len(pairs)}: score {one:,.6f}, area {size:,.1f}"


def _many(pairs: Sequence[Any]) -> str:
    return f"{len(pairs)} designs with different scores"
