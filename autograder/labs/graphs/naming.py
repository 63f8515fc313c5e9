"""Names of cases that students are told: of a hidden graph, none of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torch import fx

from autograder.authoring.derived import CaseData


def without_nodes(cases: Iterable[CaseData], title: str, graph: fx.Graph) -> list[CaseData]:
    """The same cases; one whose name tells a node of ``graph`` is called ``title``."""
    nodes = {node.name for node in graph.nodes}
    return [
        {**case, "name": title} if nodes & set(re.findall(r"\w+", case["name"])) else case
        for case in cases
    ]
