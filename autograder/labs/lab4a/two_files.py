"""Judge two graphs and no code: what was traced, and what a student made of it.

Works on any pair of graphs, in our form (which is run as well) and in the older thin
one (where each value counts as one unit). It is the judge of the tasks; here, nodes are
first told apart by structure, so that other names make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from torch import fx

from autograder.labs.lab4a.guarded_run import alike, check_size, seeded_run
from autograder.labs.lab4a.pair_verdict import PairVerdict
from autograder.reference.rewrite import rewrite
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.judge.clones import (
    clone_findings,
    forward_changes,
    too_much_work,
    work,
)
from lab_utils.labs.graphs.judge.pairing import by_structure
from lab_utils.labs.graphs.judge.reads import rewire_findings
from lab_utils.labs.graphs.judge.timeline import Timeline, timeline_as_meant
from lab_utils.labs.graphs.judge.waits import early_clones, repeated_waits, wait_findings
from lab_utils.labs.graphs.judge.waste import dead_clones, wasted_clones
from lab_utils.steps.compare.diff import Diff, Differs, diff
from lab_utils.steps.graph import (
    CycleError,
    Phase,
    clear_control_dependencies,
    copy_graph,
    is_opaque,
    phase,
    placeholders,
    topological_order,
)
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import example_values
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import dependencies

#: How many operators may run again for each one that must.
WORK = 4


def judge_pair(
    base: fx.Graph,
    rewritten: fx.Graph,
    names: tuple[str, str] = ("the base", "the rewritten graph"),
) -> PairVerdict:
    """The verdict on A-1, A-2 and A-3 for ``rewritten``, which was made from ``base``.

    ``names`` are what messages call the two: their files, where they have some.

    Raises:
        LabError: one of them has no legal order or no operator, is too large to be run, or
            cannot be run; or they are no pair. The message tells which one, and the node.
            Control edges of ``rewritten`` that form a circle are a mistake in A-3 instead.
    """
    for graph, name in zip((base, rewritten), names, strict=True):
        check_size(graph, name)
    if is_opaque(base) != is_opaque(rewritten):
        drawing, program = names if is_opaque(base) else reversed(names)
        raise LabError(
            f"{drawing} is a drawing without operators, {program} a program: "
            "two drawings can be judged, or two programs"
        )
    return _PairJudge(base, rewritten, names).verdict()


class _PairJudge:
    def __init__(self, base: fx.Graph, rewritten: fx.Graph, names: tuple[str, str]) -> None:
        self._base, self._graph, self._names = base, rewritten, names
        self._drawn = is_opaque(base)
        self._free = without_waits(rewritten)
        self._rewrite = by_structure(base, rewritten)
        self._given = {} if self._drawn else self._pair_given()

    def _pair_given(self) -> dict[str, str]:
        """The base's placeholder for each one of the rewritten graph, by name."""
        a, b = self._rewrite.base, self._rewrite.after
        given = {
            node.name: of_base.name
            for node, of_base in self._rewrite.base_of.items()
            if node.op == of_base.op == "placeholder"
            and b.facts[node].value == a.facts[of_base].value
        }
        for graph, paired, (here, there) in (
            (self._graph, set(given), reversed(self._names)),
            (self._base, set(given.values()), self._names),
        ):
            if alone := [n.name for n in placeholders(graph) if n.name not in paired]:
                raise LabError(
                    f"{here}: node {alone[0]} is given to it, but nothing like it to {there}: "
                    "the one was not made from the other"
                )
        return given

    def verdict(self) -> PairVerdict:
        findings = {"A-1": self._first, "A-2": self._second, "A-3": self._third}
        if not self._rewrite.clones:
            findings = {part: (_NOTHING[part], *found) for part, found in findings.items()}
        unit = "values" if self._drawn else "bytes"
        return PairVerdict(findings, self._peaks(), unit, self._differences(), tuple(self._hints()))

    @cached_property
    def _faulty(self) -> dict[fx.Node, list[Finding]]:
        return clone_findings(self._rewrite)

    @cached_property
    def _dead(self) -> tuple[list[fx.Node], set[fx.Node]]:
        """As if everything were rewired: a reader that is missing is told of in A-2."""
        return dead_clones(self._line.reads, self._rewrite.clones)

    @cached_property
    def _line(self) -> Timeline:
        return timeline_as_meant(self._rewrite, self._faulty)

    @cached_property
    def _first(self) -> tuple[Finding, ...]:
        found = [*forward_changes(self._rewrite), *(x for xs in self._faulty.values() for x in xs)]
        found += self._wasted
        if self._reference is not None:
            needed = work(n for n in self._reference.nodes if phase(n) is Phase.RECOMPUTE)
            found += too_much_work(self._rewrite.clones, WORK * needed) if needed else []
        return tuple(found)

    @cached_property
    def _wasted(self) -> list[Finding]:
        return wasted_clones(self._rewrite, self._line.reads)

    @cached_property
    def _second(self) -> tuple[Finding, ...]:
        found = rewire_findings(self._rewrite)
        if not (self._drawn or found or self._first or self._same_values()):
            look = "A clone computes something else than its original."
            found = [Finding("other gradients", "the same as without recomputation", look)]
        return tuple(found)

    @cached_property
    def _third(self) -> tuple[Finding, ...]:
        return tuple(wait_findings(self._line))

    def _same_values(self) -> bool:
        """Whether both, run on the same numbers, leave the same loss, gradients and weights."""
        values = example_values(self._base)
        wanted = seeded_run(self._base, values, self._names[0])
        mine = {name: values[of_base] for name, of_base in self._given.items()}
        given = seeded_run(self._free, mine, self._names[1])
        state = {self._given[name]: value for name, value in given.state.items()}
        return wanted.state.keys() == state.keys() and alike(
            [*wanted.outputs.values(), *wanted.state.values()],
            [*given.outputs.values(), *(state[name] for name in wanted.state)],
        )

    def _peaks(self) -> dict[str, int]:
        peaks = {
            "without recomputation": live_bytes(self._base, as_soon_as_possible(self._base)),
            "rewritten, program order": live_bytes(self._free, program_order(self._free)),
        }
        try:
            eager = live_bytes(self._graph, as_soon_as_possible(self._graph))
            peaks["rewritten, as soon as possible"] = eager
        except CycleError:  # told of in A-3
            pass
        return {name: line.peak for name, line in peaks.items()}

    def _hints(self) -> Iterator[str]:
        if not self._rewrite.clones:
            return
        dead = [clone.name for clone in self._dead[0] if clone not in self._faulty]
        if dead and not self._wasted:
            yield f"nobody reads {dead[0]}{_more(dead)}: work for nothing"
        if not self._third and (repeated := repeated_waits(self._line)):
            edges = [f"{late.name} waits for {early.name}" for early, late in repeated]
            yield f"{edges[0]}{_more(edges)}, as the data edges have it anyway: nothing changes"

    @cached_property
    def _reference(self) -> fx.Graph | None:
        """What the engine makes of the same drops; None where it refuses."""
        try:
            return rewrite(self._base, sorted(n.name for n in self._rewrite.drop)).graph
        except LabError:
            return None

    def _differences(self) -> str:
        if self._reference is None or not self._rewrite.drop:
            return ""
        reference, mine = self._reference, self._free
        if self._third:
            # What waits for what is compared where it is wrong: there is more than one right way.
            try:
                topological_order(self._graph.nodes, dependencies(self._graph))
                mine = self._graph
            except CycleError:
                pass
        if mine is self._free:
            reference = without_waits(reference)
        found = self._at_fault(diff(reference, mine))
        return "" if found.equal else str(found)

    def _at_fault(self, found: Diff) -> Diff:
        """Without waits that differ and are right: only who runs too early waits wrongly."""
        if not self._third:
            return found
        try:
            early = {clone.name for clone in early_clones(self._line)}
        except CycleError:
            return found
        clones = {clone.name for clone in self._rewrite.clones}
        return Diff(
            tuple(
                one
                for one in found
                if one.kind not in (Differs.MUST_WAIT, Differs.NEEDLESS_WAIT)
                or one.node not in clones
                or one.node in early
            )
        )


_NOTHING = {
    "A-1": Finding(
        "no node is recomputed",
        "clones of the dropped activations",
        "Clone what rebuilds the dropped activations into backward.",
    ),
    "A-2": Finding(
        "nothing is rewired",
        "backward reads clones",
        "Backward reads the stored activations, as before.",
    ),
    "A-3": Finding(
        "nothing waits",
        "clones that wait for backward",
        "There is no clone that could wait.",
    ),
}


def without_waits(graph: fx.Graph) -> fx.Graph:
    """A copy of ``graph`` without control edges."""
    copy, _ = copy_graph(graph)
    for node in copy.nodes:
        clear_control_dependencies(node)
    return copy


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
