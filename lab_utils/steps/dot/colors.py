"""The fill colour of each kind of value in a .dot file; older files tell the kind by it alone."""

from __future__ import annotations

from lab_utils.steps.graph import Kind

#: Graphviz (X11) colour names.
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
