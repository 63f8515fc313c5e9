"""Sets of routes for task 1.3: some can stand still for ever, others cannot."""

from __future__ import annotations

import random
from typing import Any

from autograder.labs.lab4b.mesh_oracles import row_first

Routes = list[list[int]]


def mixed(width: int, height: int, alone: str = "xy") -> tuple[dict[str, Any], dict[str, Any]]:
    """Many pairs of a mesh: every second one the other way around; and all of one kind."""
    nodes = range(width * height)
    dice = random.Random(10 * width + height)
    pairs = dice.sample([(a, b) for a in nodes for b in nodes if a != b], 4 * len(nodes))
    rows = [row_first(a, b, width, height) for a, b in pairs]
    columns = [row_first(b, a, width, height)[::-1] for a, b in pairs]
    both = [(rows, columns)[place % 2][place] for place in range(len(pairs))]
    size = {"width": width, "height": height}
    return {"routes": both, **size}, {"routes": rows if alone == "xy" else columns, **size}


def ring(nodes: int) -> Routes:
    """Everybody sends to the next but one, around a ring."""
    return [[(a + step) % nodes for step in range(3)] for a in range(nodes)]


def line(nodes: int) -> Routes:
    """Along a line, there and back."""
    return [[*range(nodes)], [*range(nodes)][::-1], [1, 2, 3], [2, 1]]


def crossing() -> Routes:
    """Around a square in both directions; only one direction is a whole circle."""
    return [[0, 1, 3], [1, 3, 2], [3, 2, 0], [2, 0, 1], [1, 0, 2], [0, 2, 3]]


def tail(closed: bool = True) -> Routes:
    """A long way in, then a circle of five; without one of its routes it is open."""
    circle = [[20, 21, 22], [21, 22, 23], [22, 23, 24], [23, 24, 20], [24, 20, 21]]
    return [[0, 1, 2, 3], [3, 4, 20, 21], [2, 3, 4], [9], *(circle if closed else circle[1:])]


def eight() -> Routes:
    """Two loops that meet in node 0; only together they are a circle."""
    return [[4, 0, 1, 2], [2, 3, 0], [1, 2, 3], [3, 0, 5], [0, 5, 4], [5, 4, 0]]


def turns() -> Routes:
    """Both ways around a block of a mesh; the first route closes one of them."""
    around = [[0, 1, 5], [1, 5, 4], [5, 4, 0], [4, 0, 1]]
    back = [[1, 0, 4], [0, 4, 5], [4, 5, 1], [2, 1], [6, 5]]
    return [*around, *back]
