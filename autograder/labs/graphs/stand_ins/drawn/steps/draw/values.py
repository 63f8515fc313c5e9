"""In place of a picture, where what draws it would answer a task."""

from __future__ import annotations

from typing import Any


def graph_bundle(graph: Any, *_: Any, **__: Any) -> dict[str, str]:
    """A few words."""
    return {"text/plain": f"a graph of {len(graph.nodes)} nodes"}
