"""Task 1.5: routes of one's own, which finish before XY and before YX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from lab_utils.instruments.network.mesh import LINK, MIB, Message
from lab_utils.instruments.network.show.packets import arrivals
from lab_utils.instruments.network.show.routes import circle
from lab_utils.kit.task import Case, Finding

_MOST_HOPS = 20_000


def judge_own_routes(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Every route is one, no circle of waiting, and a better time than both known ones."""
    pairs, routes = case.given["pairs"], [list(route) for route in answer]
    if len(routes) != len(pairs):
        look = "Return one route for each pair, in the order of the pairs."
        return [Finding(f"{len(routes)} routes", f"{len(pairs)} routes", look)]
    wrong = _no_route(case, routes)
    if wrong:
        return wrong
    if sum(map(len, routes)) > _MOST_HOPS:
        look = "The routes are much longer than the mesh is large."
        return [Finding("very long routes", "short ones", look)]
    found = circle(routes)
    if found:
        told = ", ".join(f"{a}→{b}" for a, b in found[:6])
        look = (
            "These links wait for each other in a circle, so all of it can stand still. Forbid "
            "some turns to all messages, or ask your waiting_cycle before you take a route."
        )
        return [Finding(f"a circle: {told}", "routes that cannot block each other", look)]
    return _slow(case, routes)


def _no_route(case: Case, routes: Sequence[Sequence[int]]) -> list[Finding]:
    width, height = case.given["width"], case.given["height"]
    for (src, dst), route in zip(case.given["pairs"], routes, strict=True):
        if not route or (route[0], route[-1]) != (src, dst):
            look = "A route begins at the first node of its pair and ends at the second."
            return [Finding(f"a route for {src} to {dst} with other ends", "its own ends", look)]
        for a, b in pairwise(route):
            inside = 0 <= a < width * height and 0 <= b < width * height
            far = abs(a % width - b % width) + abs(a // width - b // width)
            if not inside or far != 1:
                look = "A route goes from neighbour to neighbour, over links of the mesh."
                return [Finding(f"a step from {a} to {b}", "steps to neighbours", look)]
    return []


def _slow(case: Case, routes: Sequence[Sequence[int]]) -> list[Finding]:
    took = max(arrivals([Message(0, MIB, route) for route in routes], LINK))
    xy, yx = case.wanted["xy"], case.wanted["yx"]
    if took < min(xy, yx):
        return []
    fullest, many = Counter(link for route in routes for link in pairwise(route)).most_common(1)[0]
    yours = f"done after {took:,} ns; over {fullest[0]}→{fullest[1]} go {many} messages"
    wanted = f"less than XY with {xy:,} ns and YX with {yx:,} ns"
    if took in (xy, yx):
        look = (
            "It takes as long as a known route does. Messages of one pair may go different ways: "
            "let some take x first and others y first, so that no link is much fuller than others."
        )
    else:
        look = "The fullest link decides: count what goes over each link, and choose emptier ways."
    return [Finding(yours, wanted, look)]
