"""Plans: what to recompute so that a training step stays within a budget of bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import fx

from autograder.reference.analysis import step_of
from autograder.reference.apply import rewrite_by, rewrite_with
from autograder.reference.planner.floor import TOLD, Floor
from autograder.reference.planner.reach import best_choice
from autograder.reference.planner.search import Choice
from autograder.reference.simulate import Fate, Simulator
from autograder.reference.timetable import Timetable
from autograder.reference.values import NEVER, Step
from lab_utils.kit.words import size
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order


@dataclass(frozen=True)
class Recomputed:
    """One value that backward rebuilds."""

    name: str
    nbytes: int
    sources: tuple[str, ...]
    """The kept values and placeholders that its maker reads, or other recomputed values."""
    seconds: float
    """Time of its maker alone."""
    packed: bool
    """Whether a random mask is kept in one byte an element, not drawn again."""
    times: int
    """How often it is rebuilt."""


@dataclass(frozen=True)
class Plan:
    """What is recomputed, what that costs, and what it saves. Bytes and seconds."""

    step: Step
    budget: int
    fates: tuple[int, ...]
    table: Timetable | None
    """When what runs again, where the fates alone do not say it."""
    recomputed: tuple[Recomputed, ...]
    kept: dict[str, str]
    """Values that cannot be recomputed, each with the reason."""
    seconds: float
    """Run time of all that is recomputed."""
    peak: int
    """Simulated, with all that recomputation itself holds."""
    peak_before: int
    """Without recomputation."""
    floor: Floor
    """No plan can go below it: what one operator needs, and what is in memory anyway."""

    @property
    def fits(self) -> bool:
        """Whether the peak is within the budget."""
        return self.peak <= self.budget

    def __str__(self) -> str:
        text = (
            f"peak {size(self.peak)} in place of {size(self.peak_before)}: {len(self.recomputed)} "
            f"values recomputed in {1e3 * self.seconds:.3g} ms"
        )
        if self.fits:
            return text
        limit = f"the floor of {size(self.floor.nbytes)}, which is set by {self.floor}"
        if self.budget < self.floor.nbytes:
            return f"the budget of {size(self.budget)} is below {limit}. Best plan: {text}"
        return (
            f"no plan was found for the budget of {size(self.budget)}, and this step is too large "
            f"to prove that there is none. Best plan: {text}; it holds most at {self.at_peak()}. "
            f"Surely no plan is below {limit}"
        )

    def at_peak(self) -> str:
        """The step at which the plan holds most, and the largest values of that moment."""
        graph = apply(self)
        line = live_bytes(graph, program_order(graph))
        alive = [f"{x.name} ({size(x.nbytes)} of {x.kind})" for x in line.alive(line.peak_step)]
        return f"{line.schedule.order[line.peak_step].name}: {', '.join(alive[:TOLD])}, …"


def plan(graph: fx.Graph, budget: int, seconds: Mapping[str, float]) -> Plan:
    """The cheapest plan found whose peak in program order is at most ``budget`` bytes.

    Args:
        graph: a training step, as ``trace_training_step`` makes it.
        budget: bytes, static memory (weights, inputs, optimizer state) included.
        seconds: run time of each node by name, measured or estimated.

    Where no plan is within the budget, the one with the lowest peak; ``str(plan)`` says why.
    """
    step = step_of(graph, seconds)
    return describe(step, budget, *best_choice(step, budget))


def apply(plan: Plan, control: bool = True) -> fx.Graph:
    """A copy of the plan's graph that recomputes what the plan says.

    With ``control``, clones wait for their moment under any scheduler.
    """
    if plan.table is not None:
        return rewrite_by(plan.step, plan.table, control).graph
    return rewrite_with(plan.step, plan.fates, control).graph


def describe(step: Step, budget: int, choice: Choice, floor: Floor) -> Plan:
    """The plan that a choice of fates amounts to."""
    again = {m for m, place in enumerate(choice.result.reruns) if place < NEVER}
    recomputed = [
        Recomputed(
            value.name,
            value.nbytes,
            tuple(_sources(step, value.maker)),
            step.makers[value.maker].seconds,
            fate == Fate.PACKED,
            len(choice.result.spans.get(value.maker, "1")),
        )
        for value, fate in zip(step.values, choice.fates, strict=True)
        if fate and value.maker in again
    ]
    simulator = Simulator(step)
    return Plan(
        step,
        budget,
        choice.fates,
        choice.table,
        tuple(recomputed),
        {v.name: v.pinned for v in step.values if v.pinned},
        choice.result.seconds,
        choice.result.peak,
        simulator.simulate(simulator.default()).peak,
        floor,
    )


def _sources(step: Step, maker: int) -> list[str]:
    read = step.makers[maker]
    return [*(step.values[index].name for index in read.reads), *(n.name for n in read.given)]
