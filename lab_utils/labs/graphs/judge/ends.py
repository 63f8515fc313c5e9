"""Where backward begins: what only its first nodes read is in memory at that moment anyway."""

from __future__ import annotations

from torch import fx

from lab_utils.labs.graphs.judge.rewrite import is_late
from lab_utils.labs.graphs.judge.timeline import Edges, Timeline, is_activation
from lab_utils.steps.compare.structure import Structure


def ends_of(side: Structure) -> dict[fx.Node, fx.Node]:
    """Activations of ``side`` that backward reads where it begins and nowhere else, with who does.

    Little is won by rebuilding them.
    """
    line = Timeline({n: [read for _, read in side.reads[n]] for n in side.nodes}, {}, {}, {})
    if line.from_outside():
        return {}
    readers: Edges = {node: [] for node in line.reads}
    for node in filter(is_late, line.reads):
        for read in line.reads[node]:
            readers[read].append(node)
    begin = dict.fromkeys(line.read_the_end())
    queue = list(begin)
    while queue:  # on to the first gradient that several nodes read
        match readers[queue.pop()]:
            case [one] if all(n in begin for n in line.reads[one] if is_late(n)):
                begin[one] = None
                queue.append(one)
    return {
        n: readers[n][0]
        for reader in begin
        for n in line.reads[reader]
        if is_activation(n) and all(r in begin for r in readers[n])
    }
