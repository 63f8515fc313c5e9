"""Task 1.1: the links of a mesh."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.kit.task import Case, Finding

Pair = tuple[int, int]


def judge_connect(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Every two neighbours have two links, one each way; there are no others."""
    width, height = case.given["width"], case.given["height"]
    links = [(a, b) for a, b in answer]
    found, right = set(links), _pairs(case.wanted["links"])
    wanted = f"{len(right)} links on a mesh of {width} x {height}"
    if found != right and found == _pairs(case.wanted["turned"]):
        look = "Width and height are swapped: a row has `width` nodes, (x, y) is y * width + x."
        return [Finding(f"the links of a mesh of {height} x {width}", wanted, look)]
    extra, missing = sorted(found - right), sorted(right - found)
    if extra:
        yours = f"a link from {extra[0][0]} to {extra[0][1]}"
        return [Finding(yours, wanted, _why_extra(extra[0], width, height))]
    if missing:
        a, b = missing[0]
        return [Finding(f"no link from {a} to {b}", wanted, _why_missing(missing, found, width))]
    if len(links) > len(found):
        twice = next(link for link in links if links.count(link) > 1)
        look = (
            "A link is there twice. Each direction is connected once: the real simulator stops "
            "with an error at the second time."
        )
        return [Finding(f"{twice[0]} to {twice[1]} is connected twice", wanted, look)]
    return []


def _pairs(links: Sequence[Sequence[int]]) -> set[Pair]:
    return {(a, b) for a, b in links}


def _why_extra(link: Pair, width: int, height: int) -> str:
    a, b = link
    if not (0 <= a < width * height and 0 <= b < width * height):
        return "There is no such node. A node at the edge has fewer neighbours than others."
    (ax, ay), (bx, by) = (a % width, a // width), (b % width, b // width)
    if a == b:
        return "A node needs no link to itself."
    if ax != bx and ay != by:
        if abs(a - b) == 1:
            return (
                "Their numbers follow each other, but one node ends a row and the other begins "
                "the next: they are no neighbours."
            )
        return "A mesh has no diagonal links: neighbours differ in x or in y, not in both."
    if {ax, bx} == {0, width - 1} or {ay, by} == {0, height - 1}:
        return (
            "A mesh ends at its edges. A link from the last node back to the first makes a torus."
        )
    return "They are no neighbours: neighbours differ by 1 in x or by 1 in y."


def _why_missing(missing: Sequence[Pair], found: set[Pair], width: int) -> str:
    if all((b, a) in found for a, b in missing):
        return "The link in the other direction is there. A link goes one way: connect both ways."
    if all(a % width == b % width for a, b in missing):
        return "Nodes are connected within their rows, but not with the rows above and below."
    if all(a // width == b // width for a, b in missing):
        return "Nodes are connected within their columns, but not with those beside them."
    return "These nodes are neighbours, and nothing connects them: look at your loops' ends."
