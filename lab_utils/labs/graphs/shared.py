"""Graphs that many look at and nobody changes: what is found out about them is remembered."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import TypeVar
from weakref import WeakSet

from torch import fx

T = TypeVar("T")

_shared: WeakSet[fx.Graph] = WeakSet()


def share(graph: fx.Graph) -> fx.Graph:
    """The same graph, which nobody will change from here on."""
    _shared.add(graph)
    return graph


def remembered(function: Callable[..., T]) -> Callable[..., T]:
    """``function``, whose first argument is a graph; at a shared one it looks only once.

    Any other graph may have changed since it was last seen, and is looked at again.
    """
    known = lru_cache(maxsize=32)(function)  # the cases of a lab

    @wraps(function)
    def look(graph: fx.Graph, *others: Hashable) -> T:
        return (known if graph in _shared else function)(graph, *others)

    return look
