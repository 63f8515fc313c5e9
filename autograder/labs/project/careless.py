"""What a plan's account comes to when one rule of it is forgotten.

Only to choose cases by: a case is worth asking on which as many rules as possible show. What is
right comes from elsewhere (``reference``), by rewriting and measuring.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import getitem
from typing import Any

from torch import fx

from lab_utils.steps.candidate import Candidate
from lab_utils.steps.graph import outputs, placeholders
from lab_utils.steps.kept import in_backward, is_early, kept_values
from lab_utils.steps.storage import storages

Peak = Callable[[list[fx.Node]], tuple[int, fx.Node]]
Update = Callable[[Candidate, Sequence[Candidate], Sequence[Candidate]], None]

#: Rules of task 5.4 that may be forgotten.
UPDATE_RULES = ("chosen", "count", "sources", "seconds", "alive", "first", "readers", "total")
#: Rules of task 5.5.
SIMULATE_RULES = (
    "buffers",
    "path",
    "originals",
    "views",
    "tuples",
    "sharing",
    "early",
    "last step",
)

#: Rules of task 5.6.
CHOOSE_RULES = (
    *("sum", "rise", "rise ends", "idle", "stop", "reached", "update", "ratio"),
    "same peak",
)


def careless_plan(
    records: Sequence[Candidate], peak_of: Peak, budget: int, without: str
) -> tuple[list[str], int]:
    """Task 5.6 without one of its rules: names of what is dropped, and the peak told."""
    remaining, chosen = [replace(c) for c in records], list[Candidate]()
    start = now = peak_of([])
    while now[0] > budget or _goes_on(now[0], budget, without):
        idle = [
            c for c in remaining if without == "idle" or c.last_forward < now[1] < c.first_backward
        ]
        if not idle:
            break
        best = min if without == "ratio" else max
        t = best(idle, key=lambda c: c.ratio)
        remaining.remove(t)
        then = peak_of([c.node for c in (*chosen, t)])
        if then[0] > now[0] - (without == "same peak") and without != "rise":
            if without == "rise ends":
                break
            continue
        if without != "update":
            careless_update("")(t, chosen, remaining)
        chosen.append(t)
        now = then
    told = start[0] - sum(c.nbytes for c in chosen) if without == "sum" else now[0]
    return [c.node.name for c in chosen], told


def _goes_on(peak: int, budget: int, without: str) -> bool:
    """Whether somebody careless drops more though the peak is within the budget."""
    return without == "stop" or (without == "reached" and peak == budget)


def careless_update(without: str) -> Update:
    """Task 5.4 without one of its rules; with none of these names, all of it."""

    def update(t: Candidate, chosen: Sequence[Candidate], remaining: Sequence[Candidate]) -> None:
        for r in chosen if without != "chosen" else ():
            if t.node in r.sources:
                r.sources = r.sources - {t.node} | t.sources
                r.seconds += t.seconds
                t.count += without != "count"
        for c in remaining:
            if t.node in c.sources:
                last = t.first_backward if without == "first" else t.last_backward
                again = t.first_backward <= c.first_backward <= last
                if again and without != "alive":
                    continue
                if without != "sources":
                    c.sources = c.sources - {t.node} | t.sources
                c.seconds += t.seconds * (without != "seconds")
                readers = sum(c.node in r.sources for r in chosen)
                c.total = c.seconds * (1 + readers * (without != "readers"))
            elif c.node in t.sources and without != "total":
                c.total = t.count * c.seconds

    return update


def careless_peak(graph: fx.Graph, drop: Collection[fx.Node], without: str) -> int:
    """Task 5.5 without one of its rules; with none of these names, all of it."""
    memory = storages(graph)
    kept = kept_values(graph, [] if without == "originals" else drop)
    lost = {n for n in graph.nodes if n.op == "call_function" and is_early(n)} - kept
    runs = _runs(graph, lost, without)
    home: dict[Any, list[Any]] = {
        (n, False): [(s, False) for s in memory[n]] for n in placeholders(graph)
    }
    first: dict[Any, int] = {piece: 0 for pieces in home.values() for piece in pieces}
    last: dict[Any, int] = {}
    for step, (node, again) in enumerate(runs):
        late = again or in_backward(node)
        reads = [home[read, late and read in lost] for read in node.all_input_nodes]
        seen = {s: (s, copy) for pieces in reads for s, copy in pieces if without != "views"}
        home[node, again] = [seen.get(s, (s, again)) for s in memory[node]]
        for piece in [p for pieces in (home[node, again], *reads) for p in pieces]:
            first.setdefault(piece, step)
            last[piece] = step
    given = placeholders(graph) if without != "placeholders" else []
    returned = outputs(graph).values() if without != "outputs" else []
    for node in (*given, *returned):
        last |= dict.fromkeys(home[node, False], len(runs) - 1)
    change = [0] * (len(runs) + 1)
    for piece, start in first.items():
        left_out = without == "buffers" or (without == "path" and piece[0].owner not in drop)
        if not (piece[1] and left_out):
            change[start] += piece[0].nbytes
            end = last.get(piece, start) + (without != "last step")
            change[max(end, start)] -= piece[0].nbytes
    return max(accumulate(change))


def _runs(graph: fx.Graph, lost: set[fx.Node], without: str) -> list[tuple[fx.Node, bool]]:
    runs, rebuilt = [], set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if in_backward(node):
            missing: set[fx.Node] = set()
            queue = [read for read in node.all_input_nodes if read in lost]
            queue = [*lost] if without == "early" else queue
            while queue:
                value = queue.pop()
                if value not in rebuilt and value not in missing:
                    missing.add(value)
                    taken = [n for n in value.users if n.target is getitem]
                    needs = (*value.all_input_nodes, *(taken if without != "tuples" else ()))
                    queue += [n for n in needs if n in lost]
            runs += [(value, True) for value in sorted(missing)]
            rebuilt |= missing if without != "sharing" else set()
        runs.append((node, False))
    return runs
