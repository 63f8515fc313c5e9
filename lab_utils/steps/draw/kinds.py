"""One colour, one texture and one letter for each kind of value, the same in every picture.

The fills are those of the .dot files. Textures and letters tell the kinds apart for those
who cannot tell the colours apart, and in print. Lines and bars that are of no kind have a
few strong colours.
"""

from __future__ import annotations

from lab_utils.steps.graph import Kind

#: Graphviz (X11) colour names, as they stand in .dot files.
COLOURS: dict[Kind, str] = {
    Kind.INPUT: "lightblue",
    Kind.WEIGHT: "lightgreen",
    Kind.ACTIVATION: "yellow",
    Kind.RECOMP: "orange",
    Kind.GRAD_ACT: "lightpink",
    Kind.GRAD_WEIGHT: "lightcoral",
    Kind.OPT_STATE: "lavender",
    Kind.OTHER: "gray92",
}
#: The same colours for SVG and HTML, which do not know the numbered greys of X11.
FILL: dict[Kind, str] = {
    kind: {"gray92": "#ebebeb"}.get(colour, colour) for kind, colour in COLOURS.items()
}

BLUE, RED, ORANGE, GREY = "#1f6fd0", "#d62728", "#d35400", "#999999"
#: What a comparison found: as wanted; missing or wrong; there, but not wanted.
RIGHT, WRONG, NEEDLESS = BLUE, RED, GREY

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

#: Lines of an 8 x 8 tile, as an SVG path; no texture for activations, the largest areas.
TEXTURE: dict[Kind, str] = {
    Kind.INPUT: "M2 2h1M6 6h1",
    Kind.WEIGHT: "M4 0V8",
    Kind.ACTIVATION: "",
    Kind.RECOMP: "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    Kind.GRAD_ACT: "M0 4H8",
    Kind.GRAD_WEIGHT: "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    Kind.OPT_STATE: "M4 0V8M0 4H8",
    Kind.OTHER: "M0 0L8 8M0 8L8 0",
}
