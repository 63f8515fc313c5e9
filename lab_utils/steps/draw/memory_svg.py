"""The memory line as SVG: bytes held at each step, stacked by kind, the peak marked.

Plain lists in, text out: it needs neither a graph nor a plotting library, so feedback
pages and notebooks without a kernel can show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab_utils.kit.charts.axes import Scale, scale_for, turned, worst_steps
from lab_utils.kit.charts.colors import RED
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.words import size
from lab_utils.steps.draw.kinds import TEXTURES, legend, paint
from lab_utils.steps.graph import Kind

ByKind = Mapping[Kind, Sequence[int]]
_LEFT, _TOP, _WIDTH, _HEIGHT, _GAP = 52, 44, 400, 190, 26
#: Where the plot begins and ends, and the height of the whole picture.
PLOT_TOP, PLOT_BOTTOM = _TOP, _TOP + _HEIGHT
FULL_HEIGHT = PLOT_BOTTOM + 62
_COLUMNS = 400  # a longer line is drawn by the worst step of each column


@dataclass(frozen=True)
class Panel:
    """One memory line to draw: bytes of each kind at each step, and what it is.

    ``unit`` is ``values`` where a drawing without shapes does not tell the bytes.
    """

    title: str
    by_kind: ByKind
    note: str = ""
    unit: str = "bytes"

    @property
    def total(self) -> list[int]:
        """Bytes held at each step."""
        return [sum(held) for held in zip(*self.by_kind.values(), strict=True)]


def memory_svg(
    panels: Sequence[Panel],
    budget: int | None = None,
    wanted: Sequence[int] | None = None,
    alone: bool = True,
    what: str = "held",
    dashed: str = "budget",
) -> str:
    """Memory lines side by side on one scale, as SVG text.

    Args:
        panels: the lines, from left to right.
        budget: bytes that must not be exceeded, drawn as a dashed line.
        wanted: the bytes of each step that a good result reaches, dotted over the last line.
        what: what the bytes are, for the axis.
        dashed: what the dashed line is called, if it is no budget.
        alone: with a white ground, for a file or an image; else it takes the page's colours.
    """
    highest = max((max(p.total, default=0) for p in panels), default=0)
    unit = panels[0].unit if panels else "bytes"
    scale = scale_for(max(highest, budget or 0, max(wanted or [0])), unit)
    body = [_axis(scale, what)]
    for place, panel in enumerate(panels):
        body += _panel(panel, panel_left(place), scale, budget, dashed)
    if wanted:
        body.append(_wanted(panels[-1], wanted, panel_left(len(panels) - 1), scale))
    kinds = [k for k in Kind if any(any(p.by_kind.get(k, ())) for p in panels)]
    body.append(legend(kinds, _LEFT, FULL_HEIGHT - 8))
    width = picture_width(len(panels))
    return document(width, FULL_HEIGHT, _label(panels, unit), body, alone, TEXTURES)


def picture_width(panels: int) -> float:
    """The width of a picture with so many panels; the legend needs its room too."""
    return max(panel_left(panels), 800)


def panel_left(place: int) -> float:
    """Where the panel ``place`` begins."""
    return _LEFT + place * (_WIDTH + _GAP)


def step_x(step: float, steps: int) -> float:
    """Pixels from the left of its panel to the middle of ``step``."""
    return (step + 0.5) * _WIDTH / max(steps, 1)


def height_of(nbytes: float, scale: Scale) -> float:
    """The vertical place of ``nbytes`` in the picture."""
    return PLOT_BOTTOM - nbytes / scale.top * _HEIGHT


def _axis(scale: Scale, what: str) -> str:
    parts = [
        text(_LEFT - 6, height_of(t * scale.factor, scale) + 4, f"{t:g}", text_anchor="end")
        for t in scale.ticks
    ]
    return "".join([*parts, turned(14, _TOP + _HEIGHT / 2, f"{what} ({scale.unit})")])


def _panel(panel: Panel, left: float, scale: Scale, budget: int | None, dashed: str) -> list[str]:
    total = panel.total
    columns = worst_steps(total, _COLUMNS)
    right = left + _WIDTH
    title = {"text_anchor": "middle", "font_weight": "bold", "font_size": 12}
    parts = [text(left + _WIDTH / 2, 16, panel.title, **title)]
    if panel.note:
        note = {"text_anchor": "middle", "font_size": 10}
        parts.append(text(left + _WIDTH / 2, 30, panel.note, **note))
    for tick in scale.ticks:
        y = height_of(tick * scale.factor, scale)
        parts.append(line(left, y, right, y, stroke_opacity=0.15))
    floor = [0.0] * len(columns)
    for kind in Kind:
        held = panel.by_kind.get(kind, ())
        if not any(held):
            continue
        roof = [low + held[step] for low, step in zip(floor, columns, strict=True)]
        most = max(held)
        parts.append(
            f'<path d="{_area(floor, roof, left, scale)}" fill="{paint(kind)}" stroke="#777" '
            f'stroke-width="0.4"><title>{kind}: at most {size(most, panel.unit)}</title></path>'
        )
        floor = roof
    parts.append(line(left, PLOT_BOTTOM, right, PLOT_BOTTOM))
    parts += _step_axis(len(total), left)
    if total:
        parts.append(_peak(panel, left, scale))
    if budget is not None:
        y = height_of(budget, scale)
        parts.append(line(left, y, right, y, stroke_dasharray="6 4"))
        parts.append(_beside(f"{dashed} {size(budget, panel.unit)}", y, budget, total, left))
    return parts


def _beside(words: str, y: float, budget: int, total: Sequence[int], left: float) -> str:
    """A label on the line at ``y``, at that end of it where less stands in its way."""
    many = max(1, round(len(total) * (6.5 * len(words) + 8) / _WIDTH))
    before, after = (sum(held > budget for held in part) for part in (total[:many], total[-many:]))
    if before > after:
        return text(left + _WIDTH - 4, y - 4, words, text_anchor="end")
    return text(left + 4, y - 4, words)


def _area(floor: list[float], roof: list[float], left: float, scale: Scale) -> str:
    edge = [left + i * _WIDTH / len(roof) for i in range(len(roof) + 1)]

    def stairs(heights: list[float], places: range, after: int) -> str:
        """One stair for each run of equal heights; ``after`` leads to the far edge of a step."""
        ends = [i for i in places if i == places[-1] or heights[i] != heights[i + places.step]]
        return "".join(f"V{height_of(heights[i], scale):.1f}H{edge[i + after]:.1f}" for i in ends)

    start = f"M{edge[0]:.1f} {height_of(floor[0], scale):.1f}"
    forth, back = range(len(roof)), range(len(roof) - 1, -1, -1)
    return f"{start}{stairs(roof, forth, 1)}{stairs(floor, back, 0)}z"


def _step_axis(steps: int, left: float) -> list[str]:
    ends = {"text_anchor": "middle", "font_size": 10}
    marks = sorted({0, steps // 4, steps // 2, 3 * steps // 4, max(steps - 1, 0)})
    parts = [text(left + step_x(s, steps), PLOT_BOTTOM + 14, f"{s}", **ends) for s in marks]
    return [*parts, text(left + _WIDTH / 2, PLOT_BOTTOM + 28, "step", text_anchor="middle")]


def _peak(panel: Panel, left: float, scale: Scale) -> str:
    total = panel.total
    peak, at = max(total), total.index(max(total))
    x, y = left + step_x(at, len(total)), height_of(peak, scale)
    words = min(max(x, left + 50), left + _WIDTH - 50)
    return f'<path d="M{x:.1f} {y:.1f}l-5 -9h10z" fill="{RED}" stroke="white"/>' + text(
        words, y - 12, f"peak {size(peak, panel.unit)}", text_anchor="middle", font_weight="bold"
    )


def _wanted(panel: Panel, wanted: Sequence[int], left: float, scale: Scale) -> str:
    """Step by step, or only its peak where the steps are not the same ones."""
    steps = len(panel.total)
    held = list(wanted) if len(wanted) == steps else [max(wanted)] * steps
    columns = worst_steps(panel.total, _COLUMNS)
    points = [f"{left + step_x(s, steps):.1f} {height_of(held[s], scale):.1f}" for s in columns]
    peak = size(max(wanted), panel.unit)
    name = text(left + 6, _TOP + 4, f"wanted: peak {peak} (dotted)", font_size=10)
    return (
        f'<path d="M{"L".join(points)}" fill="none" stroke="#1f4fa0" stroke-width="2" '
        f'stroke-dasharray="1 3" stroke-linecap="round"><title>wanted</title></path>{name}'
    )


def _label(panels: Sequence[Panel], unit: str) -> str:
    told = [f"{p.title}: peak {size(max(p.total, default=0), p.unit)}" for p in panels]
    return f"{unit.capitalize()} held at each step, by kind. " + "; ".join(told)
