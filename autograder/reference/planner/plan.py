"""Plans: what to recompute so that a training step stays within a budget of bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from torch import fx

from autograder.reference.analysis import step_of
from autograder.reference.apply import rewrite_with
from autograder.reference.planner.search import Choice, Search
from autograder.reference.simulate import Fate, Simulator
from autograder.reference.values import NEVER, Step
from lab_utils.kit.words import size
from lab_utils.steps.kept import is_early
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


@dataclass(frozen=True)
class Plan:
    """What is recomputed, what that costs, and what it saves. Bytes and seconds."""

    step: Step
    budget: int
    fates: tuple[int, ...]
    recomputed: tuple[Recomputed, ...]
    kept: dict[str, str]
    """Values that cannot be recomputed, each with the reason."""
    seconds: float
    """Run time of all that is recomputed."""
    peak: int
    """Simulated, with all that recomputation itself holds."""
    peak_before: int
    """Without recomputation."""
    floor: int
    """No plan can go below it: what one operator needs, and what is in memory anyway."""
    floor_at: str
    """The operator that sets the floor, and the kinds of memory that it is made of."""

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
        if self.budget < self.floor:
            why = f"below the floor of {size(self.floor)}, which is set by {self.floor_at}"
        else:
            why = "not reached"
        return f"the budget of {size(self.budget)} is {why}. Best plan: {text}"


def plan(graph: fx.Graph, budget: int, seconds: Mapping[str, float]) -> Plan:
    """The cheapest plan found whose peak in program order is at most ``budget`` bytes.

    Args:
        graph: a training step, as ``trace_training_step`` makes it.
        budget: bytes, static memory (weights, inputs, optimizer state) included.
        seconds: run time of each node by name, measured or estimated.

    Where no plan is within the budget, the one with the lowest peak; ``str(plan)`` says why.
    """
    step = step_of(graph, seconds)
    return describe(step, budget, Search(step, budget).run())


def apply(plan: Plan, control: bool = True) -> fx.Graph:
    """A copy of the plan's graph that recomputes what the plan says.

    With ``control``, clones wait for their moment under any scheduler.
    """
    return rewrite_with(plan.step, plan.fates, control).graph


def describe(step: Step, budget: int, choice: Choice) -> Plan:
    """The plan that a choice of fates amounts to."""
    again = {m for m, place in enumerate(choice.result.reruns) if place < NEVER}
    recomputed = [
        Recomputed(
            value.name,
            value.nbytes,
            tuple(_sources(step, value.maker)),
            step.makers[value.maker].seconds,
            fate == Fate.PACKED,
        )
        for value, fate in zip(step.values, choice.fates, strict=True)
        if fate and value.maker in again
    ]
    simulator = Simulator(step)
    floor, floor_at = lowest_peak(step)
    return Plan(
        step,
        budget,
        choice.fates,
        tuple(recomputed),
        {v.name: v.pinned for v in step.values if v.pinned},
        choice.result.seconds,
        choice.result.peak,
        simulator.simulate(simulator.default()).peak,
        floor,
        floor_at,
    )


def lowest_peak(step: Step) -> tuple[int, str]:
    """A bound that no plan can go below, in bytes, and what sets it, in words.

    While a node runs, what it reads and makes is in memory, and so is all that no plan
    changes: placeholders, gradients, pinned values.
    """
    total, peak, at = 0, 0, 0
    change: Counter[int] = Counter()
    needed: Counter[int] = Counter()
    for first, last, nbytes in step.fixed:
        change[first] += nbytes
        change[last + 1] -= nbytes
    for value in step.values:
        if value.pinned:
            change[value.born] += value.nbytes
            change[max(value.last_early, value.last_late) + 1] -= value.nbytes
        else:
            for place in value.touched:
                needed[place] += value.nbytes
    for place in range(len(step.order)):
        total += change[place]
        if total + needed[place] > peak:
            peak, at = total + needed[place], place
    if not step.order:
        return 0, "nothing"
    line = live_bytes(step.graph, program_order(step.graph))
    kinds: Counter[str] = Counter()
    for life in line.alive(at):
        if not is_early(life.storage.owner) or life.storage.owner.op == "placeholder":
            kinds[life.kind] += life.nbytes
    parts = ", ".join(f"{size(nbytes)} of {kind}" for kind, nbytes in kinds.most_common(3))
    return peak, f"{step.order[at].name} ({step.order[at].meta['phase']}), with {parts} in memory"


def _sources(step: Step, maker: int) -> list[str]:
    read = step.makers[maker]
    return [*(step.values[index].name for index in read.reads), *(n.name for n in read.given)]
