"""What makes a rewritten graph right, and the words for what does not.

Nothing here knows a reference: a rewrite is right if it keeps the forward pass,
rebuilds the same values from what is kept, and stays within its budgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import fx

from lab_utils.kit.guard import refuse_while_asked
from lab_utils.kit.task import Finding
from lab_utils.kit.words import size
from lab_utils.labs.graphs.nodes import Names, by_name
from lab_utils.labs.graphs.shared import remembered
from lab_utils.steps.dot.values import value_text
from lab_utils.steps.graph import copy_graph, mark_recomputed, operator_name, phase
from lab_utils.steps.kept import in_backward, is_early
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import StepResult, example_values, run
from lab_utils.steps.schedule import Schedule


def call_of(node: fx.Node) -> tuple[Any, ...]:
    """What ``node`` does, with operands told by name: equal calls do the same."""
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: _Operand(n.name))
    return operator_name(node), _frozen(args), _frozen(kwargs)


class _Operand(str):
    """The name of a node that is read, as against a string argument."""


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    return (type(value).__name__, value)


def unwritable(given: fx.Graph, answer: Mapping[str, Any]) -> list[Finding]:
    """Why a graph is in no order that can run; nothing where it is."""
    if answer["dot"] is not None:
        return []
    for node in given.nodes:
        now = answer["reads"].get(node.name)
        if node.op == "call_function" and is_early(node) and now is not None:
            new = [n for n in now if n not in [r.name for r in node.all_input_nodes]]
            if new:
                return [
                    Finding(
                        f"{node.name} ({_place(node)}) now reads {new[0]}",
                        f"{node.name} reads what it read before",
                        "A forward reader keeps the original: the clone does not exist yet.",
                    )
                ]
    look = "Insert what is read before its reader."
    return [Finding(answer["problem"], "each node after all that it reads", look)]


def changed_nodes(before: Names, after: Names, names: Iterable[str]) -> list[Finding]:
    """Nodes that had to stay as they were and did not.

    Of ``names`` what they do must stay; of all given nodes what is told about them.
    """
    findings = _retold(before, after)
    for name in names:
        old, new = before[name], after.get(name)
        if new is None:
            look = "Every node of the graph that you are given must still be there."
            findings.append(Finding(f"{name} is gone", f"{name} is kept", look))
        elif call_of(old) != call_of(new):
            findings.append(_changed(old, new))
    return findings


def _changed(old: fx.Node, new: fx.Node) -> Finding:
    for was, now in zip(old.all_input_nodes, new.all_input_nodes, strict=False):
        if was.name != now.name:
            return Finding(
                f"{new.name} ({_place(old)}) now reads {now.name}",
                f"{new.name} still reads {was.name}",
                "In this task this reader must not change."
                if not is_early(old)
                else "A forward reader keeps the original: the clone does not exist yet.",
            )
    return Finding(f"{new.name} was changed", f"{new.name} as it was", "Only add or rewire.")


def _place(node: fx.Node) -> str:
    return "forward" if is_early(node) else str(phase(node))


def _retold(before: Names, after: Names) -> list[Finding]:
    """The first given node of which another shape, dtype, phase or source is told now.

    Bytes and readers are counted by these: whoever halves the dtypes halves the peak. Kinds
    have no say in that, and are the business of task 1.1.
    """
    for name, old in before.items():
        if name in after and (now := _told(after[name])) != (was := _told(old)):
            part = next(part for part in was if was[part] != now[part])
            look = "What is told about a node that you are given stays: only add or rewire."
            yours, wanted = (f"{name} with the {part} {told[part]}" for told in (now, was))
            return [Finding(yours, wanted, look)]
    return []


def _told(node: fx.Node) -> dict[str, str]:
    return {
        "value": value_text(node.meta.get("val")),
        "phase": str(phase(node)),
        "source": str(node.meta.get("source", "")),
    }


def wrong_values(base: fx.Graph, rewritten: fx.Graph, schedule: Schedule) -> list[Finding]:
    """Run both on the same numbers and compare loss, gradients and updated weights."""
    values, wanted = _right_values(base)
    torch.manual_seed(0)
    mine = run(rewritten, values, schedule)
    for label, right, yours in (
        *((k, v, mine.outputs.get(k)) for k, v in wanted.outputs.items()),
        *((k, v, mine.state.get(k)) for k, v in wanted.state.items()),
    ):
        if yours is None or not torch.allclose(yours, right, rtol=1e-4, atol=1e-6, equal_nan=True):
            what = label.removeprefix("grad:")
            return [
                Finding(
                    f"another value for {what}",
                    f"the same {what} as without recomputation",
                    "A clone computes something else than its original, or is read in its place.",
                )
            ]
    return []


@remembered
def _right_values(base: fx.Graph) -> tuple[dict[str, torch.Tensor], StepResult]:
    """What a graph is given, and what comes of it."""
    values = example_values(base)
    torch.manual_seed(0)
    return values, run(base, values)


def over_budget(graph: fx.Graph, schedule: Schedule, budget: int, look: str) -> list[Finding]:
    """A finding if the schedule holds more than ``budget`` bytes at once."""
    line = live_bytes(graph, schedule)
    if line.peak <= budget:
        return []
    largest = line.alive(line.peak_step)
    held = [x.name for x in largest if x.kind in ("ACTIVATION", "RECOMP")][:3]
    return [
        Finding(
            f"a peak of {size(line.peak)} {_when(schedule)} (held: {', '.join(held)}, …)",
            f"at most {size(budget)}",
            look,
        )
    ]


def late_reads(graph: fx.Graph, names: Iterable[str]) -> list[tuple[fx.Node, fx.Node]]:
    """(reader, value) for each backward reader of the values called ``names``."""
    wanted = set(names)
    return [
        (reader, value)
        for reader in graph.nodes
        if reader.op == "call_function" and in_backward(reader)
        for value in reader.all_input_nodes
        if value.name in wanted
    ]


def _when(schedule: Schedule) -> str:
    words = schedule.name
    return f"when each node runs {words}" if schedule.eager else f"in {words}"


def rewired(graph: fx.Graph, clones: Mapping[str, str]) -> fx.Graph:
    """A copy in which backward reads the clones: the next task's work, done for this check."""
    refuse_while_asked("rewired")
    copy, _ = copy_graph(graph)
    nodes = by_name(copy)
    for clone in clones.values():
        mark_recomputed(nodes[clone])
    new = {nodes[original]: nodes[clone] for original, clone in clones.items()}
    for reader in [n for n in copy.nodes if n.op == "call_function" and in_backward(n)]:
        for original in [n for n in reader.all_input_nodes if n in new]:
            reader.replace_input_with(original, new[original])
    return copy
