"""Right rewrites, each of them changed in one place: for the judge of two graphs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import fx, nn

from autograder.reference.renamed import renamed
from autograder.reference.rewrite import Clones, block_activations, rewrite
from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.graph import (
    Phase,
    add_control_dependency,
    clear_control_dependencies,
    control_dependencies,
    copy_graph,
    kind,
    mark_recomputed,
    operator_name,
    phase,
)
from lab_utils.steps.kept import in_backward, is_early
from lab_utils.steps.schedule import random_order
from lab_utils.steps.storage import is_operation, storages
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Attention, GeluMLP, LlamaMLP, Stack, Workload

aten = torch.ops.aten
KINDS: dict[str, Callable[[], nn.Module]] = {
    "llm": lambda: LlamaMLP(4, 6),
    "gelu": lambda: GeluMLP(4, 6),
    "attention": lambda: Attention(4),
}


@cache
def traced(kind: str, blocks: int) -> fx.Graph:
    """A step of so many blocks of one kind."""
    shape = (3, 5, 4) if kind == "attention" else (8, 4)
    model = Stack([KINDS[kind]() for _ in range(blocks)])
    return trace_workload(Workload(model, torch.randn(shape), torch.randn(shape), nn.MSELoss()))


class Pair(NamedTuple):
    """A step, a rewrite of it (right, until it is changed), and the rewrite's clones."""

    base: fx.Graph
    graph: fx.Graph
    clones: Clones


def rewritten(kind: str, blocks: int, leave: frozenset[int] = frozenset()) -> Pair:
    """A right rewrite; of the droppable activations those numbered in ``leave`` are kept."""
    base = traced(kind, blocks)
    names = block_activations(base)
    drop = [name for place, name in enumerate(names) if place % 7 not in leave]
    return Pair(base, *rewrite(base, drop or names[:1]))


class Mistake(NamedTuple):
    """A mistake that was made: in which part, and the names that its message must hold."""

    part: str
    names: tuple[str, ...]


Change = Callable[[Pair, random.Random], Mistake | None]
"""Makes one mistake in the graph of a pair; None where there is no place for it."""


def _readers(node: fx.Node) -> list[fx.Node]:
    return [r for r in node.users if r.op == "call_function" and in_backward(r)]


def _working(pair: Pair) -> list[tuple[fx.Node, fx.Node]]:
    """Clones that take time, and their originals."""
    return [(o, c) for o, c in pair.clones.items() if is_operation(c)]


def _same_shape(a: fx.Node, b: fx.Node) -> bool:
    one, other = a.meta["val"], b.meta["val"]
    tensors = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
    return tensors and one.shape == other.shape and one.stride() == other.stride()


def wrong_operator(pair: Pair, draw: random.Random) -> Mistake | None:
    """One clone runs something else."""
    others = {aten.silu.default: aten.relu.default, aten.gelu.default: aten.relu.default}
    others |= {aten.mul.Tensor: aten.add.Tensor, aten.sigmoid.default: aten.tanh.default}
    fits = [(o, c) for o, c in _working(pair) if c.target in others]
    if not fits:
        return None
    _, clone = draw.choice(fits)
    clone.target = others[clone.target]  # type: ignore[index]
    return Mistake("A-1", (clone.name,))


def wrong_weight(pair: Pair, draw: random.Random) -> Mistake | None:
    """One clone reads another weight."""
    views = [
        n for n in pair.graph.nodes if kind(n) == "WEIGHT" and is_early(n) and is_operand(pair, n)
    ]
    fits = [
        (c, read, other)
        for _, c in _working(pair)
        for read in c.all_input_nodes
        if read in views
        for other in views
        if other not in c.all_input_nodes and _same_shape(read, other) and other < c
    ]
    if not fits:
        return None
    clone, read, other = draw.choice(fits)
    clone.replace_input_with(read, other)
    return Mistake("A-1", (clone.name, other.name))


def is_operand(pair: Pair, node: fx.Node) -> bool:
    """Whether a clone reads ``node``."""
    clones = set(pair.clones.values())
    return any(reader in clones for reader in node.users)


def reads_what_is_lost(pair: Pair, draw: random.Random) -> Mistake | None:
    """One clone reads the stored value that it should rebuild from a clone."""
    of = {c: o for o, c in pair.clones.items()}
    fits = [(c, r) for c in of for r in c.all_input_nodes if r in of and is_operation(of[r])]
    fits = [(c, r) for c, r in fits if len(r.users) > 1 and is_operation(c)]
    if not fits:
        return None
    clone, read = draw.choice(fits)
    clone.replace_input_with(read, of[read])
    return Mistake("A-1", (clone.name, of[read].name))


