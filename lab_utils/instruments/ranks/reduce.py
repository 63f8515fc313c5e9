"""What a collective gives to each of its members, from what each brings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

_TWO: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "sum": torch.add,
    "avg": torch.add,
    "max": torch.maximum,
    "min": torch.minimum,
    "product": torch.mul,
}


def combined(what: str, how: str, kind: str, parts: Sequence[bytes]) -> list[list[bytes]]:
    """By member, the contents of the tensors that it gets.

    Sums are taken in the order of the ranks, so that all members get the same bits in every run.
    """
    if what == "barrier":
        return [[] for _ in parts]
    if what == "broadcast":
        return [[parts[int(how)]] for _ in parts]
    if what == "all_gather":
        return [list(parts) for _ in parts]
    tensors = [_tensor(part, kind) for part in parts]
    total = tensors[0]
    for tensor in tensors[1:]:
        total = _TWO[how](total, tensor)
    if how == "avg":
        total = total / len(parts)
    if what == "all_reduce":
        return [[_raw(total)] for _ in parts]
    return [[_raw(piece)] for piece in total.tensor_split(len(parts))]  # reduce_scatter


def _tensor(part: bytes, kind: str) -> torch.Tensor:
    dtype: torch.dtype = getattr(torch, kind)
    return torch.frombuffer(bytearray(part), dtype=dtype) if part else torch.empty(0, dtype=dtype)


def _raw(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
