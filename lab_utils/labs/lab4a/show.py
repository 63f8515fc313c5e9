"""Yours beside what is wanted, for the tasks of notebooks 01 and 02 and for the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.charts.colors import NEEDLESS, RIGHT, WRONG
from lab_utils.kit.charts.drawn import Drawing, drawing, stacked
from lab_utils.kit.task import Case, Show
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.labs.graphs.show import before_and_after, rewired_readers
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.draw.blocks import between
from lab_utils.steps.draw.boxes import fold, numbered
from lab_utils.steps.draw.diff_picture import draw_diff
from lab_utils.steps.draw.lanes import LANES, Emphasis, lanes_svg
from lab_utils.steps.draw.memory_svg import ByKind, Panel, memory_svg
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.graph import Kind
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import Storage, storages


def _beside(yours: ByKind, wanted: ByKind, note: str, what: str = "held") -> Drawing:
    panels = [Panel("yours", yours, note), Panel("wanted", wanted, note)]
    peaks = [max(panel.total, default=0) for panel in panels]
    words = f"{note}: yours at most {peaks[0]:,.0f} bytes, wanted {peaks[1]:,.0f}"
    return drawing(lambda alone: memory_svg(panels, alone=alone, what=what), words)


def kinds(case: Case, answer: Mapping[str, str]) -> Drawing:
    """The memory line in the student's colours beside the same line in the right ones."""
    graph = graph_of(case.given["graph"])
    line = live_bytes(graph, program_order(graph))
    wanted = case.wanted["kinds"]
    memory = storages(graph)
    # An operator with several outputs may be told as any of them: its storages tell themselves.
    told_by = {s: n.name for n in reversed(graph.nodes) if n.name in wanted for s in memory[n]}
    return _beside(
        _coloured(line, answer, told_by), _coloured(line, wanted, told_by), "bytes held, by kind"
    )


def _coloured(line: MemoryLine, told: Mapping[str, str], told_by: Mapping[Storage, str]) -> ByKind:
    held = {kind: [0] * len(line.total) for kind in Kind}
    for life in line.lifetimes:
        kind = Kind(told.get(told_by.get(life.storage, life.name), Kind.OTHER))
        for step in range(life.first, life.last + 1):
            held[kind][step] += life.nbytes
    return held


def lifetimes(case: Case, answer: Mapping[str, list[str | None]]) -> Drawing:
    """Activations held from birth to the last use that was told."""
    graph = graph_of(case.given["graph"])
    line = live_bytes(graph, program_order(graph))
    step = {node.name: at for node, at in line.schedule.step_of().items()}
    size: dict[str, int] = {}
    for life in line.lifetimes:
        size[life.name] = size.get(life.name, 0) + life.nbytes

    def held(told: Mapping[str, list[str | None]]) -> ByKind:
        total = [0] * len(line.total)
        for name, uses in told.items():
            last = max((step.get(use, 0) for use in uses if use), default=0)
            for at in range(step.get(name, 0), last + 1):
                total[at] += size.get(name, 0)
        return {Kind.ACTIVATION: total}

    return _beside(held(answer), held(case.wanted["uses"]), "activations until their last use")


def profile(case: Case, answer: list[dict[str, Any]]) -> Drawing:
    """Bytes that each operator allocates, row by row."""

    def rows(told: list[dict[str, Any]]) -> ByKind:
        return {Kind.OTHER: [max(int(row["bytes"]), 0) for row in told]}

    return _beside(rows(answer), rows(case.wanted["rows"]), "bytes of each operator", "allocated")


def peak(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """What the peak is made of."""
    right = case.wanted["by_kind"]

    def bar(told: Mapping[str, float]) -> ByKind:
        return {Kind(kind): [int(held)] for kind, held in told.items()}

    return _beside(bar(answer["by_kind"]), bar(right), "what the peak is made of")


def again(case: Case, answer: list[str]) -> Drawing:
    """The nodes that run again: rightly, needlessly, or forgotten."""
    graph, wanted = graph_of(case.given["graph"]), case.wanted["nodes"]
    place = {name: at for at, name in enumerate(answer)}
    reads = {n.name: [r.name for r in n.all_input_nodes] for n in graph.nodes}
    early = {n for n in answer for r in reads.get(n, ()) if place.get(r, -1) > place[n]}
    ringed = dict.fromkeys(answer, NEEDLESS) | dict.fromkeys(wanted, WRONG)
    ringed |= {name: RIGHT for name in answer if name in wanted and name not in early}
    picture = numbered(fold(graph), answer)
    near = {a.source for a in picture.arrows if a.target in ringed} | set(ringed)
    shown = between(picture, near)
    lanes = [lane for lane in LANES if any(box.lane == lane for box in shown.boxes)]
    caption = (
        "Blue: runs again in yours and as wanted. Red: forgotten, or before what it reads. Grey: "
        "needless. The numbers are your order."
    )
    words = f"yours: {', '.join(answer)}\nwanted: {', '.join(wanted)}"
    return drawing(lambda alone: lanes_svg(shown, lanes, Emphasis(ringed), alone), words, caption)


def file(case: Case, answer: Mapping[str, Any]) -> Drawing | None:
    """The memory line of the graph as it was given beside that of the file."""
    if answer["text"] is None:
        return None
    base, mine = graph_of(case.wanted["graph"]), graph_of(answer["text"])
    lines = {"as given": _eager(base), str(answer["file"]): _eager(mine)}
    return plot_memory(lines)


def traced_file(case: Case, answer: Mapping[str, Any]) -> Drawing | None:
    """The same, and where the file is another graph, how."""
    lines = file(case, answer)
    if lines is None:
        return None
    found = diff(graph_of(case.wanted["graph"]), graph_of(answer["text"]))
    return lines if found.equal else stacked(lines, draw_diff(found))


def _eager(graph: fx.Graph) -> MemoryLine:
    return live_bytes(graph, as_soon_as_possible(graph))


SHOW: dict[str, Show] = {
    "1.1": kinds,
    "1.2": lifetimes,
    "1.3": profile,
    "1.4": peak,
    "1.5": traced_file,
    "2.1": again,
    "2.2": before_and_after,
    "3.1": rewired_readers,
    "4.1": before_and_after,
    "4.2": file,
}
