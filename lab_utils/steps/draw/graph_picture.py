"""A bare graph in a cell: its blocks in lanes, each to be opened in place."""

from __future__ import annotations

from html import escape

from torch import fx

from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.errors import LabError
from lab_utils.kit.words import size
from lab_utils.steps.draw.blocks import WORK, as_blocks, between, module_paths, parts, split
from lab_utils.steps.draw.boxes import Picture, fold, in_run_order
from lab_utils.steps.draw.facts import facts_of
from lab_utils.steps.draw.lanes import LANES, Emphasis, lanes_svg
from lab_utils.steps.draw.plots import line_in_words, unit_of
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import program_order

FEW = 24  # nodes that are drawn at once
_OPENED = 400  # nodes that a page holds ready; explore() opens the others


def draw_graph(graph: fx.Graph) -> Drawing:
    """The picture of ``graph``: a small one whole, a large one as blocks with counts."""
    picture = fold(graph)
    line = program_line(graph)
    facts = {n: str(f) for n, f in facts_of(graph, line).items()} if line else {}
    emphasis = Emphasis(facts=facts)
    present = {box.lane for box in picture.boxes}
    head = summary(graph, picture, line)
    words = f"{head}\n{line_in_words(line)}" if line else head
    in_order = in_run_order(picture)
    if len(picture.boxes) <= FEW:
        lanes = [lane for lane in LANES if lane in present]
        html = f"<p>{escape(head)}</p>{lanes_svg(in_order, lanes, emphasis, alone=False)}"
        return Drawing(html, lanes_svg(in_order, lanes), words)
    lanes = [lane for lane in WORK if lane in present]
    paths = module_paths(graph)
    blocks = split(picture.boxes, paths)
    folded = as_blocks(picture, blocks)
    shown = [f"<p>{escape(head)}</p>", lanes_svg(folded, lanes, alone=False)]
    room = _OPENED
    for block in blocks:
        room -= len(block.boxes)
        summed = f"{block.label}: {len(block.boxes)} nodes"
        if room < 0 or not any(box.lane in lanes for box in block.boxes):
            continue
        divided = parts(block, paths)
        if len(divided) > 1:
            opened = as_blocks(picture, divided)
        else:
            opened = between(in_order, {box.name for box in block.boxes})
        inside = lanes_svg(opened, lanes, emphasis, alone=False)
        shown.append(f"<details><summary>{escape(summed)}</summary>{inside}</details>")
    if room < 0:
        shown.append("<p><code>explore(graph)</code> opens the other blocks.</p>")
    words += "".join(f"\n  {b.label}: {len(b.boxes)} nodes" for b in blocks)
    return Drawing("".join(shown), lanes_svg(folded, lanes), words)


def program_line(graph: fx.Graph) -> MemoryLine | None:
    """The memory line in program order; None for a graph that has no legal one."""
    try:
        return live_bytes(graph, program_order(graph))
    except LabError:
        return None


def summary(graph: fx.Graph, picture: Picture, line: MemoryLine | None) -> str:
    """One sentence: how large the graph is, and its peak."""
    counts: dict[str, int] = {}
    for box in picture.boxes:
        counts[box.lane] = counts.get(box.lane, 0) + 1
    told = ", ".join(f"{counts[lane]} {lane}" for lane in LANES if lane in counts)
    peak = f"; peak {size(line.peak, unit_of(line))} in program order" if line else ""
    views = len(graph.nodes) - 1 - len(picture.boxes)
    return f"Training-step graph: {told} (and {views} views, folded away){peak}"
