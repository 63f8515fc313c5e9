"""Graphs that many look at and nobody changes: what is found out about them is remembered."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

from torch import fx

P = ParamSpec("P")
T = TypeVar("T")

_shared: WeakSet[fx.Graph] = WeakSet()


def share(graph: fx.Graph) -> fx.Graph:
    """The same graph, which nobody will change from here on."""
    _shared.add(graph)
    return graph


def remembered(
    function: Callable[Concatenate[fx.Graph, P], T],
) -> Callable[Concatenate[fx.Graph, P], T]:
    """``function``, which looks at each shared graph only once.

    Any other graph may have changed since it was last seen, and is looked at again.
    """
    known = lru_cache(maxsize=32)(function)  # the cases of a lab

    @wraps(function)
    def look(graph: fx.Graph, *args: P.args, **kwargs: P.kwargs) -> T:
        return (known if graph in _shared else function)(graph, *args, **kwargs)

    return look
