"""A pretended clock that every operator of PyTorch moves on, by an amount that is its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from zlib import crc32

import torch
from torch.overrides import TorchFunctionMode

#: What asks about a tensor and computes nothing takes no time.
_FREE = {"__get__", "__set__", "size", "dim", "ndimension", "numel", "stride", "is_floating_point"}
REPEATS = 10
MORNING = 30_000.0
"""When a pretended clock begins, in seconds: a time of day is no duration."""

Seconds = Callable[[str, int], float]
"""How long an operator takes when it is called for the n-th time, counted from 0."""


def paced(pace: int) -> Seconds:
    """Seconds by the operator's key: far longer at first, then longer from call to call.

    Each case has a ``pace`` of its own, so that nobody knows the times who has not measured.
    """
    return lambda key, number: unit(key, pace) * (number or 1000)


def unit(key: str, pace: int) -> int:
    """What the second call of an operator takes, in seconds."""
    return crc32(f"{pace} {key}".encode()) % 97 + 1


def key_of(function: Any, args: tuple[Any, ...]) -> str:
    """What an operator is told apart by: its name, the shapes of tensors, and where it cuts.

    Plain numbers are left out: they may differ from one run of a node to the next.
    """
    forms = [_form(value) for value in args if not isinstance(value, (int, float))]
    return " ".join([str(getattr(function, "__name__", function)), *forms])


def _form(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return str(list(value.shape))
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_form, value))})"
    return str(value)


class Ticking(TorchFunctionMode):
    """While this is open, ``now`` moves on with each operator, and only with these."""

    def __init__(self, seconds: Seconds) -> None:
        super().__init__()
        self.now = MORNING
        self.calls: Counter[str] = Counter()
        self._seconds = seconds

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and let its time pass."""
        if getattr(func, "__name__", "") not in _FREE:
            key = key_of(func, args)
            self.now += self._seconds(key, self.calls[key])
            self.calls[key] += 1
        return func(*args, **(kwargs or {}))
