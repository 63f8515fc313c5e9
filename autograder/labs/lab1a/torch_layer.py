"""A decoder layer run by PyTorch on tensors without data: FLOPs and elements, operator by operator.

PyTorch's own counter says how many FLOPs a matrix product is; the elements are those of the
storages that it reads and writes, each counted once. Nothing is computed, so that the largest
models take milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from lab_utils.instruments.shapes import Transformer


class Parts(NamedTuple):
    """Elements of the factors of a product, and of the product."""

    input: int
    weight: int
    output: int


class Layer(NamedTuple):
    """What the products of a layer take, by name."""

    flops: dict[str, int]
    elements: dict[str, int]
    parts: dict[str, Parts]


DTYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp8": torch.float8_e4m3fn,
    "int8": torch.int8,
}


class Traffic(TorchDispatchMode):
    """Adds up the elements of every storage that operators touch, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._touched: dict[int, torch.Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for value in torch.utils._pytree.tree_leaves((args, kwargs, made)):
            if isinstance(value, torch.Tensor):
                self._touched[value.untyped_storage()._cdata] = value
        return made

    @property
    def elements(self) -> int:
        """Of all storages."""
        return sum(t.untyped_storage().nbytes() // t.itemsize for t in self._touched.values())


def decoder_layer(model: Transformer, batch: int, new: int, past: int) -> Layer:
    """One layer on ``new`` tokens of each sequence; the cache has keys and values of ``past``."""
    layer = Layer({}, {}, {})

    def step(name: str, run: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> torch.Tensor:
        with FlopCounterMode(display=False) as counter, Traffic() as traffic:
            made = run(*inputs)
        layer.flops[name], layer.elements[name] = counter.get_total_flops(), traffic.elements
        layer.parts[name] = Parts(*(one.numel() for one in (*inputs, made)))
        return made

    with torch.device("meta"):
        _run(step, model, batch, new, past)
    return layer


def _run(step: Any, model: Transformer, batch: int, new: int, past: int) -> None:
    """Every matrix product of the layer; what lies between them moves no weight and is left out."""
    every, share = past + new, model.heads // model.kv_heads
    inside, shared = model.heads * model.head, model.kv_heads * model.head

    def weight(inputs: int, outputs: int) -> torch.Tensor:
        return torch.empty(inputs, outputs)

    x = torch.empty(batch * new, model.width)
    q = step("q", torch.mm, x, weight(model.width, inside))
    step("k", torch.mm, x, weight(model.width, shared))
    step("v", torch.mm, x, weight(model.width, shared))
    # Heads that share a key stand together as more rows of one product: the key is read once.
    q = q.view(batch, new, model.kv_heads, share, model.head).permute(0, 2, 3, 1, 4)
    q = q.reshape(batch * model.kv_heads, share * new, model.head)
    keys, values = torch.empty(2, batch * model.kv_heads, every, model.head).unbind()
    keys, values = keys.clone(), values.clone()  # each a storage of its own
    scores = step("scores", lambda a, b: torch.bmm(a, b.transpose(1, 2)), q, keys)
    step("mix", torch.bmm, scores, values)
    step("o", torch.mm, torch.empty(batch * new, inside), weight(inside, model.width))
    for name in ("gate", "up") if model.gated else ("up",):
        step(name, torch.mm, x, weight(model.width, model.hidden))
    step(
        "down", torch.mm, torch.empty(batch * new, model.hidden), weight(model.hidden, model.width)
    )


class _Layer(nn.Module):
    """The parameters of one layer, as Llama has them: no biases."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        inside, shared = model.heads * model.head, model.kv_heads * model.head
        linear = [
            (model.width, inside),
            *[(model.width, shared)] * 2,
            (inside, model.width),
            *[(model.width, model.hidden)] * (2 if model.gated else 1),
            (model.hidden, model.width),
        ]
        self.matrices = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in linear)
        self.norms = nn.ModuleList(nn.RMSNorm(model.width) for _ in range(2))


def memory(model: Transformer, batch: int, context: int, dtype: str) -> list[int]:
    """Bytes of the weights and of the cache: those of PyTorch's tensors."""
    with torch.device("meta"):
        whole = nn.ModuleList(
            [
                nn.Embedding(model.vocab, model.width),
                *(_Layer(model) for _ in range(model.layers)),
                nn.RMSNorm(model.width),
                nn.Linear(model.width, model.vocab, bias=False),
            ]
        )
        kind = DTYPES[dtype]
        weights = sum(torch.empty(p.shape, dtype=kind).nbytes for p in whole.parameters())
        one = torch.empty(batch, model.kv_heads, context, model.head, dtype=kind)
        cache = sum(torch.empty_like(one).nbytes for _ in range(model.layers) for _ in "kv")
    return [weights, cache]
