"""One colour, one texture and one letter for each kind of value, the same in every picture.

The fills are those of the .dot files. Textures and letters tell the kinds apart for those
who cannot tell the colours apart, and in print.
"""

from __future__ import annotations

from collections.abc import Iterable

from lab_utils.kit.charts.svg import Texture, text
from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.graph import Kind

#: The colours for SVG and HTML, which do not know the numbered greys of X11.
FILL: dict[Kind, str] = {
    kind: {"gray92": "#ebebeb"}.get(colour, colour) for kind, colour in COLOURS.items()
}

LETTER: dict[Kind, str] = {
    Kind.INPUT: "I",
    Kind.WEIGHT: "W",
    Kind.ACTIVATION: "A",
    Kind.RECOMP: "R",
    Kind.GRAD_ACT: "g",
    Kind.GRAD_WEIGHT: "gw",
    Kind.OPT_STATE: "S",
    Kind.OTHER: "o",
}

#: Lines of a tile; none for activations, the largest areas.
_LINES: dict[Kind, str] = {
    Kind.INPUT: "M2 2h1M6 6h1",
    Kind.WEIGHT: "M4 0V8",
    Kind.ACTIVATION: "",
    Kind.RECOMP: "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    Kind.GRAD_ACT: "M0 4H8",
    Kind.GRAD_WEIGHT: "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    Kind.OPT_STATE: "M4 0V8M0 4H8",
    Kind.OTHER: "M0 0L8 8M0 8L8 0",
}
_TEXTURE = {kind: Texture(str(kind), FILL[kind], _LINES[kind]) for kind in Kind}
#: For the document of a picture that is painted by kind.
TEXTURES = tuple(_TEXTURE.values())


def paint(kind: Kind) -> str:
    """The fill of ``kind``, with its texture."""
    return _TEXTURE[kind].paint


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
