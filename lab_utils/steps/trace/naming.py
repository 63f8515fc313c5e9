"""Names for people: ``l0_gate_proj``, ``d_l0_up_proj_w``, ``loss``.

A forward operator is called after its module, a gradient after the value that it
belongs to. torch.fx makes a name that is taken unique by a number.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from lab_utils.steps.graph import Phase
from lab_utils.steps.storage import overwritten_inputs, owns_memory

if TYPE_CHECKING:
    from lab_utils.steps.trace.tidy import RawTrace

_SHORT = {"weight": "w", "bias": "b"}


def short_path(path: str) -> str:
    """``layers.0.gate_proj.weight`` becomes ``l0_gate_proj_w``."""
    words: list[str] = []
    for word in path.split("."):
        if word.isdigit() and words:
            words[-1] = words[-1][0] + word
        else:
            words.append(_SHORT.get(word, word))
    return "_".join(words)


class Names:
    """Finds the name of every node of one recorded step.

    Names build on names: after each node, ``settle`` tells the one it really got.
    """

    def __init__(
        self, raw: RawTrace, same: dict[fx.Node, fx.Node], gradients: list[fx.Node]
    ) -> None:
        self._raw = raw
        self._same = same
        self._name: dict[fx.Node, str] = {}
        self._results = _module_results(raw.graph)
        self._by_sequence = _by_sequence(raw.graph, same)
        self._parameters = {
            short_path(s.removeprefix("param:")) for s in raw.sources if s.startswith("param:")
        }
        self._total: dict[fx.Node, Any] = {}
        self._partial: dict[fx.Node, tuple[Any, Any]] = {}
        owned = iter(gradients)
        for whose in raw.totals:
            self._total.setdefault(next(owned), whose)
        for whose, through in raw.partials:
            self._partial.setdefault(next(owned), (whose, through))
        (end,) = raw.graph.find_nodes(op="output")
        self._loss = same[end.args[0][0]]
        self._loss_makers = {self._loss}
        if self._loss.target is operator.getitem:
            self._loss_makers.update(self._loss.all_input_nodes)
        for label, node in zip(raw.labels, end.args[0], strict=False):
            if label.startswith("grad:"):
                self._total[same[node]] = label.removeprefix("grad:")

    def settle(self, node: fx.Node, name: str) -> None:
        """``node`` got ``name``, perhaps with a number to make it unique."""
        self._name[node] = name

    def of_placeholder(self, source: str) -> str:
        """``param:layers.0.up_proj.weight`` is ``l0_up_proj_w``; an input has its own name."""
        role, _, path = source.partition(":")
        if role == "input":
            return self._raw.input_names.get(source, f"input_{path}")
        return short_path(path) if path else role

    def of(self, node: fx.Node) -> str:
        """The name that ``node`` should have."""
        custom = node.meta.get("custom", {})
        source = node.args[0] if node.args and isinstance(node.args[0], fx.Node) else None
        if node is self._loss:
            return "loss"
        if node.target is operator.getitem:
            gradient = self._gradient(node) if custom.get("phase") is Phase.BACKWARD else None
            return gradient or f"{self._named(source)}_out{node.args[1]}"
        match custom.get("phase"):
            case Phase.BACKWARD:
                name = self._gradient(node)
            case Phase.OPTIMIZER:
                name = self._update(node)
            case Phase.LOSS:
                name = f"loss_{_word(node)}"
            case _:
                name = None if _looks(node) else self._forward(node, custom.get("module", ""))
        return name or (f"{self._looked_at(source)}_{_word(node)}" if source else _word(node))

    def _named(self, node: fx.Node | None) -> str:
        return self._name.get(self._same[node], node.name) if node is not None else "value"

    def _looked_at(self, node: fx.Node) -> str:
        """The name behind a chain of views, so that names do not grow along it."""
        while _looks(node) and node.target is not operator.getitem and node.all_input_nodes:
            node = self._same[node.all_input_nodes[0]]
        return self._named(node)

    def _forward(self, node: fx.Node, module: str) -> str:
        path = short_path(module) if module else ""
        if node in self._results and path:
            return path
        return f"{path}_{_word(node)}" if path else _word(node)

    def _update(self, node: fx.Node) -> str | None:
        changed = [self._named(n) for n in overwritten_inputs(node)]
        weights = [name for name in changed if name in self._parameters]
        if weights:
            return f"{weights[0]}_update"
        return f"{changed[0]}_{_word(node)}" if changed else None

    def _gradient(self, node: fx.Node) -> str | None:
        if node in self._total:
            return f"d_{self._value(self._total[node])}"
        if node in self._partial:
            whose, through = self._partial[node]
            return f"d_{self._value(whose)}_via_{self._value(through)}"
        if _looks(node):
            return None
        through = node.meta.get("custom", {}).get("differentiates")
        if through is None:  # autograd adds up the gradients of a value that is read twice
            for part in sorted(node.all_input_nodes, key=self._total.__contains__):
                if part in self._partial:
                    self._partial[node] = self._partial[part]
                    return f"d_{self._value(self._partial[part][0])}_sum"
        return f"d_{self._value(through)}_{_word(node)}"

    def _value(self, told: Any) -> str:
        """A value told by autograd sequence number, a parameter by path."""
        if isinstance(told, str):
            return short_path(told)
        node = self._by_sequence.get(told)
        return "loss" if node in self._loss_makers else self._named(node)


def _word(node: fx.Node) -> str:
    """The bare operator: ``mm`` for ``aten.mm.default``."""
    if isinstance(node.target, torch._ops.OpOverload):
        return node.target._schema.name.partition("::")[2].strip("_")
    return getattr(node.target, "__name__", "value")


def _looks(node: fx.Node) -> bool:
    return node.op == "call_function" and not owns_memory(node)


def _by_sequence(graph: fx.Graph, same: dict[fx.Node, fx.Node]) -> dict[int, fx.Node]:
    """The forward operator behind each autograd sequence number.

    Operators without a gradient have the number of the next one that has one.
    """
    forward = (Phase.FORWARD, Phase.LOSS)
    return {
        node.meta["seq_nr"]: same[node]
        for node in graph.nodes
        if node.meta.get("custom", {}).get("phase") in forward
        and isinstance(node.target, torch._ops.OpOverload)
        and "seq_nr" in node.meta
    }


def _module_results(graph: fx.Graph) -> set[fx.Node]:
    """The last operator of each module without submodules."""
    last: dict[str, fx.Node] = {}
    modules: set[str] = set()
    for node in graph.nodes:
        custom = node.meta.get("custom", {})
        module = custom.get("module", "")
        modules.add(module)
        if custom.get("phase") is Phase.FORWARD and owns_memory(node):
            last[module] = node
    parents = {m.rpartition(".")[0] for m in modules}
    return {node for module, node in last.items() if module not in parents}
