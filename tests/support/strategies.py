"""Random training-step graphs: small, legal to run, and with all that makes graphs hard.

``random_step_graph`` draws graphs with several readers of one value, views, in-place
operators, operators with several outputs, lists of operands, clones and control
dependencies. Program order always obeys the control dependencies.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import fx

from lab_utils.steps.graph import Kind, Phase, add_control_dependency, kind, mark_recomputed, phase

aten = torch.ops.aten
Draw = Callable[[st.SearchStrategy[Any]], Any]

# Numbered names before plain ones, words that DOT or torch.fx could trip over, capitals.
_NAMES = ["a", "a_1", "a_2", "Block", "node", "edge", "graph", "strict", "x_01", "_hidden", "loss"]
_SIZES = [2, 3, 4]
_PHASES = [Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER]
_KINDS = {
    Phase.FORWARD: [Kind.ACTIVATION],
    Phase.LOSS: [Kind.ACTIVATION],
    Phase.BACKWARD: [Kind.GRAD_ACT, Kind.GRAD_WEIGHT],
    Phase.OPTIMIZER: [Kind.OTHER],
}
_UNARY = [aten.relu, aten.silu, aten.tanh, aten.neg, aten.clone]
_IN_PLACE = [aten.relu_, aten.tanh_, aten.neg_]


@st.composite
def random_step_graph(
    draw: Draw,
    max_operators: int = 20,
    in_place: bool = True,
    clones: bool = True,
    control: bool = True,
    random_numbers: bool = False,
) -> fx.Graph:
    """A graph as ``trace_training_step`` makes them, with at most ``max_operators`` drawn steps.

    Args:
        in_place: weights and other values may be overwritten.
        clones: forward operators may run again in backward (phase recompute).
        control: nodes may wait for others.
        random_numbers: some operators draw random numbers.
    """
    builder = _Builder(draw)
    builder.add_placeholders()
    steps = [builder.add_unary, builder.add_unary, builder.add_product, builder.add_sum]
    steps += [builder.add_view, builder.add_norm, builder.add_pieces, builder.add_joined]
    steps += [builder.add_constant]
    if in_place:
        steps += [builder.add_overwrite, builder.add_overwrite]
    if random_numbers:
        steps += [builder.add_random]
    lengths = draw(st.lists(st.integers(0, max_operators // 4), min_size=4, max_size=4))
    for stage, length in zip(_PHASES, lengths, strict=True):
        builder.phase = stage
        for _ in range(length):
            if clones and stage is Phase.BACKWARD and draw(st.integers(0, 3)) == 0:
                builder.add_clone()
            else:
                draw(st.sampled_from(steps))()
        if stage is Phase.LOSS:
            builder.add_loss()
    if control:
        builder.add_waits()
    builder.add_output()
    return builder.graph


class _Builder:
    """A graph under construction; each ``add_…`` appends one step of random form."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.graph = fx.Graph()
        self.phase = Phase.FORWARD
        self.values: list[fx.Node] = []  # nodes that are one tensor
        self.loss: fx.Node | None = None

    def add_placeholders(self) -> None:
        roles = {"input": Kind.INPUT, "param": Kind.WEIGHT, "state": Kind.OPT_STATE}
        for role, what in roles.items():
            for index in range(self.draw(st.integers(1, 3))):
                shape = [self.draw(st.sampled_from(_SIZES)) for _ in range(2)]
                node = self.graph.create_node("placeholder", role, name=self._name(role))
                node.target = node.name
                late = what is Kind.OPT_STATE
                node.meta = {
                    "source": f"{role}:{index}" if role == "input" else f"{role}:layers.{index}.p",
                    "kind": what,
                    "phase": Phase.OPTIMIZER if late else Phase.FORWARD,
                    "module": "",
                    "val": torch.empty(shape, device="meta"),
                }
                self.values.append(node)

    def add_unary(self) -> None:
        self._call(self.draw(st.sampled_from(_UNARY)).default, self._operand())

    def add_sum(self) -> None:
        a = self._operand()
        b = self._operand(lambda n: _shape(n) == _shape(a))
        if self.draw(st.booleans()):
            self._call(aten.mul.Tensor, a, self._bounded(b))
        else:
            factor = self.draw(st.sampled_from([1, 2, -0.5, 1e-30]))
            self._call(aten.add.Tensor, a, b, alpha=factor)

    def add_product(self) -> None:
        a = self._operand(lambda n: len(_shape(n)) == 2)
        b = self._operand(lambda n: len(_shape(n)) == 2 and _shape(n)[0] == _shape(a)[1])
        self._call(aten.mm.default, a, self._bounded(b or self._call(aten.t.default, a)))

    def add_view(self) -> None:
        a = self._operand()
        if len(_shape(a)) == 2 and self.draw(st.booleans()):
            self._call(aten.t.default, a)
        elif a.meta["val"].is_contiguous():
            self._call(aten.view.default, a, [-1])
        else:
            self._call(aten.slice.Tensor, a, 0, 0, self.draw(st.sampled_from([1, 2**63 - 1])))

    def add_norm(self) -> None:
        a = self._operand(lambda n: len(_shape(n)) == 2)
        several = self._call(aten.native_layer_norm.default, a, [_shape(a)[1]], None, None, 1e-05)
        self._take(several, self.draw(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=2)))

    def add_pieces(self) -> None:
        several = self._call(aten.split.Tensor, self._operand(lambda n: len(_shape(n)) > 0), 1)
        self._take(several, [self.draw(st.integers(0, len(several.meta["val"]) - 1))])

    def add_joined(self) -> None:
        a = self._operand(lambda n: len(_shape(n)) == 2)
        fits = st.sampled_from([n for n in self.values if _shape(n)[1:] == _shape(a)[1:]])
        self._call(aten.cat.default, self.draw(st.lists(fits, min_size=1, max_size=3)))

    def add_constant(self) -> None:
        shape = [self.draw(st.sampled_from(_SIZES)) for _ in range(2)]
        value = self.draw(st.sampled_from([0, 1.5, -3]))
        self._call(aten.full.default, shape, value, dtype=torch.float32, device=torch.device("cpu"))

    def add_random(self) -> None:
        self._call(aten.bernoulli_.float, self._call(aten.empty_like.default, self._operand()), 0.5)

    def add_overwrite(self) -> None:
        first_of = {Phase.OPTIMIZER: (Kind.WEIGHT, Kind.OPT_STATE)}.get(self.phase)
        a = self._operand(
            lambda n: kind(n) in first_of if first_of else _base(n).op != "placeholder"
        )
        if a is None:
            return
        if self.draw(st.booleans()):
            self._call(self.draw(st.sampled_from(_IN_PLACE)).default, a)
        else:
            # PyTorch forbids operands that overlap the overwritten memory in part.
            b = self._operand(
                lambda n: n is a or (_shape(n) == _shape(a) and _base(n) is not _base(a))
            )
            self._call(aten.add_.Tensor, a, b, alpha=-0.1)

    def add_clone(self) -> None:
        """A forward operator once more, on what its operands hold by now."""
        originals = [
            n
            for n in self.values
            if phase(n) is Phase.FORWARD
            and n.target in {op.default for op in _UNARY} | {aten.mm.default, aten.t.default}
        ]
        if originals:
            original = self.draw(st.sampled_from(originals))
            self.values.append(mark_recomputed(self.graph.node_copy(original)))

    def add_loss(self) -> None:
        self.loss = self._call(aten.sum.default, self._operand())

    def add_waits(self) -> None:
        nodes = list(self.graph.nodes)
        places = st.integers(0, len(nodes) - 1)
        for one, other in self.draw(st.lists(st.tuples(places, places), max_size=6)):
            if one != other and nodes[max(one, other)].op != "placeholder":
                add_control_dependency(nodes[max(one, other)], nodes[min(one, other)])

    def add_output(self) -> None:
        assert self.loss is not None
        gradients = [n for n in self.values if kind(n) is Kind.GRAD_WEIGHT]
        chosen = self.draw(st.permutations(gradients))[:3] if gradients else []
        labels = {f"grad:layers.{i}.p": node for i, node in enumerate(chosen)}
        node = self.graph.output({"loss": self.loss, **labels})
        node.meta = {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER, "module": ""}

    def _name(self, otherwise: str) -> str:
        return self.draw(st.sampled_from([otherwise, *_NAMES]))

    def _operand(self, fits: Callable[[fx.Node], bool] = lambda _: True) -> Any:
        candidates = [node for node in self.values if fits(node)]
        return self.draw(st.sampled_from(candidates)) if candidates else None

    def _call(self, target: Any, *args: Any, **kwargs: Any) -> fx.Node:
        node = self.graph.create_node(
            "call_function", target, args, kwargs, name=self._name(_word(target))
        )
        looked_at = node.all_input_nodes[0] if _shares_memory(target) else None
        node.meta = {
            "phase": self.phase,
            "kind": kind(looked_at)
            if looked_at is not None
            else self.draw(st.sampled_from(_KINDS[self.phase])),
            "module": self.draw(st.sampled_from(["", "layers.0.norm"])),
            "val": infer_val(target, node.args, node.kwargs),
        }
        if isinstance(node.meta["val"], torch.Tensor):
            self.values.append(node)
        return node

    def _take(self, several: fx.Node, indices: list[int]) -> None:
        for index in indices:
            node = self._call(operator.getitem, several, index)
            node.meta["kind"] = kind(several)

    def _bounded(self, node: fx.Node) -> fx.Node:
        """A factor between -1 and 1, so that products of products stay finite."""
        return node if kind(node) is Kind.WEIGHT else self._call(aten.tanh.default, node)


