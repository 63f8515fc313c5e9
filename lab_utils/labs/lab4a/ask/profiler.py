"""How task 1.3 is asked: a profiler, tried with a clock that we set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import fx

from lab_utils.kit.answers import a_type, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.labs.graphs.replies import given_graph, told_name, unchanged
from lab_utils.steps.clock import pretended
from lab_utils.steps.run import example_values

#: What a profile tells of each operator.
COLUMNS = ("node", "operator", "phase", "seconds", "bytes")


def pretended_seconds(place: int, pace: int) -> int:
    """How long the operator at ``place`` pretends to take: neither rising nor falling.

    Each case has a ``pace`` of its own, so that nobody knows the times who has not measured.
    """
    return pace * place % 13 + 1


def slowness(counted: int) -> int:
    """How much longer an operator takes in a run that counts (from 1): the rise is not even.

    So the mean of the runs is not their median.
    """
    return counted**2


def seconds_of_run(number: int, operators: int, warmup: int, pace: int) -> list[int]:
    """How long each operator takes in the run ``number``, counted from 0: far longer at first."""
    counted = number + 1 - warmup
    times = slowness(counted) if counted > 0 else 1000
    return [pretended_seconds(place, pace) * times for place in range(operators)]


@dataclass
class _Runs:
    """What a profiler ran: how often each node, and for which ``run_node`` gave nothing back."""

    calls: dict[fx.Node, int]
    lost: list[fx.Node] = field(default_factory=list)


def _pretend(profiler: fx.Interpreter, given: Mapping[str, Any], time: list[float]) -> _Runs:
    """Make each operator take a known time on a pretended clock, and far longer at first.

    Of a graph that nobody has seen, the grader tells the times of a run when it begins.
    """
    nodes = [n for n in profiler.module.graph.nodes if n.op == "call_function"]  # type: ignore
    place = {node: index for index, node in enumerate(nodes)}
    told: list[list[int]] = []

    def seconds(node: fx.Node, number: int) -> int:
        while len(told) <= number:
            if "seconds" in given:
                told.append(given["seconds"]({"run": len(told)}))
            else:
                told.append(seconds_of_run(len(told), len(nodes), given["warmup"], given["pace"]))
        return told[number][place[node]]

    runs = _Runs(dict.fromkeys(nodes, 0))
    running: list[fx.Node] = []
    fetch, call = profiler.fetch_args_kwargs_from_env, profiler.call_function
    run = profiler.run_node

    def fetch_arguments(node: fx.Node) -> Any:
        running[:] = [node]
        return fetch(node)

    def call_function(target: Any, args: Any, kwargs: Any) -> Any:
        (node,) = running
        time[0] += seconds(node, runs.calls[node])
        runs.calls[node] += 1
        return call(target, args, kwargs)

    def run_node(node: fx.Node) -> Any:
        result = run(node)
        if result is None and node.meta.get("val") is not None:
            runs.lost.append(node)
        return result

    profiler.fetch_args_kwargs_from_env = fetch_arguments  # type: ignore[method-assign,assignment]
    profiler.call_function = call_function  # type: ignore[method-assign]
    profiler.run_node = run_node  # type: ignore[method-assign,assignment]
    return runs


def ask_profiler(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.3: time and memory of each operator."""
    graph = given_graph(given)
    time = [0.0]
    with unchanged(graph):
        profiler = function(graph)
    if not isinstance(profiler, fx.Interpreter):
        text = f"what you give makes {a_type(profiler)}, which is no fx.Interpreter"
        raise BadAnswer(text, "class GraphProfiler(fx.Interpreter): …")
    runs = _pretend(profiler, given, time)
    with unchanged(graph), pretended(lambda: time[0]):
        try:
            table = profiler.profile(  # type: ignore[attr-defined]
                example_values(graph), warmup=given["warmup"], repeats=given["repeats"]
            )
        except RuntimeError as error:
            if "positional argument" in str(error):
                look = "self.run(*tensors), with the star: one tensor for each placeholder."
                yours = "self.run does not get a tensor for each placeholder"
                raise BadAnswer(yours, look) from None
            if not runs.lost:
                raise
            look = "Does run_node return the result of super().run_node(node)?"
            raise BadAnswer(f"run_node returns None for {runs.lost[0].name}", look) from None
    asked = given["warmup"] + given["repeats"]
    seldom = next((node for node, count in runs.calls.items() if count < asked), None)
    if seldom is not None:
        times = f"{runs.calls[seldom]} time{'s' * (runs.calls[seldom] != 1)}"
        look = f"profile runs the graph warmup + repeats = {asked} times: self.run(…)."
        raise BadAnswer(f"{seldom.name} ran {times}", look, f"it runs {asked} times")
    rows = getattr(table, "to_dict", lambda _: None)("records")
    if rows is None:
        raise BadAnswer(f"profile returns {a_type(table)}", "Return pd.DataFrame(…).")
    if missing := [column for column in COLUMNS if column not in table.columns]:
        look = f"The columns are {', '.join(COLUMNS)}."
        raise BadAnswer(f"the table has no column called {missing[0]!r}", look)
    return [
        {
            "node": told_name(row["node"], "each node"),
            "operator": str(row["operator"]),
            "phase": str(row["phase"]),
            "seconds": number(row["seconds"], "seconds"),
            "bytes": number(row["bytes"], "bytes"),
        }
        for row in rows
    ]
