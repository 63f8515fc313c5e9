"""The parts that all our SVG pictures share: the document, text, lines and rectangles.

A picture is made in two forms. *Inline* it stands in a page and takes its text colour from
there, so that it can be read in a light and in a dark theme. *Alone* (a file, an image) it
brings a white ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from secrets import token_hex
from typing import Any
from zlib import crc32

from lab_utils.kit.charts.colors import ORANGE, RED

#: Stands for a prefix that makes the ids of one picture its own in a page of many.
OWN = "§"
INK = "#222"  # on a coloured fill, in any theme
FONT = "Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Texture:
    """A fill that can be told from others without its colour: tiles with lines on them.

    ``lines`` is the SVG path on a tile of 8 x 8; the name is the texture's id in a picture.
    """

    name: str
    fill: str
    lines: str

    @property
    def paint(self) -> str:
        """The value of ``fill`` for a shape that has this texture."""
        return f"url(#{OWN}{self.name})"

    @property
    def pattern(self) -> str:
        """What a document defines so that shapes can have it."""
        return (
            f'<pattern id="{OWN}{self.name}" width="8" height="8" patternUnits="userSpaceOnUse">'
            f'<rect width="8" height="8" fill="{self.fill}"/>'
            f'<path d="{self.lines}" stroke="#0005" fill="none"/></pattern>'
        )


#: The heads of arrows.
_TIPS = "".join(
    f'<marker id="{OWN}{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
    f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    for name, colour in (("tip", "#888"), ("wait", ORANGE), ("wrong", RED))
)


def document(
    width: float,
    height: float,
    label: str,
    body: Sequence[str],
    alone: bool,
    textures: Iterable[Texture] = (),
) -> str:
    """An SVG picture with ``label`` as its alternative text.

    Of ``textures`` it defines those that ``body`` paints with. A picture that refers to
    nothing has no ids, and is the same text every time.
    """
    inside = "\n".join(body)
    defs = ""
    if OWN in inside:
        used = [one.pattern for one in textures if one.paint in inside]
        defs = f"<defs>{''.join(used)}{_TIPS}</defs>"
    # A file is the same at every build; in a page even two copies of a picture, of which one
    # is hidden, need ids of their own.
    own = f"p{crc32(inside.encode()):08x}-" if alone else f"p{token_hex(4)}-"
    colour = f' color="{INK}"' if alone else ' style="max-width:100%;height:auto"'
    ground = f'<rect width="{width:g}" height="{height:g}" fill="white"/>' if alone else ""
    told = escaped(label)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="{FONT}" font-size="11" role="img" '
        f'aria-label="{told}"{colour}>',
        f"<title>{told}</title>{defs}{ground}",
        inside,
        "</svg>",
    ]
    return "\n".join(parts).replace(OWN, own) + "\n"


def escaped(words: str) -> str:
    """Any words as text of a picture."""
    return escape(words).replace(OWN, f"&#{ord(OWN)};")


def text(x: float, y: float, words: str, **attributes: Any) -> str:
    """A line of text in the colour of the page; ``text_anchor="middle"`` and the like."""
    given = {"fill": "currentColor"} | attributes
    return f'<text x="{x:g}" y="{y:g}"{_attributes(given)}>{escaped(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    """A straight line in the colour of the page."""
    given = {"stroke": "currentColor"} | attributes
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}"{_attributes(given)}/>'


def rectangle(x: float, y: float, width: float, height: float, **attributes: Any) -> str:
    """A rectangle; ``class_`` leaves its look to the page."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:g}"'
    return f"<rect {place}{_attributes(attributes)}/>"


def _attributes(given: Mapping[str, Any]) -> str:
    """``stroke_width=2`` is ``stroke-width="2"``, and ``class_`` is ``class``."""
    return "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value}"' for key, value in given.items()
    )
