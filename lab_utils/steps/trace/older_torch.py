"""What tracing needs where PyTorch is older than the pinned version: all of it stands here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

aten = torch.ops.aten
_TAKEN_APART = (
    aten.silu_backward.default,
    aten.mish_backward.default,
    aten.native_batch_norm.default,
    aten.upsample_nearest1d.default,
    aten.upsample_nearest2d.default,
    aten.upsample_nearest3d.default,
)


@contextmanager
def whole_operators() -> Iterator[None]:
    """While this is open, an operator that has a kernel is recorded as itself.

    PyTorch 2.9 takes some of them apart instead, into operators that it does not run (and asks
    ``py_kernels`` for how); from 2.10 on it records what runs.
    """
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    operators = _TAKEN_APART if _version() < (2, 10) else ()
    before = [(operator, operator.py_kernels.get(key)) for operator in operators]
    for operator in operators:
        operator.py_kernels[key] = lambda *_, **__: NotImplemented
    try:
        yield
    finally:
        for operator, kernel in before:
            if kernel is None:
                del operator.py_kernels[key]
            else:
                operator.py_kernels[key] = kernel


def _version() -> tuple[int, ...]:
    return tuple(int(number) for number in torch.__version__.split(".")[:2])
