"""The selection that notebook 05 asks for, and the numbers that its usual mistakes give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from torch import fx

from lab_utils.again import rebuildable, run_again
from lab_utils.effects import Storage, is_operation, storages
from lab_utils.graph import copy_graph, outputs
from lab_utils.kept import in_backward, is_early, kept_values
from lab_utils.lab4b.records import Candidate, Plan, Rebuild, Simulated
from lab_utils.memory import live_bytes
from lab_utils.schedule import program_order


def candidates(graph: fx.Graph) -> dict[fx.Node, int]:
    """What may be dropped, and the bytes that this frees between forward and backward."""
    memory, can = storages(graph), rebuildable(graph)
    late = {s for n in _calls(graph, late=True) for r in n.all_input_nodes for s in memory[r]}
    returned = {s for node in outputs(graph).values() for s in memory[node]}
    owned = {n: [s for s in memory[n] if s.owner is n and s in late] for n in graph.nodes}
    return {
        node: sum(s.nbytes for s in held)
        for node, held in owned.items()
        if held and node in can and returned.isdisjoint(memory[node])
    }


def rebuild(
    node: fx.Node, kept: Collection[fx.Node], memory: Mapping[fx.Node, tuple[Storage, ...]]
) -> Rebuild:
    """Where the walk back from ``node`` stops, and the operators on the way, each once."""
    sources: set[fx.Node] = set()
    seen: dict[fx.Node, None] = {}
    queue = [node]
    while queue:
        value = queue.pop()
        if value in seen:
            continue
        seen[value] = None
        for read in value.all_input_nodes:
            if read in kept or read.op == "placeholder":
                sources |= {s.owner for s in memory[read]}
            else:
                queue.append(read)
    return Rebuild(sources, sorted(filter(is_operation, seen)))


def describe(graph: fx.Graph, seconds: Mapping[fx.Node, float]) -> list[Candidate]:
    """All candidates with the cost of rebuilding each from what is kept at first."""
    memory, kept = storages(graph), kept_values(graph, [])
    users: dict[fx.Node, list[fx.Node]] = {}
    for node in graph.nodes:
        if node.op == "call_function":
            touched = {s.owner for value in (node, *node.all_input_nodes) for s in memory[value]}
            for owner in touched:
                users.setdefault(owner, []).append(node)
    found = []
    for node, nbytes in candidates(graph).items():
        sources, path = rebuild(node, kept, memory)
        cost = sum(seconds[n] for n in path)
        early = [u for u in users[node] if not in_backward(u)]
        late = [u for u in users[node] if in_backward(u)]
        uses = (early[-1], late[0], late[-1])
        found.append(Candidate(node, nbytes, *uses, sources, cost, count=1, total=cost))
    return found


def update(t: Candidate, chosen: Sequence[Candidate], remaining: Sequence[Candidate]) -> None:
    """What choosing ``t`` means for those chosen before it, and for those that remain."""
    for r in chosen:
        if t.node in r.sources:
            r.sources = (r.sources - {t.node}) | t.sources
            r.seconds += t.seconds
            t.count += 1
    for c in remaining:
        alive_again = t.first_backward <= c.first_backward <= t.last_backward
        if t.node in c.sources and not alive_again:
            c.sources = (c.sources - {t.node}) | t.sources
            c.seconds += t.seconds
            c.total = c.seconds * (1 + sum(c.node in r.sources for r in chosen))
        elif c.node in t.sources:
            c.total = t.count * c.seconds


@dataclass(frozen=True)
class Outcome:
    """What a set of drops leads to."""

    nbytes: int
    nodes: tuple[fx.Node, ...]
    """All nodes of the given graph at which (or for which) the peak is held."""
    seconds: float


def outcome(
    graph: fx.Graph, drop: Collection[fx.Node], seconds: Mapping[fx.Node, float]
) -> Outcome:
    """Rewrite a copy, and measure it: the peak in program order, and the work that is added."""
    copy, new = copy_graph(graph)
    old = {there: here for here, there in new.items()}
    clones, made_for = _rewrite(copy, [new[n] for n in drop])
    line = live_bytes(copy, program_order(copy))
    nodes = [line.schedule.steps[i][0] for i, held in enumerate(line.total) if held == line.peak]
    at = dict.fromkeys(old[made_for.get(node, node)] for node in nodes)
    work = sum(seconds[old[n]] for n in clones if is_operation(n))
    return Outcome(line.peak, tuple(at), work)


def _rewrite(
    graph: fx.Graph, drop: Collection[fx.Node]
) -> tuple[dict[fx.Node, fx.Node], dict[fx.Node, fx.Node]]:
    """Clones by original, and the reader that each clone was made for."""
    kept = kept_values(graph, drop)
    lost = {n for n in _calls(graph, late=False) if n not in kept}
    clones: dict[fx.Node, fx.Node] = {}
    made_for: dict[fx.Node, fx.Node] = {}
    for reader in _calls(graph, late=True):
        missing: set[fx.Node] = set()
        queue = [n for n in reader.all_input_nodes if n in lost]
        while queue:
            value = queue.pop()
            if value not in clones and value not in missing:
                missing.add(value)
                queue += [n for n in value.all_input_nodes if n in lost]
        for value in sorted(missing):
            with graph.inserting_before(reader):
                clones[value] = run_again(graph, value, lambda n: clones.get(n, n))
            made_for[clones[value]] = reader
        for value in [n for n in reader.all_input_nodes if n in clones]:
            reader.replace_input_with(value, clones[value])
    return clones, made_for


def choose(
    graph: fx.Graph,
    seconds: Mapping[fx.Node, float],
    budget: int,
    watch: Callable[[Candidate, list[Candidate], list[Candidate]], None] | None = None,
) -> Plan:
    """The greedy plan. ``watch`` sees every choice, with what was chosen and what remains."""
    chosen: list[Candidate] = []
    remaining = describe(graph, seconds)
    now = simulate(graph, [])
    while now.nbytes > budget:
        idle = [c for c in remaining if c.last_forward < now.node < c.first_backward]
        if not idle:
            break
        t = max(idle, key=lambda c: c.ratio)
        remaining.remove(t)
        then = simulate(graph, [c.node for c in (*chosen, t)])
        if then.nbytes > now.nbytes:
            continue
        if watch:
            watch(t, chosen, remaining)
        update(t, chosen, remaining)
        chosen.append(t)
        now = then
    return Plan([c.node for c in chosen], now.nbytes)


def simulate(graph: fx.Graph, drop: Collection[fx.Node]) -> Simulated:
    """The peak of the rewritten step, and the first node at which it is held."""
    found = outcome(graph, drop, dict.fromkeys(graph.nodes, 0.0))
    return Simulated(found.nbytes, found.nodes[0])


def mistaken_peaks(graph: fx.Graph, drop: Collection[fx.Node]) -> dict[str, int]:
    """The peaks that the usual mistakes give, by the words that cure each."""
    line = live_bytes(graph, program_order(graph))
    step = {node: place for place, node in enumerate(line.schedule.order)}
    dropped = {c.node: c for c in describe(graph, dict.fromkeys(graph.nodes, 1.0))}
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

    sum_of_sizes = sum(c.nbytes for c in gone.values())
    return {
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

    path = rebuild(c.node, kept, memory).path
    found = {
        "A shared operator is counted twice: it runs once for all who need it.": visits(c.node),
        "That sums the sources, which are there already. Sum the path between them and the "
        "value.": sum(seconds[n] for n in c.sources),
        "The value itself is part of its path.": sum(seconds[n] for n in path if n is not c.node),
    }
    return {hint: cost for hint, cost in found.items() if cost != c.seconds}


def copied(c: Candidate) -> Candidate:
    """A candidate that later updates leave alone."""
    return replace(c, sources=set(c.sources))


def _calls(graph: fx.Graph, late: bool) -> list[fx.Node]:
    return [
        n
        for n in graph.nodes
        if n.op == "call_function" and (in_backward(n) if late else is_early(n))
    ]
