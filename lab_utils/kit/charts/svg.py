"""The parts that all our SVG pictures share: the document, the legend, sizes in words.

A picture is made in two forms. *Inline* it stands in a page and takes its text colour from
there, so that it can be read in a light and in a dark theme. *Alone* (a file, an image) it
brings a white ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from secrets import token_hex
from typing import Any
from zlib import crc32

from lab_utils.steps.draw.colors import FILL, LETTER, ORANGE, RED, TEXTURE
from lab_utils.steps.graph import Kind

#: Stands for a prefix that makes the ids of one picture its own in a page of many.
OWN = "§"
INK = "#222"  # on a coloured fill, in any theme
FONT = "Helvetica, Arial, sans-serif"


def document(width: float, height: float, label: str, body: Sequence[str], alone: bool) -> str:
    """An SVG picture with ``label`` as its alternative text."""
    inside = "\n".join(body)
    # A file is the same at every build; in a page even two copies of a picture, of which one
    # is hidden, need ids of their own.
    own = f"p{crc32(inside.encode()):08x}-" if alone else f"p{token_hex(4)}-"
    defs = [_texture(kind) for kind in Kind if f"url(#{OWN}{kind})" in inside]
    colour = f' color="{INK}"' if alone else ' style="max-width:100%;height:auto"'
    ground = f'<rect width="{width:g}" height="{height:g}" fill="white"/>' if alone else ""
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="{FONT}" font-size="11" role="img" '
        f'aria-label="{escape(label)}"{colour}>',
        f"<title>{escape(label)}</title><defs>{''.join(defs)}{_TIPS}</defs>{ground}",
        inside,
        "</svg>",
    ]
    return "\n".join(text).replace(OWN, own) + "\n"


def _texture(kind: Kind) -> str:
    return (
        f'<pattern id="{OWN}{kind}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{FILL[kind]}"/>'
        f'<path d="{TEXTURE[kind]}" stroke="#0005" fill="none"/></pattern>'
    )


_TIPS = "".join(
    f'<marker id="{OWN}{name}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
    f'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
    f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
    for name, colour in (("tip", "#888"), ("wait", ORANGE), ("wrong", RED))
)


def paint(kind: Kind) -> str:
    """The fill of ``kind``, with its texture."""
    return f"url(#{OWN}{kind})"


def text(x: float, y: float, words: str, **attributes: Any) -> str:
    """A line of text in the colour of the page; ``text_anchor="middle"`` and the like."""
    given = {"fill": "currentColor"} | attributes
    return f'<text x="{x:g}" y="{y:g}"{_attributes(given)}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    """A straight line in the colour of the page."""
    given = {"stroke": "currentColor"} | attributes
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}"{_attributes(given)}/>'


def _attributes(given: Mapping[str, Any]) -> str:
    return "".join(f' {key.replace("_", "-")}="{value}"' for key, value in given.items())


def legend(kinds: Iterable[Kind], x: float, y: float) -> str:
    """Swatches in one row, each with its texture, letter and name."""
    parts = []
    for kind in kinds:
        parts.append(
            f'<rect x="{x:g}" y="{y - 10:g}" width="18" height="13" fill="{paint(kind)}" '
            f'stroke="#777"/>' + text(x + 22, y, f"{LETTER[kind]} {kind}", font_size=10)
        )
        x += 36 + 6.6 * (len(kind) + len(LETTER[kind]))
    return "".join(parts)


def size(nbytes: float, unit: str = "bytes") -> str:
    """``10.42 MB``; a drawing without shapes counts values."""
    if unit != "bytes":
        return f"{nbytes:,.0f} {unit}"
    for name, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if nbytes >= factor:
            return f"{nbytes / factor:.2f} {name}"
    return f"{nbytes:,.0f} bytes"
