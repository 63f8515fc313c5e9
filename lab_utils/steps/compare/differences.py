"""Differences between two graphs as they are told: of a kind, at a node, in words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from torch import fx

from lab_utils.kit.charts.drawn import DrawsItself

_NAMES_SHOWN = 3


class Differs(StrEnum):
    """In what way two graphs differ at one place."""

    MISSING_NODE = "missing node"
    EXTRA_NODE = "extra node"
    OPERATOR = "operator"
    ARGUMENT = "argument"
    READS = "reads"
    VALUE = "value"
    ROLE = "role"
    OUTPUT = "output"
    MUST_WAIT = "must wait"
    NEEDLESS_WAIT = "needless wait"


@dataclass(frozen=True)
class Difference:
    """One difference.

    ``node`` and ``other`` are names in the second graph; of a missing node, in the
    first. ``other`` is the value that is read or waited for, or the original of a clone.
    """

    kind: Differs
    node: str
    other: str | None
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Diff(DrawsItself):
    """All differences between two graphs; false if there are none.

    ``graphs`` are the two, and the name in the second of each node of the first that has a
    counterpart there: enough to draw the differences.
    """

    differences: tuple[Difference, ...]
    graphs: tuple[fx.Graph, fx.Graph, dict[str, str]] | None = field(
        default=None, compare=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    @property
    def equal(self) -> bool:
        """Whether the graphs are the same."""
        return not self.differences

    def summary(self, limit: int = 10) -> str:
        """At most ``limit`` lines of differences; those that differ in names only share one."""
        if self.equal:
            return "equal: the same operators, values, outputs and forced order"
        groups: dict[tuple[Differs, str], list[Difference]] = defaultdict(list)
        for one in self.differences:
            groups[one.kind, re.sub("`[^`]*`", "``", one.text)].append(one)
        lines = [_told_once(alike) for alike in groups.values()]
        left = sum(len(alike) for alike in list(groups.values())[limit:])
        return "\n".join(lines[:limit] + ([f"and {left} more differences"] if left else []))

    def __str__(self) -> str:
        return self.summary()


def quoted(node: fx.Node) -> str:
    """The name of ``node``, as differences tell it."""
    return f"`{node.name}`"


def _told_once(alike: list[Difference]) -> str:
    first, *rest = alike
    if not rest:
        return first.text
    # A missing clone has no name of its own here: its original tells where it belongs. And
    # what is returned tells more than that the output returns it.
    by_other = (Differs.MISSING_NODE, Differs.OUTPUT)
    where = [one.other or one.node if one.kind in by_other else one.node for one in rest]
    names = [f"`{name}`" for name in dict.fromkeys(where)]
    dots = ", …" if len(names) > _NAMES_SHOWN else ""
    return f"{first.text} (and {len(rest)} more like this: {', '.join(names[:_NAMES_SHOWN])}{dots})"
