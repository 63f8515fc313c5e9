"""Pictures move while one watches: a step of the film, and the explorer's first picture.

Measured is the kernel's part, by the wall: the text that is sent to the page. The goals are
those of a person who waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from lab_utils.kit.charts.drawn import drawing_of
from lab_utils.steps.draw.explorer import explore
from lab_utils.steps.draw.film import EAGER, PROGRAM, film
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.benchmarks import Row, progress, timed

LAYERS = 175  # about 5,000 nodes
STEPS = 20


def benchmarks() -> Iterator[Row]:
    """Seconds against the seconds that a person may be made to wait."""
    small = trace_workload(llm_mlp(layers=4, width=64, hidden=256, batch=512))
    explore(small)  # what ipywidgets loads on its first use is no part of the measurement

    def seconds(name: str, spent: float, allowed: float) -> Row:
        return Row(name, spent, "a person's patience", allowed, "s", goal=1)

    progress("the explorer of a four-block llm_mlp")
    spent = timed(lambda: explore(small), clock=time.perf_counter)
    yield seconds("explorer, four-block llm_mlp", spent, 1.0)

    large = trace_workload(llm_mlp(LAYERS, width=8, hidden=16, batch=4))
    nodes = len(large.nodes)
    for rule in (PROGRAM, EAGER):
        progress(f"the film of {nodes:,} nodes, {rule}")
        shown = film(large, rule)
        places = [step * shown.step.max // STEPS for step in range(STEPS)]

        def play(shown=shown, places=places) -> None:  # type: ignore[no-untyped-def]
            for place in places:
                shown.step.value = place

        spent = timed(play, clock=time.perf_counter) / STEPS
        yield seconds(f"film step, {nodes:,} nodes, {rule}", spent, 0.1)

    progress(f"a bare graph of {nodes:,} nodes")
    spent = timed(lambda: drawing_of(large), clock=time.perf_counter)
    yield seconds(f"a bare graph of {nodes:,} nodes", spent, 3.0)
