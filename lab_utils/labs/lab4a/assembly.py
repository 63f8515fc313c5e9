"""Put a student's three rewriting steps together into the graph that is handed in."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, NoReturn

from torch import fx

from lab_utils.labs.graphs.nodes import node_named
from lab_utils.labs.graphs.replies import given_graph
from lab_utils.labs.graphs.shipped import shipped_graph
from lab_utils.labs.lab4a import LAB

Step = Callable[..., Any] | None

PATIENCE = 15.0
"""Seconds of processor time for one step; a right one needs less than one."""


def assemble(inject: Step, rewire: Step, wait: Step) -> fx.Graph:
    """``llm_mlp`` after the student's own functions of notebooks 02, 03 and 04.

    Where a step is missing or does not pass its check, this goes on with the graph that we ship
    for the next one (and says so), so that one mistake does not spoil the steps after it. Only
    the last one is left out instead: without it the graph is right, but saves nothing under the
    dataflow scheduler.
    """
    graph, clones = _injected(inject)
    if _is_usable("3.1", rewire):
        rewire(graph, clones)  # type: ignore[misc]
    else:
        graph, clones = _shipped("4.1")
    if _is_usable("4.1", wait):
        wait(graph, clones)  # type: ignore[misc]
    return graph


def _injected(inject: Step) -> tuple[fx.Graph, dict[fx.Node, fx.Node]]:
    if not _is_usable("2.2", inject):
        return _shipped("3.1")
    given = LAB.public_cases("2.2")[0].given
    graph = given_graph(given)
    return graph, inject(graph, [node_named(graph, d) for d in given["drop"]])  # type: ignore


def _shipped(task_id: str) -> tuple[fx.Graph, dict[fx.Node, fx.Node]]:
    """The graph with which a task begins, and its clones by their originals."""
    given = LAB.public_cases(task_id)[0].given
    graph = given_graph(given)
    names = given["clones"].items()
    return graph, {node_named(graph, o): node_named(graph, c) for o, c in names}


def _is_usable(task_id: str, function: Step) -> bool:
    """Whether ``function`` passes on the graph to hand in; says what happens if not."""
    if function is None:
        print(f"Task {task_id}: none of yours.")
        return False
    with _at_most(PATIENCE):
        findings = LAB.findings(task_id, function)
    print(f"Task {task_id}: " + (f"not used.\n{findings[0]}" if findings else "yours."))
    return not findings


def open_graph(name: str = "llm_mlp") -> fx.Graph:
    """A graph of the lab: ``llm_mlp``, and the same after a finished task.

    ``llm_mlp.injected`` has the clones of notebook 02, ``llm_mlp.rewired`` is what
    notebook 03 makes of it.
    """
    return shipped_graph(LAB, name)


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Interrupt a step that does not end, where that can be done: one mistake, one price.

    By a clock of its own, since a grader's may be running.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def ring(*_: object) -> NoReturn:
        raise TimeoutError(f"no result after {seconds:g} seconds")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