def another_value(pair: Pair, draw: random.Random) -> Mistake | None:
    """One clone is a copy of another node, in all that it does."""
    fits = [
        (c, other, p)
        for o, c in _working(pair)
        for p, other in _working(pair)
        if other is not c
        and _same_shape(c, other)
        and (c.target, c.args) != (other.target, other.args)
        and all(r.op == "placeholder" or r < c for r in other.all_input_nodes)
        and c not in other.all_input_nodes
        and not any(call(p) == call(n) for n in pair.clones if n is not p)
    ]
    if not fits:
        return None
    clone, other, _ = draw.choice(fits)
    clone.target, clone.args, clone.kwargs = other.target, other.args, other.kwargs
    return Mistake("A-1", (clone.name,))


def call(node: fx.Node) -> object:
    """What a node runs on what."""
    return node.target, node.args, node.kwargs


def needless_clone(pair: Pair, draw: random.Random) -> Mistake | None:
    """A clone of a value that is kept, and that one backward node reads."""
    kept = [
        n
        for n in pair.graph.nodes
        if n.op == "call_function" and is_early(n) and n not in pair.clones and is_operation(n)
        if kind(n) == "ACTIVATION" and is_operand(pair, n) and len(_readers(n)) > 1
    ]  # fmt: skip
    if not kept:
        return None
    node = draw.choice(kept)
    reader = _readers(node)[0]
    with pair.graph.inserting_before(reader):
        clone = mark_recomputed(pair.graph.node_copy(node, lambda r: pair.clones.get(r, r)))
    reader.replace_input_with(node, clone)
    add_control_dependency(clone, *[r for r in reader.all_input_nodes if in_backward(r)][:1])
    return Mistake("A-1", (clone.name, node.name))


def one_reader_forgotten(pair: Pair, draw: random.Random) -> Mistake | None:
    """One backward node reads the stored value."""
    fits = [(r, o, c) for o, c in pair.clones.items() for r in _readers(c)]
    reader, original, clone = draw.choice(fits)
    reader.replace_input_with(clone, original)
    return Mistake("A-2", (reader.name, original.name))


def nothing_rewired(pair: Pair, draw: random.Random) -> Mistake | None:
    """All backward nodes do."""
    names: tuple[str, ...] = ()
    for original, clone in pair.clones.items():
        for reader in _readers(clone):
            names = names or (reader.name, original.name)
            reader.replace_input_with(clone, original)
    return Mistake("A-2", names)


def forward_reads_a_clone(pair: Pair, draw: random.Random) -> Mistake | None:
    """A forward node reads a clone."""
    fits = [
        (r, o, c)
        for o, c in pair.clones.items()
        for r in o.users
        if r.op == "call_function" and is_early(r) and phase(r) is not Phase.RECOMPUTE
        if is_operation(o) and is_operation(r)
    ]
    if not fits:
        return None
    reader, original, clone = draw.choice(fits)
    reader.replace_input_with(original, clone)
    _move_before(reader, clone)
    return Mistake("A-2", (reader.name, clone.name))


def _move_before(reader: fx.Node, clone: fx.Node) -> None:
    """The same graph in an order that the data edges allow."""
    needed, queue = set(), [clone]
    while queue:
        node = queue.pop()
        if node not in needed and phase(node) is Phase.RECOMPUTE:
            needed.add(node)
            queue += node.all_input_nodes
    for node in [n for n in clone.graph.nodes if n in needed]:
        reader.prepend(node)


def a_clone_of_another_value_is_read(pair: Pair, draw: random.Random) -> Mistake | None:
    """A backward node reads the clone of another value."""
    fits = [
        (r, c, d)
        for c in pair.clones.values()
        for d in pair.clones.values()
        if c is not d and _same_shape(c, d) and call(c) != call(d) and len(_readers(c)) > 1
        for r in _readers(c)
        if d < r and d not in r.all_input_nodes
    ]
    if not fits:
        return None
    reader, clone, other = draw.choice(fits)
    reader.replace_input_with(clone, other)
    return Mistake("A-2", (reader.name, other.name))


def update_gone(pair: Pair, draw: random.Random) -> Mistake | None:
    """A weight is not updated."""
    updates = [n for n in pair.graph.nodes if phase(n) is Phase.OPTIMIZER and not n.users]
    update = draw.choice([n for n in updates if n.op == "call_function"])
    pair.graph.erase_node(update)
    return Mistake("A-2", (update.name,))


def no_waits(pair: Pair, draw: random.Random) -> Mistake | None:
    """No clone waits."""
    for node in pair.graph.nodes:
        clear_control_dependencies(node)
    return Mistake("A-3", ())


