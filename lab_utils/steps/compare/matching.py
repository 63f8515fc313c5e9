"""Pairing the nodes of two graphs by what they do, not by what they are called.

Where the graphs are the same, the pairing is an isomorphism. Where they are not,
it is one under which they differ little.
"""

from __future__ import annotations

from collections import Counter

from lab_utils.steps.compare.growth import Growth
from lab_utils.steps.compare.refinement import Classes, Colours, Numbers, by_reach, labels_of
from lab_utils.steps.compare.structure import Edges, Pairs, Structure, reversed_edges


def pair(a: Structure, b: Structure) -> Pairs:
    """The node of ``b`` that stands for each node of ``a``, as far as there is one."""
    return isomorphism(a, b) or Growth(a, b).pairs()


def isomorphism(a: Structure, b: Structure) -> Pairs | None:
    """A pairing under which the two are the same, waits and gradients included; else None."""
    number = Numbers()
    colour: Colours = {}
    before = _with_waits(a, b)
    after = reversed_edges(before)
    for side in (a, b):
        label = labels_of(side, number)
        below = by_reach(side.nodes, before, label, number)
        colour |= by_reach(reversed(side.nodes), after, below, number)
    if Counter(colour[n] for n in a.nodes) != Counter(colour[n] for n in b.nodes):
        return None
    for parameter, gradient in a.gradients + b.gradients:
        before[gradient].append(("gradient of", parameter))
    classes = Classes(colour, before, reversed_edges(before))
    classes.refine(dict.fromkeys(colour.values()))
    theirs = set(b.nodes)
    for node in a.nodes:
        alike = classes.members[colour[node]]
        other = next((n for n in reversed(alike) if n in theirs), None)
        if other is None:
            return None
        if len(alike) > 2:
            # Nothing tells them apart, so that any choice is as good as another.
            classes.refine({classes.separate([node, other]): None})
    pairs = {n: next(m for m in classes.members[colour[n]] if m in theirs) for n in a.nodes}
    same = len(set(pairs.values())) == len(a.nodes) == len(b.nodes) and all(
        a.facts[x].label == b.facts[y].label
        and Counter((place, pairs[n]) for place, n in before[x]) == Counter(before[y])
        for x, y in pairs.items()
    )
    return pairs if same else None


def _with_waits(a: Structure, b: Structure) -> Edges:
    before = {node: list(edges) for side in (a, b) for node, edges in side.reads.items()}
    for early, late in a.waits + b.waits:
        before[late].append(("waits", early))
    return before
