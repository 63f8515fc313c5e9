"""Whether two graphs are the same, in all that a file must keep."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from lab_utils.steps.dot.values import value_text
from lab_utils.steps.graph import control_dependencies, kind, outputs, phase
from lab_utils.steps.run import example_values, run
from lab_utils.steps.storage import dependencies


def shown(value: Any) -> Any:
    """Constants and nodes in a form that compares by type and content."""
    if isinstance(value, fx.Node):
        return f"%{value.name}"
    if isinstance(value, (list, tuple)):
        return [type(value) is tuple, *map(shown, value)]
    return (type(value).__name__, repr(value))


def told(graph: fx.Graph) -> dict[str, Any]:
    """All that a file must keep, for each node by name."""
    return {
        node.name: {
            "op": node.op,
            "target": node.target,
            "args": [shown(a) for a in node.args] if node.op != "output" else None,
            "kwargs": [(name, shown(a)) for name, a in node.kwargs.items()],
            "phase": phase(node),
            "kind": kind(node),
            "module": node.meta.get("module", ""),
            "source": node.meta.get("source"),
            "value": value_text(node.meta.get("val")),
            "waits": [n.name for n in control_dependencies(node)],
        }
        for node in graph.nodes
    }


def labels(graph: fx.Graph) -> list[tuple[str, str]]:
    """What the graph hands back: label and name, in order."""
    return [(label, node.name) for label, node in outputs(graph).items()]


def assert_same(one: fx.Graph, other: fx.Graph) -> None:
    """Same nodes in the same order, down to every constant and control dependency."""
    first, second = told(one), told(other)
    assert list(first) == list(second)
    assert first == second
    assert labels(one) == labels(other)
    other.lint()


def same_bits(one: fx.Graph, other: fx.Graph) -> bool:
    """Whether both compute exactly the same and leave the same state behind."""
    values = example_values(one)
    results = []
    for graph in (one, other):
        torch.manual_seed(0)
        result = run(graph, values)
        results.append({**result.outputs, **{f"state {k}": v for k, v in result.state.items()}})
    return results[0].keys() == results[1].keys() and all(
        torch.equal(value, results[1][key]) for key, value in results[0].items()
    )


def assert_same_but_for_order(graph: fx.Graph, again: fx.Graph) -> None:
    """Same nodes that wait for the same others, in perhaps another legal order."""
    first, second = told(graph), told(again)
    for node in (*first.values(), *second.values()):
        node["waits"] = set(node["waits"])
    assert first == second
    assert labels(graph) == labels(again)
    assert edges(graph) == edges(again)


def edges(graph: fx.Graph) -> dict[str, set[str]]:
    """For each node all that must run before it, by name."""
    return {n.name: {o.name for o in others} for n, others in dependencies(graph).items()}
