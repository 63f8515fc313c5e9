"""Task 1.2: along the row first, then along the column."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lab_utils.kit.task import Case, Finding


def judge_route(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Each route is the one that goes along x first."""
    width, height = case.given["width"], case.given["height"]
    given, wanted = case.given["pairs"], case.wanted
    rows = zip(given, answer, wanted["routes"], wanted["turned"], strict=True)
    for (src, dst), got, right, turned in rows:
        if list(got) != right:
            look = _why(list(got), right, turned, width, height)
            yours = f"{src} to {dst} on {width} x {height}: {_told(got)}"
            return [Finding(yours, _told(right), look)]
    return []


def _told(route: Sequence[int]) -> str:
    shown = [str(node) for node in route[:14]]
    return " ".join(shown) + " …" * (len(route) > 14) if route else "nothing"


def _why(got: list[int], right: list[int], turned: list[int], width: int, height: int) -> str:
    if len(right) == 1:
        return "Source and destination are one node: the route is this node alone, once."
    if got == turned:
        return "Width and height are swapped: node number n lies at x = n % width, y = n // width."
    if got == right[1:] or got == right[1:-1]:
        return "The source is missing: a route has both ends."
    if got == right[:-1]:
        return "The destination is missing: a route has both ends."
    if got == right[::-1]:
        return "This is the way back: begin at the source."
    for a, b in pairwise(got):
        step = _why_step(a, b, width, height)
        if step:
            return step
    if got[:1] != right[:1] or got[-1:] != right[-1:]:
        return "A route begins at the source and ends at the destination."
    if len(got) > len(right):
        return "It arrives, but there is a shorter way: walk towards the destination only."
    x = [node % width for node in got]
    if x[1] == x[0]:
        return "This goes along y first. Go along x until the column is right, then along y."
    return "It turns too early: go along x until the column is right, and only then along y."


def _why_step(a: int, b: int, width: int, height: int) -> str:
    if not (0 <= a < width * height and 0 <= b < width * height):
        return "The route leaves the mesh: there is no such node."
    far = abs(a % width - b % width), abs(a // width - b // width)
    if far == (0, 0):
        return "A node stands there twice in a row."
    if min(far) > 0:
        return "A step changes x or y, never both: a mesh has no diagonal links."
    if max(far) > 1:
        return "A step goes to a neighbour: no node is jumped over, no link leads around the edge."
    return ""
