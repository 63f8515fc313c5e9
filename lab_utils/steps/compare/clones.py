"""Clones in a graph under comparison, and the nodes whose work they repeat.

A graph that is compared may be wrong: its nodes may lack a phase, or be marked by half. So
``is_clone`` and ``is_early`` are more lenient here than where a graph is known to be whole.
"""

from __future__ import annotations

import re
from collections import Counter

from torch import fx

from lab_utils.steps.compare.structure import Structure
from lab_utils.steps.graph import Kind, Phase, operator_name


def is_clone(node: fx.Node) -> bool:
    """Whether ``node`` is marked as recomputation, by phase or by kind."""
    return node.meta.get("kind") == Kind.RECOMP or node.meta.get("phase") == Phase.RECOMPUTE


def is_early(node: fx.Node) -> bool:
    """Whether ``node`` belongs to the forward pass or the loss."""
    return node.meta.get("phase") in (Phase.FORWARD, Phase.LOSS)


def originals(side: Structure) -> dict[fx.Node, fx.Node]:
    """What each clone runs again: the same operator on the same values, or on clones of them."""
    found: dict[fx.Node, fx.Node] = {}
    known: dict[object, fx.Node] = {}

    def action(node: fx.Node) -> object:
        facts = side.facts[node]
        reads = Counter((place, found.get(n, n)) for place, n in facts.reads)
        return facts.operator, facts.constants, frozenset(reads.items())

    for node in side.nodes:
        if not is_clone(node):
            known.setdefault(action(node), node)
    named = {node.name: node for node in known.values()}
    for node in side.nodes:
        if is_clone(node):
            # A clone that reads the wrong value is at least called after its original.
            namesake = named.get(re.sub(r"_recomp(_\d+)?$", "", node.name))
            original = known.get(action(node), namesake)
            if original is not None and operator_name(original) == operator_name(node):
                found[node] = original
    return found
