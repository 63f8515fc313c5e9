"""How the tools scale: ten times the nodes may take at most fifteen times as long.

A tool that walks the whole graph for every node would take a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torch import fx

from lab_utils.effects import dependencies
from lab_utils.graph import copy_graph
from lab_utils.models import llm_mlp
from lab_utils.trace import trace_workload
from tests.benchmarks import Row, progress, timed

SMALL_LAYERS = 35  # about 1,000 nodes
FACTOR = 10
GOAL = 15

# Each takes a graph that it must not change.
TOOLS: dict[str, Callable[[fx.Graph], object]] = {
    "dependencies": dependencies,
    "copy_graph": copy_graph,
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
    _trace(1, repeat=1)  # what torch loads on its first trace is no part of the measurement
    progress(f"tracing llm_mlp with {SMALL_LAYERS} and {FACTOR * SMALL_LAYERS} layers")
    small, large = _trace(SMALL_LAYERS, repeat=3), _trace(FACTOR * SMALL_LAYERS, repeat=1)
    yield _row("trace", small, large)
    for name, tool in TOOLS.items():
        progress(f"{name} on {len(small[0].nodes):,} and {len(large[0].nodes):,} nodes")
        yield _row(name, *((graph, _seconds(tool, graph)) for graph, _ in (small, large)))


def _seconds(tool: Callable[[fx.Graph], object], graph: fx.Graph) -> float:
    return timed(lambda: tool(graph), repeat=5)
