"""Yours beside what is wanted, for tasks 5.1 to 5.4: bars, and marks on the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import fx

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.colors import NEEDLESS, RIGHT, WRONG
from lab_utils.kit.charts.drawn import Drawing, drawing, stacked
from lab_utils.kit.task import Case
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.draw.blocks import WORK, between
from lab_utils.steps.draw.boxes import fold, numbered
from lab_utils.steps.draw.lanes import LANES, Emphasis, lanes_svg

Fields = Mapping[str, Any]
_READ_BARS = "Filled: yours. Outline: wanted. Red and dashed: forgotten. Grey: not wanted."
_READ_RINGS = "Blue ring: right. Red: forgotten, or of other bytes. Grey: not wanted."


def candidates(case: Case, answer: Mapping[str, float]) -> Drawing:
    """Bytes of each candidate, and where the candidates stand in the graph."""
    graph, wanted = graph_of(case.given["graph"]), case.wanted["nbytes"]
    rows = []
    for name in _in_order(graph, (*wanted, *answer)):
        mine, right = answer.get(name), wanted.get(name)
        mark = "forgotten" if mine is None else "no candidate" if right is None else ""
        mark = mark or ("" if mine == right else "other bytes")
        rows.append(Row(name, (Bar(length(mine), length(right)),), mark))
    bars = draw_bars(["freed (bytes)"], rows, _READ_BARS)
    marks = _marked({"": list(answer)}, {"": list(wanted)})
    other = [name for name, nbytes in answer.items() if wanted.get(name, nbytes) != nbytes]
    marks |= dict.fromkeys(other, (WRONG, "other bytes"))
    return stacked(bars, _on_graph(graph, marks, WORK, whole=True))


def rebuild(case: Case, answer: Mapping[str, list[str]]) -> Drawing:
    """Sources and path on the graph."""
    marks = _marked(answer, case.wanted)
    return _on_graph(graph_of(case.given["graph"]), marks, LANES, whole=False, order=answer["path"])


def described(case: Case, answer: Sequence[Fields]) -> Drawing:
    """How long each candidate lies idle, what it saves, and what it costs."""
    graph, wanted = graph_of(case.given["graph"]), case.wanted["candidates"]
    mine = {fields["node"]: fields for fields in answer}
    step = {node.name: place for place, node in enumerate(graph.nodes)}

    def bars(fields: Fields | None) -> list[tuple[float, float] | None]:
        if fields is None:
            return [None] * 4
        uses = [step.get(fields[use], 0) for use in ("last_forward", "first_backward")]
        saved, cost = fields["nbytes"], fields["total"]
        ratio = saved / cost if cost else 0.0
        return [(min(uses), max(uses)), *map(length, (saved, cost, ratio))]

    rows = []
    for name in _in_order(graph, (*wanted, *mine)):
        pairs = zip(bars(mine.get(name)), bars(wanted.get(name)), strict=True)
        told = tuple(Bar(*pair) for pair in pairs)
        rows.append(Row(name, told, _differs(mine.get(name), wanted.get(name))))
    columns = ["idle (nodes)", "saved (bytes)", "total (s)", "ratio (bytes/s)"]
    idle = "Idle: from last_forward to first_backward, by place in the graph."
    return draw_bars(columns, rows, f"{_READ_BARS} {idle}")


def updated(case: Case, answer: Sequence[Fields]) -> Drawing:
    """The account of every candidate after the choice; the one before it as a tick."""
    given = case.given
    before = [given["t"], *given["chosen"], *given["remaining"]]
    parts = ["t", *["chosen"] * len(given["chosen"]), *["remaining"] * len(given["remaining"])]
    shown = ("seconds", "count", "total")
    rows = [
        Row(
            f"{part}: {right['node']}",
            tuple(Bar(length(mine[f]), length(right[f]), old[f]) for f in shown),
            _differs(mine, right),
        )
        for part, old, mine, right in zip(parts, before, answer, case.wanted["after"], strict=True)
    ]
    columns = ["seconds (s)", "count (times)", "total (s)"]
    return draw_bars(columns, rows, f"{_READ_BARS} Dotted tick: before {given['t']['node']}.")


def analysed(case: Case, answer: Mapping[str, Sequence[float]]) -> Drawing:
    """The table of task 6.1, row by row."""
    graph, wanted = graph_of(case.given["graph"]), case.wanted["rows"]
    columns = ["bytes (bytes)", "idle_seconds (s)", "recompute_seconds (s)"]
    nothing = (None,) * len(columns)
    rows = []
    for name in _in_order(graph, (*wanted, *answer)):
        pairs = list(zip(answer.get(name, nothing), wanted.get(name, nothing), strict=True))
        wrong = [
            title.partition(" ")[0]
            for title, (mine, right) in zip(columns, pairs, strict=True)
            if mine is not None and right is not None and abs(mine - right) > 1e-6 * max(right, 1)
        ]
        mark = "no row" if name not in answer else "not wanted" if name not in wanted else ""
        bars = tuple(Bar(length(mine), length(right)) for mine, right in pairs)
        rows.append(Row(name, bars, mark or ", ".join(wrong)))
    return draw_bars(columns, rows, _READ_BARS)


def _differs(mine: Fields | None, wanted: Fields | None) -> str:
    """The first field in which two candidates differ."""
    if mine is None:
        return "forgotten"
    if wanted is None:
        return "no candidate"
    for field, right in wanted.items():
        near = isinstance(right, float) and abs(mine[field] - right) <= 1e-6 * max(abs(right), 1)
        if mine[field] != right and not near:
            return field
    return ""


def _in_order(graph: fx.Graph, names: Iterable[str]) -> list[str]:
    """The names, each once, in program order; at the end what the graph does not have."""
    step = {node.name: place for place, node in enumerate(graph.nodes)}
    return sorted(dict.fromkeys(names), key=lambda name: step.get(name, len(step)))


Marks = dict[str, tuple[str, str]]


def _marked(mine: Mapping[str, Sequence[str]], wanted: Mapping[str, Sequence[str]]) -> Marks:
    """Colour and words of each node that was told or wanted, by what it is to be."""
    marks: Marks = {}
    for what, names in mine.items():
        word = what.removesuffix("s")
        right = wanted[what]
        marks |= {n: (NEEDLESS, f"{word} ✗".strip()) for n in names if n not in right}
        marks |= {n: (RIGHT, f"{word} ✓".strip()) for n in names if n in right}
        marks |= {n: (NEEDLESS, f"{word}, twice ✗") for n in names if names.count(n) > 1}
    for what, names in wanted.items():
        word = what.removesuffix("s")
        marks |= {n: (WRONG, f"{word} forgotten".strip()) for n in names if n not in mine[what]}
    return marks


def _on_graph(
    graph: fx.Graph, marks: Marks, lanes: Sequence[str], whole: bool, order: Sequence[str] = ()
) -> Drawing:
    """The marks on the graph: the whole of it, or the marked nodes and what they read.

    ``order`` are nodes that run one after the other, and are numbered.
    """
    picture = fold(graph)
    if not whole:
        near = {a.source for a in picture.arrows if a.target in marks} | set(marks)
        picture = between(picture, near)
    told = tuple(
        replace(b, text=f"{b.name}: {marks[b.name][1]}") if b.name in marks else b
        for b in picture.boxes
    )
    picture = numbered(replace(picture, boxes=told), order)
    present = [lane for lane in lanes if any(box.lane == lane for box in told)]
    ringed = {name: colour for name, (colour, _) in marks.items()}
    drawn = {box.name for box in told}
    views = [f"{name} ({word})" for name, (_, word) in marks.items() if name not in drawn]
    caption = _READ_RINGS + (" The numbers are your order." if order else "")
    caption += f" Not in the picture: {', '.join(views)}." if views else ""
    words = "\n".join(f"{name}: {word}" for name, (_, word) in marks.items())
    return drawing(
        lambda alone: lanes_svg(picture, present, Emphasis(ringed), alone), words, caption
    )
