"""The memory film: a slider over a schedule, what runs, what is held, what is alive."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from torch import fx

from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import INK, document, line
from lab_utils.kit.errors import LabError
from lab_utils.kit.words import size
from lab_utils.steps.draw.kinds import FILL, LETTER
from lab_utils.steps.draw.memory_svg import (
    FULL_HEIGHT,
    PLOT_BOTTOM,
    PLOT_TOP,
    Panel,
    memory_svg,
    panel_left,
    picture_width,
    step_x,
)
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.graph import Kind, Phase, kind, operator_word, phase
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import is_operation

PROGRAM, EAGER = "program order", "as soon as possible"
_ALIVE = 9  # rows of the list
_CHIPS, _BESIDE = 6, 2  # operators of this step, and of the ones before and after it


def film(
    graphs: fx.Graph | Mapping[str, fx.Graph], rule: str = PROGRAM, schedules: bool | None = None
) -> Film:
    """Run through the schedule of a graph, or of several side by side (before and after).

    Args:
        graphs: one graph, or graphs by title.
        rule: the schedule to begin with, "program order" or "as soon as possible".
        schedules: whether to offer the other schedule and a number of workers; unless given,
            where the film begins with "as soon as possible".
    """
    named = {"one training step": graphs} if isinstance(graphs, fx.Graph) else dict(graphs)
    if rule not in (PROGRAM, EAGER):
        raise LabError(f"rule must be {PROGRAM!r} or {EAGER!r}, not {rule!r}")
    return Film(named, rule, rule == EAGER if schedules is None else schedules)


class Film(Live):
    """The widget that ``film`` returns; its controls are attributes."""

    def __init__(self, graphs: Mapping[str, fx.Graph], rule: str, schedules: bool = True) -> None:
        w = widgets()
        self.graphs = graphs
        self.takes: dict[str, MemoryLine] = {}
        self.rule = w.ToggleButtons(options=[PROGRAM, EAGER], value=rule)
        self.workers = w.BoundedIntText(
            0, 0, 10_000, description="workers", tooltip="0: any number", layout={"width": "150px"}
        )
        self.play = w.Play(interval=150, show_repeat=False)
        self.step = w.IntSlider(description="step", layout={"width": "70%"})
        self.align = w.Checkbox(
            False, description="align by phase", indent=False, layout={"width": "auto"}
        )
        self.running, self.line, self.mark, self.alive = (w.HTML() for _ in range(4))
        for layer in (self.line, self.mark):  # one over the other
            layer.layout.grid_area = "picture"
        self.mark.style.description_width = "0"
        w.jslink((self.play, "value"), (self.step, "value"))
        self.rule.observe(lambda _: self._schedule(), "value")
        self.workers.observe(lambda _: self._schedule(), "value")
        self.step.observe(lambda _: self._move(), "value")
        self.align.observe(lambda _: self._align(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        by_rule = w.HBox([self.rule, self.workers, w.HTML("(0: any number)")], layout=row)
        several = [self.align] if len(graphs) > 1 else []
        self.widget = w.VBox(
            [
                *([by_rule] if schedules else []),
                w.HBox([self.play, self.step, *several], layout=row),
                self.running,
                w.GridBox([self.line, self.mark], layout={"grid_template_areas": '"picture"'}),
                self.alive,
            ]
        )
        self._schedule()
        self.static = plot_memory(self.takes)

    def _schedule(self) -> None:
        """Make the schedules anew and go to the first peak."""
        eager = self.rule.value == EAGER
        self.workers.disabled = not eager
        crew = self.workers.value or None
        self.takes = {
            title: live_bytes(g, as_soon_as_possible(g, crew) if eager else program_order(g))
            for title, g in self.graphs.items()
        }
        self._widest = max(map(_widest, self.takes.values()))
        panels = [Panel(t, line.by_kind, line.schedule.name) for t, line in self.takes.items()]
        self.line.value = memory_svg(panels, alone=False)
        self._end()
        self.step.value = next(iter(self.takes.values())).peak_step
        self._move()

    def _end(self) -> None:
        """Let the slider count the steps of the longest graph, or of the first where aligned."""
        lengths = [len(line.total) for line in self.takes.values()]
        self.step.max = self.play.max = (lengths[0] if self.align.value else max(lengths)) - 1

    def _align(self) -> None:
        self._end()
        self._move()

    def _move(self) -> None:
        """Only what depends on the step is sent to the page; the line stays."""
        step = self.step.value
        at = [(line, min(step, len(line.total) - 1)) for line in self.takes.values()]
        if self.align.value:
            first, now = at[0]
            at = [(line, same_place(first, now, line)) for line in self.takes.values()]
        running = [_running(line, now, self._widest) for line, now in at]
        self.running.value = _side_by_side(running)
        self.alive.value = _side_by_side([_alive(line, now) for line, now in at])
        self.mark.value = _mark([(len(line.total), now) for line, now in at])


def same_place(one: MemoryLine, step: int, other: MemoryLine) -> int:
    """The step of ``other`` that is as far in its phase as ``step`` is in that of ``one``."""
    mine, theirs = _stages(one), _stages(other)
    stage = mine[step]
    here = [at for at, s in enumerate(mine) if s == stage]
    there = [at for at, s in enumerate(theirs) if s == stage]
    if not there:  # it runs beside an earlier one
        return max((at for at, s in enumerate(theirs) if s < stage), default=0)
    share = here.index(step) / max(len(here) - 1, 1)
    return there[round(share * (len(there) - 1))]


def _stages(memory: MemoryLine) -> list[int]:
    """For each step how far the training step has come: what comes later never has a lower one."""
    order = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER)
    found, last = [], 0
    for nodes in memory.schedule.steps:
        now = [order.index(phase(n)) for n in nodes if phase(n) in order]
        last = max(last, min(now, default=last))
        found.append(last)
    return found


def _mark(places: list[tuple[int, int]]) -> str:
    """A transparent picture of the same size as the memory line, with a line at the step."""
    body = []
    for place, (steps, now) in enumerate(places):
        x = panel_left(place) + step_x(now, steps)
        body.append(line(x, PLOT_TOP, x, PLOT_BOTTOM, stroke="#2f7fe0", stroke_width=2))
    label = "steps " + ", ".join(str(now) for _, now in places)
    return document(picture_width(len(places)), FULL_HEIGHT, label, body, alone=False)


_COLUMN = "flex:0 1 426px;min-width:320px;box-sizing:border-box;padding-right:10px"


def _side_by_side(columns: list[str]) -> str:
    cells = "".join(f'<div style="{_COLUMN}">{column}</div>' for column in columns)
    return (
        f'<div style="display:flex;padding-left:52px;line-height:1.5;font-size:13px">{cells}</div>'
    )


def _running(memory: MemoryLine, now: int, widest: int) -> str:
    """The operators of the step before, of this one, and of the next.

    Each row is as high as the ``widest`` step needs, so that the film stands still.
    """
    steps = memory.schedule.steps
    rows = []
    for name, step in (("before", now - 1), ("now", now), ("next", now + 1)):
        nodes = steps[step] if 0 <= step < len(steps) else ()
        # Views take no time; a step of nothing else shows them.
        working = [n for n in nodes if is_operation(n)] or list(nodes)
        most = _CHIPS if step == now else _BESIDE
        chips = "".join(_chip(n.name, kind(n), operator_word(n)) for n in working[:most])
        more = f"and {len(working) - most} more" if len(working) > most else ""
        pale = "" if step == now else "opacity:.75;"
        rows.append(
            f'<div style="{pale}display:flex;min-height:{_LINE * min(widest, most, 4)}px">'
            f'<span style="flex:0 0 50px">{name}</span>'
            f'<span style="flex:1;min-width:0">{chips or "–"}{more}</span></div>'
        )
    return "".join(rows)


def _widest(memory: MemoryLine) -> int:
    """The most operators that work in one step."""
    return max((sum(map(is_operation, step)) for step in memory.schedule.steps), default=1)


_LINE = 24
_CHIP = (
    f"color:{INK};border:1px solid #777;border-radius:4px;padding:0 6px;margin:0 4px 3px 0;"
    "display:inline-block;white-space:nowrap;line-height:19px;vertical-align:top;"
    "max-width:100%;overflow:hidden;text-overflow:ellipsis"
)


def _chip(name: str, of: Kind, operator: str) -> str:
    told = f"{escape(name)}: {escape(operator)}"
    return (
        f'<span style="background:{FILL[of]};{_CHIP}" title="{told}"><b>{LETTER[of]}</b> {told}'
        "</span>"
    )


def _alive(memory: MemoryLine, now: int) -> str:
    """What is in memory at this step, largest first, as bars."""
    held = memory.alive(now)
    largest = held[0].nbytes if held and held[0].nbytes else 1
    cell = "padding:0 6px;white-space:nowrap;text-align"
    rows = "".join(
        f'<tr><td style="{cell}:left">{escape(one.name)}</td>'
        f'<td style="min-width:70px;padding:0"><div style="background:{FILL[one.kind]};'
        f"color:{INK};border:1px solid #777;box-sizing:border-box;"
        f"width:{max(100 * one.nbytes / largest, 12):.0f}%;"
        f'padding:0 3px;font-size:11px;line-height:14px;text-align:left">{LETTER[one.kind]}</div>'
        f'</td><td style="{cell}:right">{size(one.nbytes)}</td>'
        f'<td style="{cell}:left">steps {one.first}–{one.last}</td></tr>'
        for one in held[:_ALIVE]
    )
    rest = held[_ALIVE:]
    left = (
        f"<div>and {len(rest)} more, {size(sum(one.nbytes for one in rest))}</div>" if rest else ""
    )
    head = f"<b>step {now}: {size(memory.total[now])}</b> in {len(held)} values"
    return f'{head}<table style="line-height:1.2;font-size:12px">{rows}</table>{left}'