def infer_val(target: Any, args: Any, kwargs: Any) -> Any:
    """The ``val`` of a call, from the ``val`` of its operands; nothing is computed."""
    read = {n: _fresh(n.meta["val"]) for n in _nodes((args, kwargs))}
    args, kwargs = fx.map_arg((args, kwargs), read.__getitem__)
    kwargs = {k: torch.device("meta") if k == "device" else v for k, v in kwargs.items()}
    return _fresh(target(*args, **kwargs))


def _nodes(arguments: Any) -> list[fx.Node]:
    found: list[fx.Node] = []
    fx.map_arg(arguments, lambda n: found.append(n) or n)  # type: ignore[func-returns-value]
    return found


def _fresh(val: Any) -> Any:
    if isinstance(val, (tuple, list)):
        return tuple(_fresh(item) for item in val)
    return torch.empty_strided(val.shape, val.stride(), dtype=val.dtype, device="meta")


def _shape(node: fx.Node) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape)


def _word(target: Any) -> str:
    return target.overloadpacket.__name__ if hasattr(target, "overloadpacket") else "piece"


def _shares_memory(target: Any) -> bool:
    if target is operator.getitem:
        return True
    return any(out.alias_info is not None for out in target._schema.returns)


def _base(node: fx.Node) -> fx.Node:
    """The node behind a chain of views and in-place results."""
    while node.op == "call_function" and _shares_memory(node.target):
        node = node.all_input_nodes[0]
    return node
