"""A training step before any notebook is graded: the first one of a process imports 800 modules.

A lab names ``lab_utils.labs.graphs.rehearsal:rehearse`` among what a sandbox does first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

from lab_utils.kit.lab import Lab
from lab_utils.labs.graphs.replies import case_graphs, shared_graph


def rehearse() -> None:
    """Trace and run a step, here or in a child; no thread is left behind."""
    import torch

    if torch.accelerator.current_accelerator() is None:
        _step()
        return
    # Where PyTorch is built for GPUs, backward starts threads, and what is forked from a
    # process that had them can run no backward: a child tries, and tells what to import.
    for name in _imported_by_child():
        with suppress(Exception):
            import_module(name)


def _step() -> None:
    import torch

    from lab_utils.steps.dot.read import read_dot
    from lab_utils.steps.dot.write import write_dot
    from lab_utils.steps.run import example_values, run
    from lab_utils.steps.trace.step import trace_workload
    from lab_utils.steps.workloads import llm_mlp

    with torch.random.fork_rng(devices=[]):
        graph = read_dot(write_dot(trace_workload(llm_mlp(1, 4, 4, 4))))
        run(graph, example_values(graph))


def _imported_by_child() -> list[str]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            _step()
            with open(writing, "w") as told:
                told.write("\n".join(sys.modules))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as told:
        names = told.read().splitlines()
    os.waitpid(child, 0)
    return [name for name in names if name not in sys.modules]


def read_graphs(lab: Lab) -> None:
    """Read the graphs of the public cases that are there, so that no notebook has to."""
    for text in _graphs(lab):
        shared_graph(text)
        case_graphs(text)()


def run_one(lab: Lab) -> None:
    """Run a graph of the lab: the first run of a process loads much."""
    import torch

    from lab_utils.steps.run import example_values, run

    with torch.random.fork_rng(devices=[]):
        graph = shared_graph(next(_graphs(lab)))
        run(graph, example_values(graph))


def _graphs(lab: Lab) -> Iterator[str]:
    for task in lab.tasks:
        with suppress(FileNotFoundError):  # a graph that would answer what is asked
            for case in lab.public_cases(task.id):
                if text := case.given.get("graph"):
                    yield text
