"""Cases of notebook 1, a mesh and the messages on it.

What is right comes from networkx, from a clock that looks at every nanosecond, and from the
figures that were published for the real simulator.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab4b.cases.logs import DGX_16, log_case
from autograder.labs.lab4b.cases.mesh_slips import slips
from autograder.labs.lab4b.cases.mesh_waits import (
    Routes,
    crossing,
    eight,
    line,
    mixed,
    ring,
    tail,
    turns,
)
from autograder.labs.lab4b.mesh_oracles import (
    arrivals_by_clock,
    can_stand_still,
    links,
    row_first,
)
from lab_utils.instruments.network.mesh import (
    LINK,
    MIB,
    Link,
    Message,
    Pairs,
    hot_spot,
    transpose,
)
from lab_utils.instruments.network.show import packets

PUBLISHED = ((1, 7), (5, 14), (11, 5), (15, 4))
"""The messages of the course's own test on a 4 x 4 mesh."""
SLOW = Link(latency=5, bandwidth=1)
"""Small numbers, which can be played by hand: 32 bytes keep it busy for 29 ns."""
CHUNKS = 4
"""Messages that every pair of task 1.5 sends."""


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "1.1": [_mesh(4, 3), _mesh(2, 4), _mesh(5, 1)],
        "1.2": [
            _routes("4 x 4, the published routes", 4, 4, PUBLISHED),
            _routes("5 x 3", 5, 3, [(0, 14), (14, 0), (4, 10), (7, 7)]),
            _routes("2 x 4", 2, 4, [(1, 6), (6, 1), (0, 6)]),
        ],
        "1.3": [
            _waits("4 x 4: XY and YX mixed, then XY alone", *mixed(4, 4)),
            _waits("a ring of four, and a line of four", ring(4), line(4)),
            _waits("messages that pass each other", crossing(), [[0, 1, 2], [2, 1, 0]]),
        ],
        "1.4": [
            _times("the four published messages", LINK, _published()),
            _times("two messages, one link", SLOW, [(0, 32, [0, 1]), (0, 32, [0, 1, 2])]),
            _times(
                "three that meet",
                SLOW,
                [(0, 64, [0, 1, 2]), (10, 32, [3, 1, 2]), (0, 32, [2, 1, 0]), (70, 16, [1, 2])],
            ),
        ],
        "1.5": [
            _pattern("transpose, 4 x 4", 4, 4, transpose(4)),
            _pattern("hot spot in a corner, 4 x 3", 4, 3, hot_spot(12, 0)),
            _pattern("transpose and a quarter turn, 4 x 4", 4, 4, transpose(4), _quarter_turn(4)),
        ],
        "1.6": [
            log_case("16 NPUs of two DGX boxes", 16, 8803, first=DGX_16),
            log_case("3 NPUs, memory in MB", 3, 17, "MB"),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return {
        "1.1": [
            _meshes("5 x 3 and 3 x 5", (5, 3), (3, 5)),
            _meshes("6 x 4 and one column", (6, 4), (1, 6)),
            _meshes("7 x 2 and one row", (7, 2), (8, 1)),
            _meshes("3 x 7", (3, 7), (3, 2)),
        ],
        "1.2": [
            _routes("6 x 4, every second pair", 6, 4, _every(24, 41)),
            _routes("3 x 7", 3, 7, _every(21, 29)),
            _routes("7 x 3", 7, 3, _every(21, 31)),
            _routes("one row and its ends", 9, 1, [(0, 8), (8, 0), (4, 4), (5, 2)]),
            _routes(
                "5 x 8, corner to corner", 5, 8, [(0, 39), (39, 0), (4, 35), (35, 4), (20, 20)]
            ),
            _routes("2 x 9", 2, 9, _every(18, 23)),
        ],
        "1.3": [
            _waits("5 x 4, mixed, and YX alone", *mixed(5, 4, "yx")),
            _waits("3 x 6, mixed, and XY alone", *mixed(3, 6)),
            _waits("a ring of seven, and a longer line", ring(7), line(9)),
            _waits("a circle far behind others", tail(), tail(closed=False)),
            _waits("a figure of eight", eight(), eight()[:-1]),
            _waits("four turns in two directions", turns(), turns()[1:]),
        ],
        "1.4": [
            _several("a busy middle", 11, 9, SLOW),
            _several("two ways", 12, 8, SLOW),
            _several("many starts", 13, 10, Link(latency=9, bandwidth=2)),
            _several("long latency", 14, 8, Link(latency=60, bandwidth=1)),
            _several("large and small messages", 15, 9, Link(latency=3, bandwidth=4)),
            _several("somebody stays at home", 16, 8, SLOW, home=True),
        ],
        "1.5": [
            _pattern("transpose and a quarter turn, 5 x 5", 5, 5, transpose(5), _quarter_turn(5)),
            _pattern("transpose and a quarter turn, 6 x 6", 6, 6, transpose(6), _quarter_turn(6)),
            _pattern("shuffled, 5 x 5", 5, 5, _shuffled(25, 0)),
            _pattern("shuffled, 6 x 4", 6, 4, _shuffled(24, 41)),
            _pattern("hot spot in a corner, 5 x 4", 5, 4, hot_spot(20, 19)),
            _pattern("one sends to all, 4 x 4", 4, 4, [(0, node) for node in range(1, 16)]),
        ],
        "1.6": [
            log_case("12 NPUs", 12, 101),
            log_case("11 NPUs, memory in TB", 11, 102, "TB"),
            log_case("14 NPUs, lines of all mixed", 14, 103, "MB", mixed=True),
            log_case("2 NPUs, memory in KB", 2, 104, "KB"),
            log_case("13 NPUs, lines of all mixed", 13, 105, "GB", mixed=True),
            log_case("11 NPUs, memory in GB", 11, 106, "GB"),
        ],
    }


def _mesh(width: int, height: int) -> CaseData:
    wanted = {"links": links(width, height), "turned": links(height, width)}
    return _case(f"{width} x {height}", {"width": width, "height": height}, wanted)


def _meshes(name: str, *sizes: tuple[int, int]) -> CaseData:
    return in_parts(name, [_mesh(*size) for size in sizes])


def _routes(name: str, width: int, height: int, pairs: Iterable[tuple[int, int]]) -> CaseData:
    asked = [list(pair) for pair in pairs]
    right = [row_first(src, dst, width, height) for src, dst in asked]
    side = max(width, height)
    turned = [
        row_first(src, dst, height, side * side) if height != width else [] for src, dst in asked
    ]
    given = {"width": width, "height": height, "pairs": asked}
    return _case(name, given, {"routes": right, "turned": turned})


def _every(nodes: int, step: int) -> Pairs:
    """Pairs from all over a mesh; among them a node with itself."""
    pairs = [(a * 5 % nodes, (a * step + 3) % nodes) for a in range(0, nodes, 2)]
    return [*pairs, (nodes // 2, nodes // 2)]


def _waits(name: str, stuck: dict[str, Any] | Routes, free: dict[str, Any] | Routes) -> CaseData:
    """A case of two parts, one with a circle and one without: networkx says so."""
    parts = []
    for one, circle in ((stuck, True), (free, False)):
        given = one if isinstance(one, dict) else {"routes": one}
        assert can_stand_still(given["routes"]) is circle, name
        parts.append(_case(name, given, {"circle": circle}))
    return in_parts(name, parts)


def _published() -> list[tuple[int, int, list[int]]]:
    return [(0, MIB, row_first(src, dst, 4, 4)) for src, dst in PUBLISHED]


def _times(name: str, link: Link, told: Sequence[tuple[int, int, list[int]]]) -> CaseData:
    messages = [Message(*one) for one in told]
    right = arrivals_by_clock(messages, link)
    given = {"messages": [list(one) for one in told], "link": list(link)}
    return _case(name, given, {"arrivals": right, "slips": slips(messages, link, right)})


def _several(name: str, seed: int, many: int, link: Link, home: bool = False) -> CaseData:
    """Messages by chance on a 3 x 2 mesh, on which every usual mistake shows."""
    dice = random.Random(seed)
    for _ in range(10_000):
        told = [_by_chance(dice) for _ in range(many)]
        if home:
            told.insert(2, (17, 40, [4]))
        case = _times(name, link, told)
        if len(case["wanted"]["slips"]) == 7:
            return case
    raise AssertionError(f"{name}: chance found no such messages")


def _by_chance(dice: random.Random) -> tuple[int, int, list[int]]:
    src = dice.randrange(6)
    dst = dice.choice([node for node in range(6) if node != src])
    return dice.randrange(0, 60), 16 * dice.randrange(1, 6), row_first(src, dst, 3, 2)


def _pattern(
    name: str, width: int, height: int, pairs: Pairs, once: Sequence[tuple[int, int]] = ()
) -> CaseData:
    """Every pair sends several messages, those of ``once`` one; XY and YX are to be beaten."""
    chunks = [pair for pair in pairs for _ in range(CHUNKS)] + list(once)
    ways = {
        "xy": [row_first(src, dst, width, height) for src, dst in chunks],
        "yx": [row_first(dst, src, width, height)[::-1] for src, dst in chunks],
    }
    wanted = {
        title: max(packets.arrivals([Message(0, MIB, way) for way in routes], LINK))
        for title, routes in ways.items()
    }
    given = {"width": width, "height": height, "pairs": [list(pair) for pair in chunks]}
    return _case(name, given, wanted)


def _quarter_turn(side: int) -> Pairs:
    """Node (x, y) sends to where it comes to lie when the mesh is turned by a quarter."""
    places = [(x, y) for y in range(side) for x in range(side) if (x, y) != (side - 1 - y, x)]
    return [(y * side + x, x * side + side - 1 - y) for x, y in places]


def _shuffled(nodes: int, seed: int) -> Pairs:
    """Every node sends to one other, by chance."""
    aims = list(range(nodes))
    random.Random(seed).shuffle(aims)
    return [(src, dst) for src, dst in enumerate(aims) if src != dst]


def _case(name: str, given: dict[str, Any], wanted: dict[str, Any]) -> CaseData:
    return {"name": name, "given": given, "wanted": wanted}
