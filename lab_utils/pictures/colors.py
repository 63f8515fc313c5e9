"""One colour for each kind of value, the same in every picture of the lab."""

from __future__ import annotations

from lab_utils.graph import Kind

#: Graphviz (X11) colour names, which SVG and matplotlib know as well.
FILL: dict[Kind, str] = {
    Kind.INPUT: "lightblue",
    Kind.WEIGHT: "lightgreen",
    Kind.ACTIVATION: "yellow",
    Kind.RECOMP: "orange",
    Kind.GRAD_ACT: "lightpink",
    Kind.GRAD_WEIGHT: "lightcoral",
    Kind.OPT_STATE: "lavender",
    Kind.OTHER: "whitesmoke",
}
