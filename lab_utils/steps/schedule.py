"""When each node runs: program order, as soon as possible, or any legal order.

A schedule is a list of steps. The nodes of one step run at the same time, so their
values are all in memory together. Views and ``getitem`` take no time: they belong
to the step that makes what they look at.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import fx

from lab_utils.kit.charts.drawn import DrawsItself
from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import topological_order
from lab_utils.steps.storage import dependencies, is_operation


class OrderError(LabError):
    """An order that leaves a node out, repeats it, or runs it before what it needs."""


@dataclass(frozen=True, repr=False)
class Schedule(DrawsItself):
    """Steps one after the other, and the rule that made them."""

    steps: tuple[tuple[fx.Node, ...], ...]
    name: str = "given order"
    eager: bool = False
    """Whether each node runs as soon as it can."""

    @property
    def order(self) -> list[fx.Node]:
        """The nodes one after the other: a legal order for one worker."""
        return [node for step in self.steps for node in step]

    def step_of(self) -> dict[fx.Node, int]:
        """The index of the step in which each node runs."""
        return {node: index for index, step in enumerate(self.steps) for node in step}

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.order)} nodes in {len(self)} steps>"


def runnable(graph: fx.Graph) -> list[fx.Node]:
    """The nodes that a schedule places: all but placeholders and the output."""
    return [node for node in graph.nodes if node.op not in ("placeholder", "output")]


def in_order(graph: fx.Graph, order: Iterable[fx.Node], name: str = "given order") -> Schedule:
    """A schedule that runs ``order`` one node at a time.

    Raises:
        OrderError: the order is not legal; the message names the node.
    """
    steps = tuple((node,) for node in order)
    check_order(graph, [node for (node,) in steps])
    return Schedule(steps, name)


def check_order(graph: fx.Graph, order: Sequence[fx.Node]) -> None:
    """Make sure that ``order`` runs every node once, after all that it depends on.

    Raises:
        OrderError: it does not; the message names the node.
    """
    place = {node: index for index, node in enumerate(order)}
    expected = runnable(graph)
    if len(place) != len(order):
        twice = next(n for i, n in enumerate(order) if place[n] != i)
        raise OrderError(f"{twice.name} is in the order twice")
    if missing := next((n for n in expected if n not in place), None):
        raise OrderError(f"{missing.name} is missing from the order")
    if len(order) > len(expected):
        extra = next(n for n in order if n not in set(expected))
        raise OrderError(f"{extra.name} is not a node that runs in this graph")
    for node, before in dependencies(graph).items():
        if node in place:
            for other in before:
                if place.get(other, -1) > place[node]:
                    raise OrderError(f"{node.name} runs before {other.name}, which it depends on")


def program_order(graph: fx.Graph) -> Schedule:
    """One node at a time, in the order of the graph.

    Raises:
        CycleError: dependencies form a circle.
        OrderError: a node stands before one that it depends on.
    """
    topological_order(graph.nodes, dependencies(graph))
    return in_order(graph, runnable(graph), "program order")


def as_soon_as_possible(graph: fx.Graph, workers: int | None = None) -> Schedule:
    """A dataflow scheduler: each node runs as soon as all that it depends on has run.

    Every operator takes one step. ``workers`` bounds how many run in one step
    (None: no bound); those that have waited longest go first.

    Raises:
        CycleError: dependencies form a circle.
    """
    if workers is not None and workers < 1:
        raise LabError(f"workers must be at least 1, not {workers}")
    before = dependencies(graph)
    topological_order(graph.nodes, before)  # raises on a circle
    place = {node: index for index, node in enumerate(graph.nodes)}
    readers: dict[fx.Node, list[fx.Node]] = {node: [] for node in place}
    for node, needed in before.items():
        for other in needed:
            readers[other].append(node)
    missing = {node: len(needed) for node, needed in before.items()}
    ready: list[tuple[int, int, fx.Node]] = []

    def finish(done: Iterable[fx.Node], now: int) -> list[fx.Node]:
        """Views that run at once now that ``done`` has run; operators become ready."""
        views: list[fx.Node] = []
        queue = list(done)
        while queue:
            for node in readers[queue.pop()]:
                missing[node] -= 1
                if missing[node] or node.op == "output":
                    continue
                if is_operation(node):
                    heapq.heappush(ready, (now + 1, place[node], node))
                else:
                    views.append(node)
                    queue.append(node)
        return views

    sources = [node for node, count in missing.items() if not count]
    given = [node for node in sources if node.op == "placeholder"]
    for node in sources:
        if node.op == "call_function":
            heapq.heappush(ready, (0, place[node], node))
    first = finish(given, -1)
    steps: list[tuple[fx.Node, ...]] = []
    while ready:
        count = len(ready) if workers is None else min(workers, len(ready))
        running = [heapq.heappop(ready)[2] for _ in range(count)]
        steps.append((*first, *running, *finish(running, len(steps))))
        first = []
    if first:
        steps.append(tuple(first))
    crowd = "" if workers is None else f", {workers} worker{'s' * (workers > 1)}"
    return Schedule(tuple(steps), f"as soon as possible{crowd}", eager=True)


def random_order(graph: fx.Graph, seed: int) -> Schedule:
    """One node at a time, in a legal order drawn with ``seed``."""
    draw = random.Random(seed)
    before = dependencies(graph)
    readers: dict[fx.Node, list[fx.Node]] = {node: [] for node in before}
    for node, needed in before.items():
        for other in needed:
            readers[other].append(node)
    missing = {node: len(needed) for node, needed in before.items()}
    ready = [node for node, count in missing.items() if not count]
    order: list[fx.Node] = []
    while ready:
        place = draw.randrange(len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        node = ready.pop()
        if node.op not in ("placeholder", "output"):
            order.append(node)
        for reader in readers[node]:
            missing[reader] -= 1
            if not missing[reader]:
                ready.append(reader)
    return in_order(graph, order, f"random order {seed}")