def _roots(pair: Pair) -> list[fx.Node]:
    found = []
    for _, clone in _working(pair):
        queue, seen = list(clone.all_input_nodes), set()
        while queue:
            read = queue.pop()
            if read not in seen and phase(read) is Phase.RECOMPUTE:
                seen.add(read)
                queue += read.all_input_nodes
        if not any(map(is_operation, seen)):
            found.append(clone)
    return found


def _let_go(pair: Pair, clone: fx.Node) -> list[fx.Node]:
    """Take the waits from ``clone`` and the views that it reads."""
    queue, freed = [clone], []
    while queue:
        node = queue.pop()
        clear_control_dependencies(node)
        freed.append(node)
        queue += [
            r for r in node.all_input_nodes if phase(r) is Phase.RECOMPUTE and not is_operation(r)
        ]
    return freed


def one_root_free(pair: Pair, draw: random.Random) -> Mistake | None:
    """One clone does not wait."""
    root = draw.choice(_roots(pair))
    _let_go(pair, root)
    return Mistake("A-3", (root.name,))


def own_forward(pair: Pair, draw: random.Random) -> Mistake | None:
    """Clones wait for what they repeat."""
    for original, clone in pair.clones.items():
        clear_control_dependencies(clone)
        add_control_dependency(clone, original)
    return Mistake("A-3", (_roots(pair)[0].name,))


def repeats_data(pair: Pair, draw: random.Random) -> Mistake | None:
    """Clones wait for what they read."""
    for clone in pair.clones.values():
        clear_control_dependencies(clone)
        add_control_dependency(clone, *clone.all_input_nodes)
    return Mistake("A-3", (_roots(pair)[0].name,))


def reversed_waits(pair: Pair, draw: random.Random) -> Mistake | None:
    """Gradients wait for clones."""
    for clone in pair.clones.values():
        for other in control_dependencies(clone):
            add_control_dependency(other, clone)
        clear_control_dependencies(clone)
    return Mistake("A-3", ())


def circle(pair: Pair, draw: random.Random) -> Mistake | None:
    """A clone waits for its reader."""
    fits = [(c, r) for _, c in _working(pair) for r in _readers(c) if is_operation(r)]
    if not fits:
        return None
    clone, reader = draw.choice(fits)
    add_control_dependency(clone, reader)
    return Mistake("A-3", (clone.name, reader.name, "circle"))


def waits_for_the_loss(pair: Pair, draw: random.Random) -> Mistake | None:
    """All clones wait for the first gradient of all: right in the last block alone."""
    first = next(n for n in pair.graph.nodes if n.op == "call_function" and in_backward(n))
    of = {c: o for o, c in pair.clones.items()}
    lowest = min(_blocks(of[c]) for c in of)
    if lowest == max(_blocks(of[c]) for c in of):
        return None
    for clone in of:
        clear_control_dependencies(clone)
        add_control_dependency(clone, first)
    return Mistake("A-3", ())


def _blocks(node: fx.Node) -> int:
    return int(node.meta["module"].split(".")[1])


MISTAKES: dict[str, Change] = {
    change.__name__: change
    for change in (
        wrong_operator,
        wrong_weight,
        reads_what_is_lost,
        another_value,
        needless_clone,
        one_reader_forgotten,
        nothing_rewired,
        forward_reads_a_clone,
        a_clone_of_another_value_is_read,
        update_gone,
        no_waits,
        one_root_free,
        own_forward,
        repeats_data,
        reversed_waits,
        circle,
        waits_for_the_loss,
    )
}


def other_names(pair: Pair, draw: random.Random) -> Pair:
    """Names that tell nothing."""
    return Pair(pair.base, renamed(pair.graph), {})


def other_order(pair: Pair, draw: random.Random) -> Pair:
    """Another legal order."""
    order = random_order(pair.graph, draw.randrange(1000)).order
    copy = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    given = [n for n in pair.graph.nodes if n.op == "placeholder"]
    ends = [n for n in pair.graph.nodes if n.op == "output"]
    for node in (*given, *order, *ends):
        args, kwargs = fx.map_arg((node.args, node.kwargs), new.__getitem__)
        new[node] = copy.create_node(node.op, node.target, args, dict(kwargs), name=node.name)
        new[node].meta = dict(node.meta)
    for node in order:
        if waits := control_dependencies(node):
            new[node].meta["waits_for"] = tuple(new[w] for w in waits)
    return Pair(pair.base, copy, {})


