"""Cases for the tasks of Lab 4A, made from graphs by the reference engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any
from zlib import crc32

import torch
from torch import fx

from autograder.authoring.derived import CaseData
from autograder.reference.rewrite import inject, make_wait, recompute_set, rewire
from lab_utils.labs.lab4a.ask.profiler import pretended_seconds, slowness
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import Kind, Phase, copy_graph, kind, outputs, phase, placeholders
from lab_utils.steps.kept import in_backward, is_early, kept_values
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import extent, is_operation, storages

aten = torch.ops.aten

#: How far above the reference a rewrite may stay, as a share of what there is to save.
PROGRAM_SLACK, EAGER_SLACK = 0.15, 0.5


def profile_cases(name: str, graph: fx.Graph) -> dict[str, CaseData]:
    """One case for each of the tasks 1.1 to 1.4."""
    dot = write_dot(graph)
    unlabelled = read_dot(dot)
    for node in unlabelled.nodes:
        node.meta["kind"] = Kind.OTHER
    values = [n for n in graph.nodes if not isinstance(n.meta.get("val"), tuple)]
    kinds = {n.name: str(kind(n)) for n in values if n.op != "output"}
    digest = crc32(dot.encode())
    pace, warmup, repeats = 2 + digest % 10, (1, 2, 1)[digest % 3], 3 + digest % 2
    return {
        "1.1": _case(name, {"graph": write_dot(unlabelled)}, {"kinds": kinds}),
        "1.2": _case(name, {"graph": dot}, {"uses": activation_uses(graph)}),
        "1.3": _case(
            name,
            {"graph": dot, "warmup": warmup, "repeats": repeats, "pace": pace},
            {"rows": _rows(graph, repeats, pace), "pace": pace},
        ),
        "1.4": peak_case(name, graph),
    }


def peak_case(name: str, graph: fx.Graph) -> CaseData:
    """Task 1.4: the peak, the step in which it is first held, and what it is made of."""
    line = live_bytes(graph, program_order(graph))
    first, *later = [step for step, total in enumerate(line.total) if total == line.peak]
    return _case(
        name,
        {"graph": write_dot(graph)},
        {
            "nbytes": line.peak,
            "node": line.schedule.steps[first][0].name,
            "later": [line.schedule.steps[step][0].name for step in later],
            "by_kind": _by_kind(line, first),
            "mistakes": _mistaken_peaks(graph, line),
        },
    )


def with_squares(graph: fx.Graph) -> fx.Graph:
    """A copy whose update allocates: the square of each weight, as some optimizers log it."""
    copy, _ = copy_graph(graph)
    for node in list(copy.nodes):
        if node.op == "call_function" and phase(node) is Phase.OPTIMIZER and not node.users:
            weight = node.all_input_nodes[0]
            with copy.inserting_after(node):
                square = copy.call_function(aten.mul.Tensor, (weight, weight))
            val = torch.empty_like(weight.meta["val"])
            square.meta = {**node.meta, "kind": Kind.OTHER, "val": val}
    return copy


def with_lasting_peak(graph: fx.Graph) -> fx.Graph:
    """A copy whose peak lasts for several steps: views of all that would die at the peak."""
    copy, new = copy_graph(graph)
    line = live_bytes(graph, program_order(graph))
    at = line.schedule.steps[line.peak_step][0]
    memory = storages(graph)
    dying = {life.storage for life in line.lifetimes if life.last == line.peak_step}
    for read in reversed([n for n in (*at.all_input_nodes, at) if dying & {*memory[n]}]):
        with copy.inserting_after(new[at]):
            view = copy.call_function(aten.alias.default, (new[read],))
        view.meta = {**new[read].meta, "phase": new[at].meta["phase"]}
    return copy


def activation_uses(graph: fx.Graph) -> dict[str, list[str | None]]:
    """First and last reader of each activation, in forward and in backward."""
    memory = storages(graph)
    readers: dict[fx.Node, list[fx.Node]] = {
        n: []
        for n in graph.nodes
        if n.op == "call_function"
        and kind(n) is Kind.ACTIVATION
        and any(s.owner is n for s in memory[n])
    }
    for node in graph.nodes:
        if is_operation(node):
            for owner in {s.owner for n in node.all_input_nodes for s in memory[n]}:
                if owner in readers and owner is not node:
                    readers[owner].append(node)

    def ends(nodes: list[fx.Node]) -> list[str | None]:
        return [nodes[0].name, nodes[-1].name] if nodes else [None, None]

    return {
        owner.name: [
            *ends([n for n in reading if is_early(n)]),
            *ends([n for n in reading if in_backward(n)]),
        ]
        for owner, reading in readers.items()
    }


def _rows(graph: fx.Graph, repeats: int, pace: int) -> list[CaseData]:
    memory = storages(graph)
    calls = [n for n in graph.nodes if n.op == "call_function"]
    mean = sum(map(slowness, range(1, repeats + 1))) / repeats
    return [
        {
            "node": node.name,
            "bytes": sum(s.nbytes for s in memory[node] if s.owner is node),
            "seconds": pretended_seconds(place, pace) * mean,
        }
        for place, node in enumerate(calls)
    ]


def _by_kind(line: MemoryLine, step: int) -> dict[str, int]:
    return {str(k): held[step] for k, held in line.by_kind.items() if held[step]}


def _mistaken_peaks(graph: fx.Graph, line: MemoryLine) -> dict[str, int]:
    """The peaks that common mistakes give, by the hint that cures each."""
    return {
        "Views own no bytes: count each storage once, for the node that owns it.": _peak(
            graph, line, by_value=True
        ),
        "A read of a view is a read of the storage that it lives in.": _peak(
            graph, line, through_views=False
        ),
        "The placeholders are in memory all the time.": line.peak - line.static,
        "A placeholder is held in every step, whoever reads it.": _peak(
            graph, line, hold_placeholders=False
        ),
        "What the step returns is held to the end, the loss too.": _peak(
            graph, line, hold_outputs=False
        ),
        "A storage is still held in the step of its last reader.": _peak(graph, line, closed=False),
    }


def _peak(
    graph: fx.Graph,
    line: MemoryLine,
    by_value: bool = False,
    through_views: bool = True,
    hold_placeholders: bool = True,
    hold_outputs: bool = True,
    closed: bool = True,
) -> int:
    """The peak in program order, with one rule or another left out."""
    step = {node: place for place, node in enumerate(line.schedule.order)}
    end = len(step) - 1
    memory = storages(graph)
    results = set(outputs(graph).values())
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    nbytes: dict[Any, int] = {}
    for node in graph.nodes:
        if node.op == "output":
            continue
        made = step.get(node, 0)
        reads = [step[r] for r in node.users if r in step]
        until = max(reads, default=made)
        if (node.op == "placeholder" and hold_placeholders) or (node in results and hold_outputs):
            until = end
        val = node.meta.get("val")
        held = [node] if by_value else memory[node]
        for piece in held:
            if by_value:
                nbytes[piece] = sum(map(extent, val)) if isinstance(val, tuple) else extent(val)
            else:
                nbytes[piece] = piece.nbytes
            first.setdefault(piece, made)
            if piece in last and not through_views:
                continue
            last[piece] = max(last.get(piece, 0), until)
    totals = [0] * (end + 2)
    for piece, start in first.items():
        totals[start] += nbytes[piece]
        totals[max(last[piece] + closed, start)] -= nbytes[piece]
    return max(accumulate(totals))


def toy_cases() -> list[CaseData]:
    """Small graphs for task 2.1 that one can follow by hand."""
    chain = _toy(["x"], [("relu", "x"), ("sin", "relu"), ("cos", "sin")])
    diamond = _toy(
        ["x"],
        [("relu", "x"), ("sin", "relu"), ("cos", "relu"), ("mul", "sin", "cos"), ("tanh", "mul")],
    )
    weighted = _toy(["x", "w"], [("mm", "x", "w"), ("silu", "mm"), ("mul", "silu", "mm")])
    return [
        _set_case("chain x -> relu -> sin -> cos", chain, "sin", []),
        _set_case("chain x -> relu -> sin -> cos", chain, "cos", ["relu"]),
        _set_case("diamond: mul reads sin(relu) and cos(relu)", diamond, "tanh", []),
        _set_case("diamond: mul reads sin(relu) and cos(relu)", diamond, "tanh", ["cos"]),
        _set_case("mul reads silu(mm) and mm", weighted, "mul", []),
    ]


def set_cases(name: str, graph: fx.Graph, drop: Sequence[str]) -> list[CaseData]:
    """Task 2.1 on a real graph: the dropped value whose path shares most, and is longest."""
    nodes = {node.name: node for node in graph.nodes}
    kept = kept_values(graph, [nodes[d] for d in drop])
    names = [n.name for n in kept if n.op != "placeholder"]

    def difficulty(target: str) -> tuple[int, int]:
        again = _needed(nodes[target], set(names))
        reads = [r.name for n in again for r in nodes[n].all_input_nodes if r.name in again]
        return len(reads) - len(set(reads)), len(again)

    return [_set_case(name, graph, max(drop, key=difficulty), names)]


def _set_case(name: str, graph: fx.Graph, target: str, kept: Iterable[str]) -> CaseData:
    known = sorted(kept)
    node = next(n for n in graph.nodes if n.name == target)
    shown = ", ".join([p.name for p in placeholders(graph)][:2] + known[:3])
    return _case(
        f"{name}, rebuild {target}, kept {{{shown}{', …' if len(known) > 3 else ''}}}",
        {"graph": write_dot(graph), "target": target, "kept": known},
        {"nodes": _needed(node, set(known))},
    )


def _needed(target: fx.Node, kept: set[str]) -> list[str]:
    gone = [n for n in target.graph.nodes if n.op == "call_function" and n.name not in kept]
    return [n.name for n in recompute_set([target], set(gone))]


def _toy(given: list[str], calls: list[tuple[str, ...]]) -> fx.Graph:
    graph = fx.Graph()
    nodes: dict[str, fx.Node] = {}
    for name in given:
        nodes[name] = graph.placeholder(name)
        role = Kind.WEIGHT if name == "w" else Kind.INPUT
        source = f"param:{name}" if name == "w" else f"input:{name}"
        nodes[name].meta = {"kind": role, "phase": Phase.FORWARD, "source": source}
    overloads = {"mul": aten.mul.Tensor}
    for name, *reads in calls:
        target = overloads.get(name, getattr(aten, name).default)
        nodes[name] = graph.create_node(
            "call_function", target, tuple(nodes[r] for r in reads), name=name
        )
        nodes[name].meta = {"kind": Kind.ACTIVATION, "phase": Phase.FORWARD}
    for node in nodes.values():
        node.meta |= {"module": "", "val": torch.empty(4, 4, device="meta")}
    end = graph.output({"loss": node})
    end.meta = {"kind": Kind.OTHER, "phase": Phase.OPTIMIZER, "module": ""}
    return graph


def rewrite_cases(name: str, graph: fx.Graph, drop: Sequence[str]) -> dict[str, CaseData]:
    """One case for each of the tasks 2.2, 3.1 and 4.1: each starts where the last one ends."""
    base = write_dot(graph)
    after = read_dot(base)
    nodes = {node.name: node for node in after.nodes}
    clones = inject(after, [nodes[d] for d in drop])
    injected = write_dot(after)
    rewire(after, clones)
    rewired = write_dot(after)
    before, recomputed = (live_bytes(g, program_order(g)) for g in (graph, after))
    make_wait(after, clones)
    waiting = live_bytes(after, as_soon_as_possible(after))
    eager = live_bytes(graph, as_soon_as_possible(graph))
    names = {original.name: clone.name for original, clone in clones.items()}
    program = {
        "program_budget": _budget(before.peak, recomputed.peak, PROGRAM_SLACK),
        "line": recomputed.total,
    }
    work = sum(map(is_operation, clones.values()))
    return {
        "2.2": _case(
            name,
            {"graph": base, "drop": list(drop)},
            {**program, "work_budget": work},
        ),
        "3.1": _case(name, {"graph": injected, "clones": names}, program),
        "4.1": _case(
            name,
            {"graph": rewired, "clones": names},
            {
                "eager_budget": _budget(eager.peak, waiting.peak, EAGER_SLACK),
                "line": waiting.total,
            },
        ),
    }


def _budget(before: int, reference: int, slack: float) -> int:
    return round(reference + slack * (before - reference))


def _case(name: str, given: CaseData, wanted: CaseData) -> CaseData:
    return {"name": name, "given": given, "wanted": wanted}
