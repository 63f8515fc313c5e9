"""Reading and comparing two large files against what Graphviz and pydot need to parse one."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

from autograder.reference.renamed import renamed
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.benchmarks import Row, progress, timed

LAYERS = 350  # about 10,000 nodes


def benchmarks() -> Iterator[Row]:
    """Wall time, since the peer works in two processes."""
    import pydot

    progress(f"tracing llm_mlp with {LAYERS} layers")
    graph = trace_workload(llm_mlp(LAYERS, width=8, hidden=16, batch=4))
    mine, other = write_dot(graph), write_dot(renamed(graph))

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
    name = f"read and diff two files of {len(graph.nodes):,} nodes"
    yield Row(name, seconds, "Graphviz' nop + pydot, one file", peer, "s", 1)
