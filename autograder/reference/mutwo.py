"""The greedy policy of μ-TWO (Purandare and others, MLSys 2023), for recomputation alone.

What a judge expects of it is made here, and the planner's search starts from here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from torch import fx

from autograder.reference.simulate import Fate, Simulated, Simulator
from autograder.reference.values import Step
from lab_utils.steps.candidate import Candidate

Watch = Callable[[Candidate, list[Candidate], list[Candidate]], None]


def describe(step: Step) -> list[Candidate]:
    """What may be dropped, each with the cost of rebuilding it while all else is kept."""
    kept = [value.last_late >= 0 or value.pinned is not None for value in step.values]
    return [
        _candidate(step, index, kept)
        for index, maker in enumerate(step.makers)
        if any(step.values[v].last_late >= 0 for v in maker.values)
        and not any(step.values[v].pinned for v in maker.values)
    ]


def _candidate(step: Step, index: int, kept: Sequence[bool]) -> Candidate:
    maker = step.makers[index]
    values = [step.values[v] for v in maker.values]
    sources, seconds = _way(step, index, kept)
    return Candidate(
        node=maker.nodes[0],
        nbytes=sum(value.nbytes for value in values if value.last_late >= 0),
        last_forward=step.order[max(value.last_early for value in values)],
        first_backward=step.order[min(value.first_late for value in values)],
        last_backward=step.order[max(value.last_late for value in values)],
        sources=sources,
        seconds=seconds,
        count=1,
        total=seconds,
    )


def _way(step: Step, start: int, kept: Sequence[bool]) -> tuple[set[fx.Node], float]:
    """From where a maker's values are rebuilt, and the seconds of all that runs, each once."""
    sources: set[fx.Node] = set()
    path = {start: None}
    queue = [start]
    while queue:
        maker = step.makers[queue.pop()]
        sources.update(maker.given)
        for read in maker.reads:
            source = step.values[read].maker
            if kept[read]:
                sources.add(step.makers[source].nodes[0])
            elif source not in path:
                path[source] = None
                queue.append(source)
    return sources, sum(step.makers[m].seconds for m in sorted(path))


def update(t: Candidate, chosen: Iterable[Candidate], remaining: Iterable[Candidate]) -> None:
    """What choosing ``t`` means for those chosen before it, and for those that remain."""
    for r in chosen:
        if t.node in r.sources:
            _read_through(r, t)
            t.count += 1
    for c in remaining:
        if t.node in c.sources:
            if not t.first_backward <= c.first_backward <= t.last_backward:
                _read_through(c, t)
                c.total = c.seconds * (1 + sum(c.node in r.sources for r in chosen))
        elif c.node in t.sources:
            c.total = t.count * c.seconds


def _read_through(reader: Candidate, dropped: Candidate) -> None:
    """Let ``reader`` be rebuilt from what ``dropped`` is rebuilt from."""
    reader.sources = (reader.sources - {dropped.node}) | dropped.sources
    reader.seconds += dropped.seconds


def greedy(remaining: list[Candidate]) -> list[fx.Node]:
    """All candidates in the order in which the paper's policy chooses them.

    ``remaining`` is used up.
    """
    chosen: list[Candidate] = []
    while remaining:
        t = max(remaining, key=lambda c: c.ratio)
        remaining.remove(t)
        update(t, chosen, remaining)
        chosen.append(t)
    return [c.node for c in chosen]


def choose(
    simulator: Simulator, remaining: list[Candidate], budget: int, watch: Watch | None = None
) -> tuple[list[fx.Node], Simulated]:
    """The same, one step at a time: only what lies idle at the peak, and only if it helps.

    Args:
        simulator: of the step.
        remaining: its candidates, or some of them; it is used up.
        budget: bytes; the choice ends where the peak is within it.
        watch: sees every choice before the update, with what was chosen and what remains.
    """
    order = simulator.step.order
    chosen: list[Candidate] = []
    now = simulator.simulate(dropped(simulator, []))
    while now.peak > budget:
        at = order[now.places[0]]
        idle = [c for c in remaining if c.last_forward < at < c.first_backward]
        if not idle:
            break
        t = max(idle, key=lambda c: c.ratio)
        remaining.remove(t)
        then = simulator.simulate(dropped(simulator, [c.node for c in (*chosen, t)]))
        if then.peak > now.peak:
            continue
        if watch:
            watch(t, chosen, remaining)
        update(t, chosen, remaining)
        chosen.append(t)
        now = then
    return [c.node for c in chosen], now


def dropped(simulator: Simulator, drop: Collection[fx.Node]) -> list[int]:
    """The fates when all that the nodes ``drop`` make is recomputed, and nothing else."""
    fates, gone = simulator.default(), set(drop)
    for maker in simulator.step.makers:
        if maker.nodes[0] in gone:
            for value in maker.values:
                fates[value] = Fate.DROPPED
    return fates