def redundant_waits(pair: Pair, draw: random.Random) -> Pair:
    """Control edges that repeat others, and data."""
    for clone in pair.clones.values():
        for other in control_dependencies(clone):
            add_control_dependency(clone, *other.all_input_nodes)
        add_control_dependency(clone, *clone.all_input_nodes)
    return pair


def only_roots(pair: Pair, draw: random.Random) -> Pair:
    """Clones that read clones do not wait themselves."""
    for clone in pair.clones.values():
        if any(phase(read) is Phase.RECOMPUTE for read in clone.all_input_nodes):
            clear_control_dependencies(clone)
    return pair


def what_enters_the_block(pair: Pair, draw: random.Random) -> Pair:
    """All clones of a block wait for what the first of them waits for."""
    first: dict[int, tuple[fx.Node, ...]] = {}
    for original, clone in pair.clones.items():
        waits = first.setdefault(_blocks(original), control_dependencies(clone))
        clear_control_dependencies(clone)
        add_control_dependency(clone, *waits)
    return pair


def what_the_reader_reads(pair: Pair, draw: random.Random) -> Pair:
    """Clones wait for a gradient that a reader of theirs reads, if that does not need them."""
    for clone in pair.clones.values():
        for reader in _readers(clone):
            late = [n for n in reader.all_input_nodes if in_backward(n)]
            if late and not _depends(late[0], clone):
                clear_control_dependencies(clone)
                add_control_dependency(clone, late[0])
                break
    return pair


def _depends(node: fx.Node, on: fx.Node) -> bool:
    queue, seen = [node], set()
    while queue:
        here = queue.pop()
        if here is on:
            return True
        if here not in seen:
            seen.add(here)
            queue += [*here.all_input_nodes, *control_dependencies(here)]
    return False


HARMLESS: dict[str, Callable[[Pair, random.Random], Pair]] = {
    change.__name__: change
    for change in (
        other_names,
        other_order,
        redundant_waits,
        only_roots,
        what_enters_the_block,
        what_the_reader_reads,
    )
}


def drawn(graph: fx.Graph) -> str:
    """``graph`` in the older form: names, colours and edges, views folded away."""
    memory = storages(graph)
    shown = {
        n: n
        for n in graph.nodes
        if n.op == "placeholder" or (n.op == "call_function" and is_operation(n))
    }

    def behind(node: fx.Node) -> fx.Node:
        return node if node in shown else memory[node][0].owner

    lines = ["digraph {", "  node [style=filled];"]
    for node in shown:
        label = str(kind(node))
        if node.op == "call_function":
            label = operator_name(node).split(".")[1].upper()
        colour = COLOURS[kind(node)]
        lines.append(f'  {node.name} [label="{node.name}: {label}", fillcolor={colour}];')
    for node in shown:
        if node.op == "call_function":
            reads = dict.fromkeys(behind(n) for n in node.all_input_nodes)
            waits = dict.fromkeys(behind(n) for n in _all_waits(node, shown))
            lines += [f"  {read.name} -> {node.name};" for read in reads if read is not node]
            lines += [
                f"  {other.name} -> {node.name} [style=dashed];"
                for other in waits
                if other is not node
            ]
    return "\n".join([*lines, "}", ""])


def _all_waits(node: fx.Node, shown: dict[fx.Node, fx.Node]) -> list[fx.Node]:
    waits, queue = list(control_dependencies(node)), list(node.all_input_nodes)
    while queue:
        read = queue.pop()
        if read not in shown and read.op == "call_function":
            waits += control_dependencies(read)
            queue += read.all_input_nodes
    return waits


def with_updated_weight(text: str, draw: random.Random) -> tuple[str, tuple[str, ...]] | None:
    """A drawing in which one clone reads a weight after its update; the names of the two."""
    fits = [
        (f"  {weight} -> {clone};", f"  {weight}_update -> {clone};")
        for weight, clone in re.findall(r"^  (\w+) -> (\w+_recomp);$", text, re.MULTILINE)
        if f"  {weight}_update [" in text
    ]
    if not fits:
        return None
    old, new = draw.choice(fits)
    return text.replace(old, new), tuple(re.findall(r"\w+", new))


def shown_name(graph: fx.Graph, name: str) -> str:
    """What a drawing calls the node called ``name``: a view has the name of what it looks at."""
    memory = storages(graph)
    for node in graph.nodes:
        if node.name == name and node.op == "call_function" and not is_operation(node):
            return memory[node][0].owner.name
    return name


def copied(pair: Pair) -> Pair:
    """A pair of its own, to be changed."""
    copy, new = copy_graph(pair.graph)
    return Pair(pair.base, copy, {new[o]: new[c] for o, c in pair.clones.items()})
