"""What the functions of notebook 05 hand to one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import fx

from lab_utils.kit.charts.drawn import drawing_of
from lab_utils.steps.candidate import Candidate


class Rebuild(NamedTuple):
    """How a value is rebuilt: from which values, by running which operators."""

    sources: set[fx.Node]
    path: list[fx.Node]


class Simulated(NamedTuple):
    """The peak of a step: bytes, and the node at which (or for which) they are held."""

    nbytes: int
    node: fx.Node


class Plan(NamedTuple):
    """What to drop, in the order of choice, and the peak that this leads to."""

    drop: list[fx.Node]
    nbytes: int

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """A bare plan in a cell is a picture."""
        return drawing_of(self)._repr_mimebundle_()


def record(fields: Mapping[str, Any], nodes: Mapping[str, fx.Node]) -> Candidate:
    """A candidate from plain data, as it crosses between processes."""
    return Candidate(
        node=nodes[fields["node"]],
        nbytes=fields["nbytes"],
        last_forward=nodes[fields["last_forward"]],
        first_backward=nodes[fields["first_backward"]],
        last_backward=nodes[fields["last_backward"]],
        sources={nodes[name] for name in fields["sources"]},
        seconds=fields["seconds"],
        count=fields["count"],
        total=fields["total"],
    )
