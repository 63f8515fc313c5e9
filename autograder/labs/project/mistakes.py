"""The numbers that the usual mistakes of notebook 05 give, by the words that cure each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import accumulate

from torch import fx

from autograder.labs.project import reference
from autograder.labs.project.careless import careless_peak
from lab_utils.steps.candidate import Candidate
from lab_utils.steps.kept import kept_values
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order
from lab_utils.steps.storage import is_operation, storages


def mistaken_peaks(graph: fx.Graph, drop: Collection[fx.Node]) -> dict[str, int]:
    """The peaks that the usual mistakes give, by the words that cure each."""
    line = live_bytes(graph, program_order(graph))
    step = {node: place for place, node in enumerate(line.schedule.order)}
    dropped = {c.node: c for c in reference.describe(graph, {})}
    gone = {node: dropped[node] for node in drop if node in dropped}

    def peak(without_clones: bool) -> int:
        change = [0] * (len(line.schedule) + 2)
        for life in line.lifetimes:
            c = gone.get(life.storage.owner)
            last = life.last if c is None else step[c.last_forward]
            change[life.first] += life.nbytes
            change[last + 1] -= life.nbytes
            if c is not None and not without_clones:
                change[step[c.first_backward]] += life.nbytes
                change[life.last + 1] -= life.nbytes
        return max(accumulate(change))

    as_in_14 = {
        "What the step returns is held to the end: the gradients, and the loss.": careless_peak(
            graph, drop, "outputs"
        ),
        "The placeholders are in memory all the time.": careless_peak(graph, drop, "placeholders"),
    }
    if not drop:
        return as_in_14
    sum_of_sizes = sum(c.nbytes for c in gone.values())
    return as_in_14 | {
        "That is the plan's sum: the sizes that you drop. The peak falls by less.": line.peak
        - sum_of_sizes,
        "That is what you drop, not the peak that is left.": sum_of_sizes,
        "Recompute buffers are left out: clones are in memory, too.": peak(without_clones=True),
        "What a clone reads and makes on the way is in memory, too: the recompute buffers of "
        "the whole path.": peak(without_clones=False),
        "That is the peak without recomputation: the originals die in forward.": line.peak,
    }


def mistaken_seconds(c: Candidate, seconds: Mapping[fx.Node, float]) -> dict[str, float]:
    """What the usual mistakes give for the cost of ``c``, by the words that cure each."""
    kept, memory = kept_values(c.node.graph, []), storages(c.node.graph)

    def visits(node: fx.Node) -> float:
        below = [n for n in node.all_input_nodes if n not in kept and n.op != "placeholder"]
        return seconds[node] * is_operation(node) + sum(map(visits, below))

    path = reference.rebuild(c.node, kept, memory).path
    found = {
        "A shared operator is counted twice: it runs once for all who need it.": visits(c.node),
        "That sums the sources, which are there already. Sum the path between them and the "
        "value.": sum(seconds[n] for n in c.sources),
        "The value itself is part of its path.": sum(seconds[n] for n in path if n is not c.node),
    }
    return {hint: cost for hint, cost in found.items() if cost != c.seconds}
