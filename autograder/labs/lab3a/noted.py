"""Shapes and times in the nodes of a module, noted by PyTorch's own interpreter."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import fx
from torch.fx.passes.shape_prop import ShapeProp


class _Timed(fx.Interpreter):
    """Notes how long each node took, in milliseconds."""

    def run_node(self, n: fx.Node) -> Any:
        start = time.perf_counter()
        value = super().run_node(n)
        computes = n.op.startswith("call_")
        n.meta["latency"] = (time.perf_counter() - start) * 1e3 if computes else 0.0
        return value


def note_by_pytorch(module: fx.GraphModule, *inputs: Any) -> None:
    """Note in each node what a right ``NodeProp`` would; its times are those of one run."""
    with torch.no_grad():
        ShapeProp(module).propagate(*inputs)
        _Timed(module).run(*inputs)
    for node in module.graph.nodes:
        meta = node.meta.get("tensor_meta")
        node.meta["shape"] = list(meta.shape) if hasattr(meta, "shape") else None
