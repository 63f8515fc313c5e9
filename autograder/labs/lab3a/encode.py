"""A traced module as plain data: what ``lab_utils.labs.lab3a.programs`` turns back into one."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx, nn

from lab_utils.labs.lab3a.layers import Ticket
from lab_utils.labs.lab3a.programs import name_of, told

Program = dict[str, Any]


def program_of(module: nn.Module, *inputs: Any, whole: bool = False) -> Program:
    """The program of ``module``, traced; with ``whole``, blocks of that name are programs too."""
    traced = _Blocks(whole).trace(module)
    modules, tensors = {}, {}
    for node in traced.nodes:
        path = str(node.target)
        if node.op == "call_module":
            modules[path] = _form(module.get_submodule(path))
        elif node.op == "get_attr":
            home, _, name = path.rpartition(".")
            tensors[path] = told(getattr(module.get_submodule(home), name))
    return {
        "nodes": [_node(node) for node in traced.nodes],
        "modules": modules,
        "tensors": tensors,
        "inputs": [told(one) for one in inputs],
    }


class _Blocks(fx.Tracer):
    """Keeps modules that are called ``whole`` as one node, if asked to."""

    def __init__(self, whole: bool) -> None:
        super().__init__()
        self._whole = whole

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        own = isinstance(m, Ticket) or (self._whole and module_qualified_name == "whole")
        return own or super().is_leaf_module(m, module_qualified_name)


def _node(node: fx.Node) -> list[Any]:
    target = name_of(node.target) if node.op == "call_function" else node.target
    kwargs = {k: told(v) for k, v in node.kwargs.items() if k != "_stacklevel"}
    return [node.op, node.name, target, [told(a) for a in node.args], kwargs]


#: What the modules of PyTorch that programs may have are made with.
_INIT = {
    nn.Linear: lambda m: [m.in_features, m.out_features, m.bias is not None],
    nn.Embedding: lambda m: [m.num_embeddings, m.embedding_dim],
    nn.LayerNorm: lambda m: [list(m.normalized_shape)],
    nn.ReLU: lambda m: [m.inplace],
    nn.GELU: lambda m: [m.approximate],
    nn.Dropout: lambda m: [m.p],
    Ticket: lambda m: [],
}


def _form(module: nn.Module) -> dict[str, Any]:
    init = _INIT.get(type(module))
    if init is None:
        return program_of(module)
    state = {name: told(tensor) for name, tensor in module.state_dict().items()}
    return {"class": type(module).__name__, "init": init(module), "state": state}


def whole_numbers(module: nn.Module, seed: int) -> nn.Module:
    """The same module with small whole numbers as weights: easy to follow, and exact."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.is_floating_point():
                parameter.copy_(torch.randint(-3, 4, parameter.shape, generator=random))
    return module.eval()
