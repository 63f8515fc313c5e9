"""Task 1.3: links that wait for each other in a circle.

Whoever finds a circle shows it, and it is looked at link by link. Whether there is one at all is
what the case knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lab_utils.kit.task import Case, Finding

Pair = tuple[int, int]


def judge_circle(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """A true circle where there is one; nothing where there is none."""
    links: list[Pair] = [(a, b) for a, b in answer]
    if len(links) > 1 and links[0] == links[-1]:
        links.pop()  # who names the first link again at the end means the same
    there = bool(case.wanted["circle"])
    wanted = "a circle of links that wait" if there else "no circle: an empty list"
    if not links:
        if not there:
            return []
        look = (
            "Somebody can be stuck here, and you found nothing. A message on one link waits for "
            "the next link of its route: follow these waits from every link."
        )
        return [Finding("no circle", wanted, look)]
    return _why(links, case.given["routes"], wanted)


def _why(links: list[Pair], routes: Sequence[Sequence[int]], wanted: str) -> list[Finding]:
    used = {pair for route in routes for pair in pairwise(route)}
    waits = {wait for route in routes for wait in pairwise(pairwise(route))}
    for link in links:
        if link not in used:
            look = "No route uses this link. Is it turned around, or a pair of other nodes?"
            return [Finding(f"a circle with the link {_told(link)}", wanted, look)]
    for one, other in [*pairwise(links), (links[-1], links[0])]:
        if (one, other) not in waits:
            yours = f"a circle in which {_told(one)} waits for {_told(other)}"
            return [Finding(yours, wanted, _why_not(one, other, routes, links))]
    return []


def _why_not(one: Pair, other: Pair, routes: Sequence[Sequence[int]], links: list[Pair]) -> str:
    if one == other[::-1]:
        return (
            "These are the two directions between two nodes: messages that pass each other do not "
            "wait for each other."
        )
    if any({one, other} <= set(pairwise(route)) for route in routes):
        return (
            "Both links are on one route, but not one right after the other in this order: a "
            "message waits only for its next link."
        )
    if one[1] != other[0]:
        return "The second link does not begin where the first one ends: nobody goes that way."
    if (one, other) == (links[-1], links[0]):
        return "It is no circle: the last link does not wait for the first one."
    return (
        "The links meet at a node, but no message goes from the first on to the second: only the "
        "turns that some route takes count."
    )


def _told(link: Pair) -> str:
    return f"{link[0]}→{link[1]}"
