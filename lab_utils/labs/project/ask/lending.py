"""Right versions of what earlier tasks ask for, called elsewhere: arguments and results as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import fx

from lab_utils.kit.task import Borrow, Call
from lab_utils.labs.project.ask.candidates import fields_of
from lab_utils.labs.project.records import Rebuild, Simulated, record
from lab_utils.steps.candidate import Candidate


def _by_name(graph: fx.Graph) -> dict[str, fx.Node]:
    return {node.name: node for node in graph.nodes}


def _candidates(call: Call) -> Callable[..., dict[fx.Node, int]]:
    def candidates(graph: fx.Graph) -> dict[fx.Node, int]:
        nodes = _by_name(graph)
        return {nodes[name]: nbytes for name, nbytes in call({}).items()}

    return candidates


def _rebuild(call: Call) -> Callable[..., Rebuild]:
    def rebuild(node: fx.Node, kept: set[fx.Node], _memory: Any = None) -> Rebuild:
        nodes = _by_name(node.graph)
        told = call({"target": node.name, "kept": [n.name for n in kept]})
        return Rebuild({nodes[n] for n in told["sources"]}, [nodes[n] for n in told["path"]])

    return rebuild


def _describe(call: Call) -> Callable[..., list[Candidate]]:
    def describe(graph: fx.Graph, _seconds: Mapping[fx.Node, float]) -> list[Candidate]:
        nodes = _by_name(graph)
        return [record(fields, nodes) for fields in call({})]

    return describe


def _update(call: Call) -> Callable[..., None]:
    def update(t: Candidate, chosen: Sequence[Candidate], remaining: Sequence[Candidate]) -> None:
        nodes = _by_name(t.node.graph)
        told = call(
            {
                "t": fields_of(t),
                "chosen": [fields_of(c) for c in chosen],
                "remaining": [fields_of(c) for c in remaining],
            }
        )
        for candidate, fields in zip((t, *chosen, *remaining), told, strict=True):
            vars(candidate).update(vars(record(fields, nodes)))

    return update


def _simulate(call: Call) -> Callable[..., Simulated]:
    def simulate(graph: fx.Graph, drop: Sequence[fx.Node]) -> Simulated:
        told = call({"drop": [node.name for node in drop]})
        return Simulated(told["nbytes"], _by_name(graph)[told["node"]])

    return simulate


BORROWED: dict[str, Borrow] = {
    "candidates": _candidates,
    "rebuild": _rebuild,
    "describe": _describe,
    "update": _update,
    "simulate": _simulate,
}
