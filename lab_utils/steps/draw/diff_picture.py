"""A difference between two graphs, drawn on the graph.

An edge that is missing is red and dashed, one that is not wanted is grey and thick; a node
that is missing or not wanted has a ring of that colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape

from torch import fx

from lab_utils.kit.charts.colors import NEEDLESS, WRONG
from lab_utils.kit.charts.drawn import Drawing, drawing, drawing_of_words
from lab_utils.steps.compare.differences import Diff, Differs
from lab_utils.steps.draw.blocks import between
from lab_utils.steps.draw.boxes import Arrow, Picture, fold, in_run_order, stand_ins
from lab_utils.steps.draw.lanes import LANES, Emphasis, lanes_svg

_MOST = 24  # boxes; the words tell the rest


def draw_differences(
    wanted: Picture,
    mine: Picture,
    mine_of: Mapping[str, str],
    waits: Iterable[Arrow] = (),
    words: str = "",
) -> Drawing | None:
    """What differs between two pictures, with its surroundings; None where nothing does.

    Args:
        wanted: the graph as it should be.
        mine: the graph that was handed in.
        mine_of: the name in ``mine`` of each box of ``wanted`` that is there.
        waits: control edges that are missing or needless, marked so.
        words: the text form, and the caption.
    """

    def name(box: str) -> str:
        return mine_of.get(box, f"{box} (missing)")

    data = [a for a in mine.arrows if not a.control]
    asked = [replace(a, source=name(a.source), target=name(a.target)) for a in wanted.arrows]
    asked = [a for a in asked if not a.control]
    marked = [
        *(replace(a, mark="missing") for a in asked if a not in set(data)),
        *(replace(a, mark="needless") for a in data if a not in set(asked)),
        *waits,
    ]
    absent = [replace(b, name=name(b.name)) for b in wanted.boxes if b.name not in mine_of]
    extra = {b.name for b in mine.boxes} - set(mine_of.values())
    ringed = dict.fromkeys(extra, NEEDLESS) | {b.name: WRONG for b in absent}
    place = {box.name: index for index, box in enumerate(mine.boxes)}
    marked.sort(key=lambda a: place.get(a.target, -1))  # what was read beside what should be
    if not marked and not ringed:
        return None
    named = [n for a in marked for n in (a.source, a.target)] + list(ringed)
    shown = set(list(dict.fromkeys(named))[:_MOST])
    known = {(a.source, a.target, a.control) for a in marked}
    arrows = [a for a in mine.arrows if (a.source, a.target, a.control) not in known]
    there = between(Picture(mine.boxes, (*arrows, *marked)), shown)
    whole = between(Picture((*in_run_order(there).boxes, *absent), (*arrows, *marked)), shown)
    lanes = [lane for lane in LANES if any(box.lane == lane for box in whole.boxes)]
    caption = (
        "Red and dashed: missing. Grey and thick: not wanted. The numbers are the order in which "
        "yours runs."
    )
    return drawing(
        lambda alone: lanes_svg(whole, lanes, Emphasis(ringed), alone), words or caption, caption
    )


def draw_diff(diff: Diff) -> Drawing:
    """The picture of a ``Diff``: its words, and what differs on the graph."""
    text = diff.summary()
    if diff.graphs is None or diff.equal:
        return drawing_of_words(text)
    a, b, mine_of = diff.graphs
    drawn = draw_differences(fold(a), fold(b), mine_of, _waits(diff, b), text)
    if drawn is None:
        return drawing_of_words(text)
    told = f'<pre style="white-space:pre-wrap">{escape(text)}</pre>'
    return Drawing(f"{drawn.html}{told}", drawn.svg, text)


def _waits(diff: Diff, mine: fx.Graph) -> list[Arrow]:
    """The waits that differ, between the boxes that stand for their nodes."""
    marks = {Differs.MUST_WAIT: "missing", Differs.NEEDLESS_WAIT: "needless"}
    boxes = {node.name: stands for node, stands in stand_ins(mine).items()}
    arrows = [
        Arrow(source.name, target.name, control=True, mark=marks[one.kind])
        for one in diff
        if one.kind in marks and one.other is not None
        for source in boxes[one.other]
        for target in boxes[one.node]
        if source is not target
    ]
    return list(dict.fromkeys(arrows))  # two views may look at one value
