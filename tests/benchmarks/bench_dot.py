"""Reading and comparing large files: how the time grows, and what Graphviz and pydot need."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial

from autograder.reference.renamed import renamed
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot.limits import MAX_NODES
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.benchmarks import Row, progress, timed

LAYERS = (215, 430, 860, 1720)  # about 6,000, 12,000, 25,000 and 50,000 nodes
PEER_LAYERS = 350  # about 10,000 nodes: the peer is slow
EXPONENT = 1.2
"""Time may grow with this power of the nodes: 1 is linear, 1.1 has the logarithm of sorting."""


def benchmarks() -> Iterator[Row]:
    yield from _growth()
    yield from _peer()


def _files(layers: int) -> tuple[int, str, str]:
    """Nodes of a graph, its text, and that of the same graph with other names."""
    progress(f"tracing llm_mlp with {layers} layers")
    graph = trace_workload(llm_mlp(layers, width=8, hidden=16, batch=4))
    return len(graph.nodes), write_dot(graph), write_dot(renamed(graph))


def _growth() -> Iterator[Row]:
    """CPU seconds at several sizes, the largest that a file may have among them."""
    sizes: list[int] = []
    seconds: dict[str, list[float]] = {"read_dot": [], "diff": [], "write_dot": []}
    for layers in LAYERS:
        nodes, mine, other = _files(layers)
        graphs = read_dot(mine), read_dot(other)
        runs: dict[str, Callable[[], object]] = {
            "read_dot": partial(read_dot, mine),
            "diff": partial(diff, *graphs),
            "write_dot": partial(write_dot, graphs[0]),
        }
        assert diff(*graphs).equal
        sizes.append(nodes)
        for name, run in runs.items():
            seconds[name].append(timed(run, repeat=3, collect=True))
        told = ", ".join(f"{name} {times[-1]:.3g} s" for name, times in seconds.items())
        progress(f"{nodes:,} nodes: {told}")
    assert MAX_NODES - sizes[-1] < 1000
    for name, times in seconds.items():
        title = f"{name}, growth from {sizes[0]:,} to {sizes[-1]:,} nodes ({times[-1]:.2g} CPU s)"
        yield Row(title, _exponent(sizes, times), "linear", 1, "power", EXPONENT)


def _exponent(sizes: list[int], times: list[float]) -> float:
    """The power of the size with which time grows: the slope of the best line through the logs."""
    xs, ys = ([math.log(value) for value in values] for values in (sizes, times))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    pairs = zip(xs, ys, strict=True)
    return sum((a - x) * (b - y) for a, b in pairs) / sum((a - x) ** 2 for a in xs)


def _peer() -> Iterator[Row]:
    """Wall time, since the peer works in two processes."""
    import pydot

    nodes, mine, other = _files(PEER_LAYERS)

    def ours() -> None:
        assert diff(read_dot(mine), read_dot(other)).equal

    def theirs() -> None:
        # nop is Graphviz' parser and printer; dot -Tcanon would lay the graph out as well.
        done = subprocess.run(["nop"], input=mine.encode(), capture_output=True, check=True)
        pydot.graph_from_dot_data(done.stdout.decode())

    progress("reading and comparing two files")
    seconds = timed(ours, repeat=2, clock=time.perf_counter)
    progress("nop and pydot on one of them")
    peer = timed(theirs, repeat=1, clock=time.perf_counter)
    name = f"read and diff two files of {nodes:,} nodes"
    yield Row(name, seconds, "Graphviz' nop + pydot, one file", peer, "s", 1)
