"""What notebook 05 asks for, answered by the engine.

The notebook has fewer candidates than the engine: random masks, and what is overwritten in
place, stay in memory there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from torch import fx

from autograder.reference import mutwo
from autograder.reference.analysis import step_of
from autograder.reference.apply import rewrite_with
from autograder.reference.rewrite import recompute_set
from autograder.reference.simulate import Simulator
from lab_utils.labs.project.records import Plan, Rebuild, Simulated
from lab_utils.steps.candidate import Candidate
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.rerun import rebuildable
from lab_utils.steps.schedule import program_order
from lab_utils.steps.storage import Storage, is_operation

Seconds = Mapping[fx.Node, float]

update = mutwo.update


def candidates(graph: fx.Graph) -> dict[fx.Node, int]:
    """What may be dropped, and the bytes that this frees between forward and backward."""
    return {c.node: c.nbytes for c in describe(graph, {})}


def describe(graph: fx.Graph, seconds: Seconds) -> list[Candidate]:
    """All candidates with the cost of rebuilding each from what is kept at first."""
    return _described(_simulator(graph, seconds))


def rebuild(
    node: fx.Node, kept: Collection[fx.Node], memory: Mapping[fx.Node, tuple[Storage, ...]]
) -> Rebuild:
    """Where the walk back from ``node`` stops, and the operators on the way, each once."""
    lost = {n for n in node.graph.nodes if n.op == "call_function"} - set(kept)
    path = recompute_set([node], lost)
    reads = {read for value in path for read in value.all_input_nodes}
    sources = {storage.owner for read in reads - lost for storage in memory[read]}
    return Rebuild(sources, sorted(filter(is_operation, path)))


@dataclass(frozen=True)
class Outcome:
    """What a set of drops leads to."""

    nbytes: int
    nodes: tuple[fx.Node, ...]
    """All nodes of the given graph at which (or for which) the peak is held."""
    seconds: float


class Outcomes:
    """What sets of drops lead to, for one graph."""

    def __init__(self, graph: fx.Graph, seconds: Seconds) -> None:
        self.simulator = _simulator(graph, seconds)

    def of(self, drop: Collection[fx.Node]) -> Outcome:
        """The peak in program order, and the work that is added."""
        found = self.simulator.simulate(mutwo.dropped(self.simulator, drop))
        nodes = tuple(self.simulator.step.order[place] for place in found.places)
        return Outcome(found.peak, nodes, found.seconds)


def memory_line(graph: fx.Graph, drop: Collection[fx.Node]) -> MemoryLine:
    """The bytes that the rewritten step holds."""
    simulator = _simulator(graph, {})
    rewritten = rewrite_with(simulator.step, mutwo.dropped(simulator, drop)).graph
    return live_bytes(rewritten, program_order(rewritten))


def simulate(graph: fx.Graph, drop: Collection[fx.Node]) -> Simulated:
    """The peak of the rewritten step, and the first node at which it is held."""
    found = Outcomes(graph, {}).of(drop)
    return Simulated(found.nbytes, found.nodes[0])


def choose(
    graph: fx.Graph, seconds: Seconds, budget: int, watch: mutwo.Watch | None = None
) -> Plan:
    """The greedy plan. ``watch`` sees every choice, with what was chosen and what remains."""
    simulator = _simulator(graph, seconds)
    drop, found = mutwo.choose(simulator, _described(simulator), budget, watch)
    return Plan(drop, found.peak)


def _simulator(graph: fx.Graph, seconds: Seconds) -> Simulator:
    return Simulator(step_of(graph, {node.name: cost for node, cost in seconds.items()}))


def _described(simulator: Simulator) -> list[Candidate]:
    can = rebuildable(simulator.step.graph)
    return [c for c in mutwo.describe(simulator.step) if c.node in can]
