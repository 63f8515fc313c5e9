"""Tasks of notebook 01: kinds, lifetimes, the profiler, the peak, and the file."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.checks import BadAnswer, Case, Finding, Task
from lab_utils.clock import pretended
from lab_utils.effects import is_operation
from lab_utils.execute import example_values
from lab_utils.graph import Kind, Phase, operator_name, phase
from lab_utils.kept import in_backward
from lab_utils.lab4a import task_pictures
from lab_utils.lab4a.replies import (
    graph_of,
    kind_name,
    mapping,
    name_of,
    number,
    optional_name,
)
from lab_utils.memory import to_be_written


def _ask_classify(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    for node in graph.nodes:
        node.meta.pop("kind", None)
    told = mapping(function(graph), "what you return")
    return {name_of(n, "each key"): kind_name(k, "each value") for n, k in told.items()}


def _judge_classify(case: Case, answer: Mapping[str, str]) -> list[Finding]:
    graph = graph_of(case.given["graph"])
    findings = []
    nodes = {node.name: node for node in graph.nodes}
    for name, wanted in case.wanted["kinds"].items():
        node, yours = nodes[name], answer.get(name)
        if yours != wanted:
            findings.append(
                Finding(
                    f"{node.name}: {yours or 'no kind at all'}",
                    f"{node.name}: {wanted}",
                    _why_kind(node, wanted),
                )
            )
    return findings


def _why_kind(node: fx.Node, wanted: str) -> str:
    if node.op == "placeholder":
        return f'{node.name} is given to the step; its source is "{node.meta.get("source")}".'
    if wanted == Kind.GRAD_WEIGHT:
        return f"One of the step's outputs grad:… lives in the memory of {node.name}."
    if node.target is operator.getitem:
        return "Its operator makes several storages; look at the one that this node lives in."
    if not is_operation(node):
        read = node.all_input_nodes[0].name
        return f"{node.name} ({operator_name(node)}) is a view: it is of the kind of {read}."
    if phase(node) is Phase.OPTIMIZER:
        return f"{node.name} runs in the update; what memory does its result live in?"
    return f"{node.name} is made in the {phase(node)} phase."


def _ask_lifetimes(function: Any, given: Mapping[str, Any]) -> Any:
    told = mapping(function(graph_of(given["graph"])), "what you return")
    answer = {}
    for node, uses in told.items():
        if not isinstance(uses, tuple) or len(uses) != 4:
            raise BadAnswer(f"each value must be a Uses(...) of four nodes, not {uses!r}")
        answer[name_of(node, "each key")] = [optional_name(n, "each part of Uses") for n in uses]
    return answer


_PARTS = ("first forward", "last forward", "first backward", "last backward")


def _judge_lifetimes(case: Case, answer: Mapping[str, list[str | None]]) -> list[Finding]:
    wanted: Mapping[str, list[str | None]] = case.wanted["uses"]
    nodes = {node.name: node for node in graph_of(case.given["graph"]).nodes}
    findings = [
        Finding(f"{name} has an entry", "no entry", "It is not memory that an activation owns.")
        for name in answer
        if name not in wanted
    ]
    for name, uses in wanted.items():
        if name not in answer:
            look = "Every activation that owns memory has an entry."
            findings.append(Finding(f"nothing for {name}", f"an entry for {name}", look))
            continue
        for part, mine, right in zip(_PARTS, answer[name], uses, strict=True):
            if mine != right:
                look = _why_use(nodes, part, mine, right)
                given, asked = f"{part} use of {name}: {mine}", f"{part} use of {name}: {right}"
                findings.append(Finding(given, asked, look))
    return findings


def _why_use(nodes: dict[str, fx.Node], part: str, mine: str | None, right: str | None) -> str:
    if right is not None and phase(nodes[right]) is Phase.LOSS:
        return "The loss counts as forward."
    if mine in nodes and in_backward(nodes[mine]) != part.endswith("backward"):
        return "in_backward(node) tells the readers after the loss from those before."
    return "Operators that read it through a view count; views themselves do not."


def pretended_seconds(place: int) -> int:
    """How long the operator at ``place`` pretends to take: neither rising nor falling."""
    return 7 * place % 13 + 1


def _pretend(profiler: fx.Interpreter, warmup: int, time: list[float]) -> None:
    """Make each operator take a known time on a pretended clock, and far longer at first."""
    nodes = [n for n in profiler.module.graph.nodes if n.op == "call_function"]  # type: ignore
    seconds = {node: pretended_seconds(place) for place, node in enumerate(nodes)}
    calls = dict.fromkeys(nodes, 0)
    running: list[fx.Node] = []
    fetch, call = profiler.fetch_args_kwargs_from_env, profiler.call_function

    def fetch_arguments(node: fx.Node) -> Any:
        running[:] = [node]
        return fetch(node)

    def call_function(target: Any, args: Any, kwargs: Any) -> Any:
        (node,) = running
        calls[node] += 1
        counted = calls[node] - warmup
        time[0] += seconds[node] * (counted if counted > 0 else 1000)
        return call(target, args, kwargs)

    profiler.fetch_args_kwargs_from_env = fetch_arguments  # type: ignore[method-assign,assignment]
    profiler.call_function = call_function  # type: ignore[method-assign]


def _ask_profiler(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    time = [0.0]
    profiler = function(graph)
    if not isinstance(profiler, fx.Interpreter):
        raise BadAnswer("GraphProfiler must be a subclass of fx.Interpreter")
    _pretend(profiler, given["warmup"], time)
    with pretended(lambda: time[0]):
        table = profiler.profile(  # type: ignore[attr-defined]
            example_values(graph), warmup=given["warmup"], repeats=given["repeats"]
        )
    rows = getattr(table, "to_dict", lambda _: None)("records")
    if rows is None:
        raise BadAnswer(f"profile must return a pandas DataFrame, not {type(table).__name__}")
    missing = {"node", "seconds", "bytes"} - set(table.columns)
    if missing:
        raise BadAnswer(f"the table has no column called {sorted(missing)[0]!r}")
    return [
        {
            "node": name_of(row["node"], "each node"),
            "seconds": number(row["seconds"], "seconds"),
            "bytes": number(row["bytes"], "bytes"),
        }
        for row in rows
    ]


def _judge_profiler(case: Case, answer: list[dict[str, Any]]) -> list[Finding]:
    wanted: list[dict[str, Any]] = case.wanted["rows"]
    mine, right = [row["node"] for row in answer], [row["node"] for row in wanted]
    if mine != right:
        odd = next((n for n in right if n not in mine), None) or next(
            (n for n in mine if n not in right), "the order"
        )
        return [
            Finding(
                f"{len(mine)} rows; {odd} differs",
                f"{len(right)} rows: one for each call_function node, in the order of the graph",
                "for node in self.module.graph.nodes: if node.op == 'call_function': …",
            )
        ]
    findings = []
    for row, other in zip(answer, wanted, strict=True):
        if row["bytes"] != other["bytes"]:
            findings.append(
                Finding(
                    f"{row['node']} allocates {row['bytes']:,.0f} bytes",
                    f"{other['bytes']:,} bytes",
                    "Only the storages that this node owns count; a view owns none.",
                )
            )
        if abs(row["seconds"] - other["seconds"]) > 1e-6 * other["seconds"]:
            findings.append(_why_seconds(case, row, other))
    return findings


def _why_seconds(case: Case, row: dict[str, Any], wanted: dict[str, Any]) -> Finding:
    warmup, repeats = case.given["warmup"], case.given["repeats"]
    unit = 2 * wanted["seconds"] / (repeats + 1)
    counted = repeats * (repeats + 1) / 2 * unit
    if row["seconds"] < 1e-3 * wanted["seconds"]:
        look = "The check runs on a pretended clock: read the time with clock()."
    elif abs(row["seconds"] - counted) < 1e-6 * counted:
        look = "That is the sum of the repeats: divide by their number."
    elif row["seconds"] > wanted["seconds"] * 10:
        look = f"The first {warmup} runs are to warm up: leave them out of the mean."
    else:
        look = "Time only super().run_node(node), and average over the repeats."
    return Finding(
        f"{row['node']} takes {row['seconds']:g} s", f"{wanted['seconds']:g} s (pretended)", look
    )


def _ask_peak(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    with to_be_written("peak_breakdown"):
        told = function(graph)
    if not isinstance(told, tuple) or len(told) != 3:
        raise BadAnswer("return Peak(nbytes, node, by_kind)")
    nbytes, node, by_kind = told
    kinds = mapping(by_kind, "by_kind").items()
    return {
        "nbytes": number(nbytes, "nbytes"),
        "node": name_of(node, "node"),
        "by_kind": {kind_name(k, "each key of by_kind"): number(v, "bytes") for k, v in kinds},
    }


def _judge_peak(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    wanted = case.wanted
    if answer["nbytes"] != wanted["nbytes"]:
        look = next(
            (hint for hint, nbytes in wanted["mistakes"].items() if nbytes == answer["nbytes"]),
            "A storage is held from the step that allocates it to the last step that reads it.",
        )
        return [Finding(f"{answer['nbytes']:,.0f} bytes", f"{wanted['nbytes']:,} bytes", look)]
    findings = []
    if answer["node"] not in wanted["nodes"]:
        look = "The node that runs while the peak is held."
        findings.append(Finding(f"at {answer['node']}", f"at {wanted['nodes'][0]}", look))
    mine = {kind: held for kind, held in answer["by_kind"].items() if held}
    if not findings and mine != wanted["by_kind"][answer["node"]]:
        right = wanted["by_kind"][answer["node"]]
        odd = next(k for k in {**right, **mine} if mine.get(k, 0) != right.get(k, 0))
        findings.append(
            Finding(
                f"{mine.get(odd, 0):,.0f} bytes of {odd}",
                f"{right.get(odd, 0):,} bytes of {odd}",
                "storage.kind tells what the value in a storage is for.",
            )
        )
    return findings


TASKS = (
    Task("1.1", "the kind of every value", 1, _ask_classify, _judge_classify, task_pictures.kinds),
    Task(
        "1.2", "first and last uses", 1, _ask_lifetimes, _judge_lifetimes, task_pictures.lifetimes
    ),
    Task(
        "1.3",
        "time and memory of each operator",
        0.75,
        _ask_profiler,
        _judge_profiler,
        task_pictures.profile,
    ),
    Task("1.4", "the peak", 1, _ask_peak, _judge_peak, task_pictures.peak),
)
