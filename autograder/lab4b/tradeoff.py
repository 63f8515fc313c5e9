"""What other ways of choosing reach on the graph of notebook 05's trade-off."""

from __future__ import annotations

from torch import fx

from autograder.engine.rewrite import block_activations
from autograder.lab4b import reference
from lab_utils.costs import estimated_seconds
from lab_utils.lab4b.tradeoff import Point


def known_plans(graph: fx.Graph) -> dict[str, list[Point]]:
    """Points (seconds that run again, peak in bytes) by the name of the way.

    The optimum is the best of **all** sets of drops: nothing less work reaches its peak.
    ``torch.utils.checkpoint`` around a block stops when all that backward reads of the
    block is there again, which makes it the plan "drop what stays inside the block".
    """
    seconds = estimated_seconds(graph)
    found = list(reference.candidates(graph))

    def point(drop: list[fx.Node]) -> Point:
        result = reference.outcome(graph, drop, seconds)
        return (result.seconds, result.nbytes)

    every = [
        point([node for bit, node in enumerate(found) if chosen >> bit & 1])
        for chosen in range(1 << len(found))
    ]
    inside = set(block_activations(graph))
    return {
        "optimum (each value at most once)": _front(every),
        "torch.utils.checkpoint per block": [point([n for n in found if n.name in inside])],
    }


def _front(points: list[Point]) -> list[Point]:
    """The points below which no other lies with as little work."""
    best: list[Point] = []
    for work, peak in sorted(points):
        if not best or peak < best[-1][1]:
            best.append((work, peak))
    return best
