"""Notes on the operators that are traced: they end in ``node.meta["custom"]``.

The tracer copies ``custom`` of the current meta data to each node that it makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import nn


@contextmanager
def noted(notes: dict[str, Any]) -> Iterator[None]:
    """While this is open, every traced operator carries ``notes``.

    torch.fx.traceback.annotate does the same, but only since PyTorch 2.10.
    """
    from torch.fx.traceback import get_current_meta

    current = get_current_meta()
    before = current.get("custom")
    current["custom"] = {**(before or {}), **notes}
    try:
        yield
    finally:
        if before is None:
            del current["custom"]
        else:
            current["custom"] = before


class Notes:
    """Notes on the operators that are traced, which hooks begin and end.

    An error leaves some of them open. They are ended with the block: the garbage collector
    would end them too, but in the middle of another trace.
    """

    def __init__(self) -> None:
        self._open: list[Any] = []

    def begin(self, key: str, value: Any) -> None:
        self._open.append(noted({key: value}))
        self._open[-1].__enter__()

    def end(self) -> None:
        self._open.pop().__exit__(None, None, None)

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self.end()


@contextmanager
def module_paths(model: nn.Module) -> Iterator[None]:
    """While this is open, every traced operator notes the module that it runs in."""
    notes, handles = Notes(), []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(partial(_begin_module, notes, path)))
        handles.append(module.register_forward_hook(lambda *_: notes.end(), always_call=True))
    try:
        with notes:
            yield
    finally:
        for handle in handles:
            handle.remove()


def _begin_module(notes: Notes, path: str, *_: Any) -> None:
    notes.begin("module", path)
