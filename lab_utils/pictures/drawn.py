"""A picture as a notebook shows it, and values that draw themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture in every form that some reader of a notebook needs.

    ``html`` takes the page's colours and answers to the mouse; ``svg`` stands alone, for
    pages that strip HTML; ``words`` are for terminals, and the caption.
    """

    html: str
    svg: str
    words: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html, "image/svg+xml": self.svg, "text/plain": self.words}

    def __repr__(self) -> str:
        return self.words

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def drawing(svg: Callable[[bool], str], words: str, caption: str = "") -> Drawing:
    """A drawing from a function that gives the SVG alone (True) or inline (False)."""
    below = f'<div style="font-size:90%;opacity:.85">{escape(caption)}</div>' if caption else ""
    return Drawing(f"<div>{svg(False)}{below}</div>", svg(True), words)


class DrawsItself:
    """Base of our values: a bare name in a cell is a picture.

    What the picture is stands in ``lab_utils.pictures.values``, which is loaded only when
    a notebook asks for it.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from lab_utils.pictures.values import drawing_of

        return drawing_of(self)._repr_mimebundle_()


def graph_bundle(graph: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
    """The picture of a ``torch.fx.Graph``, which is not our class; nothing for foreign graphs."""
    from lab_utils.pictures.values import drawing_of

    if not all(
        "kind" in node.meta and "phase" in node.meta for node in graph.nodes if node.op != "output"
    ):
        return {"text/plain": str(graph)}
    return drawing_of(graph)._repr_mimebundle_()
