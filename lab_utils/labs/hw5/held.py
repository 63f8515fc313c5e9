"""How much a function keeps while it walks through batches: tensors, arrays, Python's objects."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_LEAST = 512  # bytes of a tensor that is looked after; sums are smaller


class Held(TorchDispatchMode):
    """While it is open, every memory of a tensor that is made is known, and whether it is gone."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, tuple[StorageWeakRef, int]] = {}
        self.bytes: list[int] = []
        """What was held when the second batch was asked for, when the third was, and so on."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here; to say so, PyTorch would load its whole compiler first."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run the operator, and note what it made."""
        made = func(*args, **(kwargs or {}))
        for value in tree_leaves(made):
            if isinstance(value, torch.Tensor) and value.nbytes >= _LEAST:
                storage = value.untyped_storage()
                self._made[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
        return made

    @property
    def half(self) -> int:
        """What was held half-way: what the first batches make Python load is there by then."""
        return self.bytes[len(self.bytes) // 2] if self.bytes else 0

    def batches(self, images: torch.Tensor, each: int) -> Iterator[torch.Tensor]:
        """The images batch by batch; whenever one is asked for, what is held is noted."""
        tracemalloc.start()
        gc.freeze()  # what is there already is not looked through
        try:
            for at in range(0, len(images), each):
                if at:
                    self.bytes.append(self._now())
                yield images[at : at + each].clone()
            gc.collect()  # what is held by nobody but itself is not kept
            self.bytes.append(self._now())
        finally:
            gc.unfreeze()
            tracemalloc.stop()

    def _now(self) -> int:
        self._made = {key: one for key, one in self._made.items() if not one[0].expired()}
        return sum(size for _, size in self._made.values()) + tracemalloc.get_traced_memory()[0]
