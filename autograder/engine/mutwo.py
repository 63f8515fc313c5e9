"""The greedy policy of μ-TWO (Purandare and others, MLSys 2023), for recomputation alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from torch import fx

from autograder.engine.analysis import step_of
from autograder.engine.values import Step


@dataclass
class Candidate:
    """A value that forward makes and backward reads, and what it takes to rebuild it."""

    name: str
    nbytes: int
    sources: set[str]
    """The nearest kept values, parameters and inputs that it is rebuilt from."""
    seconds: float
    """Time of all operators between the sources and the value, each counted once."""
    first_backward: int
    """Place of its first reader in backward."""
    last_backward: int
    total_seconds: float = field(default=-1.0)
    """``seconds`` times the number of times that it will run; once to begin with."""

    def __post_init__(self) -> None:
        if self.total_seconds < 0:
            self.total_seconds = self.seconds

    @property
    def ratio(self) -> float:
        """Bytes saved for each second spent; more is better."""
        return self.nbytes / self.total_seconds if self.total_seconds else float("inf")


def candidates(graph: fx.Graph, seconds: Mapping[str, float]) -> dict[str, Candidate]:
    """All values that may be recomputed, by name; ``seconds`` is each node's run time."""
    return step_candidates(step_of(graph, seconds))


def step_candidates(step: Step) -> dict[str, Candidate]:
    """The candidates of a step that has been analysed."""
    kept = [value.last_late >= 0 or value.pinned is not None for value in step.values]
    found: dict[str, Candidate] = {}
    for value in step.values:
        if value.last_late < 0 or value.pinned:
            continue
        sources: set[str] = set()
        path = [value.maker]
        for maker in path:  # grows while it is walked
            given = (n for node in step.makers[maker].nodes for n in node.all_input_nodes)
            sources |= {n.name for n in given if n.op == "placeholder"}
            for read in step.makers[maker].reads:
                if kept[read]:
                    sources.add(step.values[read].name)
                elif step.values[read].maker not in path:
                    path.append(step.values[read].maker)
        found[value.name] = Candidate(
            value.name,
            value.nbytes,
            sources,
            sum(step.makers[maker].seconds for maker in path),
            value.first_late,
            value.last_late,
        )
    return found


def greedy(
    remaining: dict[str, Candidate], fits: Callable[[Sequence[str]], bool] = lambda _: False
) -> list[str]:
    """What to recompute, in the order of choice, until ``fits(chosen)`` or nothing is left.

    ``remaining`` is used up: chosen candidates leave it, and all change as the paper
    tells.
    """
    chosen: dict[str, Candidate] = {}
    while remaining and not fits(list(chosen)):
        best = max(remaining.values(), key=lambda c: c.ratio)
        del remaining[best.name]
        count = _update_chosen(best, chosen)
        best.total_seconds = count * best.seconds
        chosen[best.name] = best
        _update_remaining(best, count, chosen, remaining)
    return list(chosen)


def _update_chosen(best: Candidate, chosen: dict[str, Candidate]) -> int:
    """Earlier choices that were to read ``best`` rebuild it; how often it runs in all."""
    count = 1
    for other in chosen.values():
        if best.name in other.sources:
            _read_through(other, best)
            other.total_seconds += best.seconds
            count += 1
    return count


def _update_remaining(
    best: Candidate, count: int, chosen: dict[str, Candidate], remaining: dict[str, Candidate]
) -> None:
    for other in remaining.values():
        alive_again = best.first_backward <= other.first_backward <= best.last_backward
        if best.name in other.sources and not alive_again:
            _read_through(other, best)
            readers = sum(other.name in c.sources for c in chosen.values())
            other.total_seconds = (1 + readers) * other.seconds
        if other.name in best.sources:
            other.total_seconds = count * other.seconds


def _read_through(reader: Candidate, dropped: Candidate) -> None:
    """Let ``reader`` be rebuilt from what ``dropped`` is rebuilt from."""
    reader.sources = (reader.sources - {dropped.name}) | dropped.sources
    reader.seconds += dropped.seconds
