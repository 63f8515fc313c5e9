"""How the tools scale: ten times the nodes may take at most fifteen times as long.

A tool that walks the whole graph for every node would take a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import fx

from autograder.reference.renamed import renamed
from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import copy_graph
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order, random_order
from lab_utils.steps.storage import dependencies
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.benchmarks import Row, progress, timed

SMALL_LAYERS = 35  # about 1,000 nodes
FACTOR = 10
GOAL = 15

Run = Callable[[], object]


def _diff_equal(graph: fx.Graph) -> Run:
    other = renamed(graph)
    return lambda: diff(graph, other)


def _diff_changed(graph: fx.Graph) -> Run:
    """One edge in the middle of a renamed copy reads another value."""
    other = renamed(graph)
    calls = [n for n in other.nodes if n.op == "call_function"]
    node = next(n for n in calls[len(calls) // 2 :] if len(n.all_input_nodes) > 1)
    first, second = node.all_input_nodes[:2]
    node.replace_input_with(first, second)
    return lambda: diff(graph, other)


def _read(graph: fx.Graph) -> Run:
    text = write_dot(graph)
    return lambda: read_dot(text)


def _live_bytes(graph: fx.Graph) -> Run:
    schedule = program_order(graph)
    return lambda: live_bytes(graph, schedule).peak


def _rewrite(graph: fx.Graph) -> Run:
    drop = block_activations(graph)
    return lambda: rewrite(graph, drop)


# What is prepared is not measured; none may change the graph.
TOOLS: dict[str, Callable[[fx.Graph], Run]] = {
    "dependencies": lambda graph: lambda: dependencies(graph),
    "copy_graph": lambda graph: lambda: copy_graph(graph),
    "live_bytes": _live_bytes,
    "program order": lambda graph: lambda: program_order(graph),
    "as soon as possible": lambda graph: lambda: as_soon_as_possible(graph),
    "random order": lambda graph: lambda: random_order(graph, 0),
    "rewrite for recomputation": _rewrite,
    "write_dot": lambda graph: lambda: write_dot(graph),
    "read_dot": _read,
    "diff, equal and renamed": _diff_equal,
    "diff, one edge changed": _diff_changed,
}


def _trace(layers: int, repeat: int) -> tuple[fx.Graph, float]:
    """The graph of a model with so many layers, and the seconds that tracing took."""
    work = llm_mlp(layers, width=8, hidden=16, batch=4)
    graphs: list[fx.Graph] = []
    seconds = timed(lambda: graphs.append(trace_workload(work)), repeat)
    return graphs[-1], seconds


def _row(name: str, small: tuple[fx.Graph, float], large: tuple[fx.Graph, float]) -> Row:
    """The large graph against the small one, as if it had exactly ``FACTOR`` times the nodes."""
    nodes = len(small[0].nodes)
    exactly = FACTOR * nodes / len(large[0].nodes)
    peer = f"{nodes:,} nodes"
    return Row(f"{name} at {FACTOR}x", large[1] * exactly, peer, small[1], "CPU s", GOAL)


def benchmarks() -> Iterator[Row]:
    """Each tool on a thousand and on ten thousand nodes."""
    _trace(1, repeat=1)  # what torch loads on its first trace is no part of the measurement
    progress(f"tracing llm_mlp with {SMALL_LAYERS} and {FACTOR * SMALL_LAYERS} layers")
    small, large = _trace(SMALL_LAYERS, repeat=3), _trace(FACTOR * SMALL_LAYERS, repeat=1)
    yield _row("trace", small, large)
    for name, tool in TOOLS.items():
        progress(f"{name} on {len(small[0].nodes):,} and {len(large[0].nodes):,} nodes")
        yield _row(name, *((graph, timed(tool(graph), repeat=3)) for graph, _ in (small, large)))
