"""Finds out which cell of a damaged notebook is which cell of the released one.

In this order: by ``grade_id``; by the functions that it defines, or words that it shares; by
its place between two cells that are known.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from autograder.collect.notebook import ReadCell
from autograder.collect.released import Released, definitions, plain

TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|\w+|[^\w\s]")
# How much two texts must share to be taken for the same cell.
ALIKE_LOCKED = 0.75
ALIKE_SOLUTION = 0.5  # of which students replace a part


@dataclass(frozen=True)
class Recognised:
    """Which cell is which; ``at`` counts released cells, numbers count those handed in."""

    known: dict[int, int]
    """at → number."""
    by_guess: frozenset[int]
    """Those of ``known`` that nbgrader knows and that had lost their ``grade_id``."""
    duplicated: frozenset[int]
    """Cells of which there was more than one."""
    spare: frozenset[int]
    """Numbers of cells that only repeat what was released."""


def recognise(cells: Sequence[ReadCell], released: Released) -> Recognised:
    """Match the cells that were handed in with those that were released."""
    texts = [plain(cell.source) for cell in cells]
    defined = [definitions(text) for text in texts]
    claims = _claims(cells, texts, defined, released)
    known = {
        at: _best_claim(at, numbers, texts, defined, released) for at, numbers in claims.items()
    }
    _add_alike(known, texts, defined, released)
    _add_unmarked(known, texts, released)
    _add_between(known, cells, texts, released)
    marked_texts = {released.texts[at] for at in released.marked}
    spare = {
        number
        for number in set(range(len(cells))) - set(known.values())
        if texts[number] in marked_texts or (cells[number].grade_id and not texts[number])
    }
    return Recognised(
        known,
        frozenset(
            at
            for at, grade_id in released.marked.items()
            if at in known and cells[known[at]].grade_id != grade_id
        ),
        frozenset(at for at, numbers in claims.items() if len(numbers) > 1),
        frozenset(spare),
    )


def _claims(
    cells: Sequence[ReadCell], texts: list[str], defined: list[frozenset[str]], released: Released
) -> dict[int, list[int]]:
    """Who bears the ``grade_id`` of which cell, and is not clearly another one."""
    at_of = {grade_id: at for at, grade_id in released.marked.items()}
    claims: defaultdict[int, list[int]] = defaultdict(list)
    for number, cell in enumerate(cells):
        at = at_of.get(cell.grade_id or "")
        if at is None:
            continue
        is_another = any(
            texts[number] == released.texts[other]
            or (released.names.get(other) and released.names[other] <= defined[number])
            for other in released.marked
            if other != at
        )
        own = released.names.get(at, frozenset())
        if not is_another or own & defined[number] or texts[number] == released.texts[at]:
            claims[at].append(number)
    return claims


def _best_claim(
    at: int,
    numbers: list[int],
    texts: list[str],
    defined: list[frozenset[str]],
    released: Released,
) -> int:
    """The first of several test cells; the last solution that somebody has worked on."""
    if not released.is_solution(at):
        return numbers[0]

    def worth(number: int) -> tuple[bool, bool, int]:
        worked_on = texts[number] not in ("", released.texts[at])
        return worked_on, released.names[at] <= defined[number], number

    return max(numbers, key=worth)


def _add_alike(
    known: dict[int, int], texts: list[str], defined: list[frozenset[str]], released: Released
) -> None:
    free = [n for n in range(len(texts)) if n not in known.values() and texts[n]]
    bags = {number: _bag(texts[number]) for number in free}
    found: list[tuple[float, float, int, int]] = []
    for at in released.marked.keys() - known.keys():
        wanted = _bag(released.texts[at])
        for number in free:
            score = _likeness(bags[number], wanted)
            if not released.is_solution(at):
                fits = score >= ALIKE_LOCKED
            elif texts[number] == released.texts[at]:
                fits, score = True, ALIKE_SOLUTION  # anything that is worked on is better
            else:
                names = released.names[at]
                score = 1.0 if names and names <= defined[number] else score
                fits = score >= ALIKE_SOLUTION
            if fits:
                distance = abs(at / len(released.cells) - number / len(texts))
                found.append((-score, distance, at, number))
    for _, _, at, number in sorted(found):
        if at not in known and number not in known.values():
            known[at] = number


def _add_unmarked(known: dict[int, int], texts: list[str], released: Released) -> None:
    """Cells that nobody grades are known by their text; they tell where others belong."""
    taken = set(known.values())
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        if number not in taken and text:
            places[text].append(number)
    for at, text in enumerate(released.texts):
        if at not in released.marked and places[text]:
            known[at] = places[text].pop(0)


def _add_between(
    known: dict[int, int], cells: Sequence[ReadCell], texts: list[str], released: Released
) -> None:
    """A solution of which not a word is left: the only cell where it should be."""
    for at in [at for at in released.marked if at not in known and released.is_solution(at)]:
        before = max((known[other] for other in known if other < at), default=-1)
        after = min((known[other] for other in known if other > at), default=len(cells))
        taken = set(known.values())
        between = [
            number
            for number in range(before + 1, after)
            if number not in taken
            and texts[number]
            and cells[number].cell_type == released.cells[at].cell_type
        ]
        if len(between) == 1:
            known[at] = between[0]


def _bag(text: str) -> Counter[tuple[str, str]]:
    """The pairs of neighbouring words in a text."""
    return Counter(pairwise(["", *TOKEN.findall(text), ""]))


def _likeness(one: Counter[tuple[str, str]], other: Counter[tuple[str, str]]) -> float:
    """What two bags share, from 0 to 1 (in a time that no hostile text can stretch)."""
    return 2 * (one & other).total() / max(one.total() + other.total(), 1)
