"""The picture of a roofline: roofs of machines, and operators under them.

Both axes are logarithmic. A dot stands at its intensity, on the roof (as fast as the machine
allows) or, where a rate was measured, at that rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lab_utils.instruments.roofline.machines import Machine
from lab_utils.kit.charts.axes import turned
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE, PALE, RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, escaped, line, text

LEFT, TOP, WIDTH, HEIGHT = 64, 30, 620, 300
_RIGHT, _BOTTOM = LEFT + WIDTH, TOP + HEIGHT
#: Roofs are told apart by their dashes as well as by their colours.
_LOOKS = (("currentColor", ""), (GREEN, "7 3"), (PALE, "2 3"), (PALE, "9 3 2 3"))
MEMORY_BOUND, COMPUTE_BOUND = ORANGE, BLUE
_PREFIXES = {0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}


@dataclass(frozen=True)
class Roof:
    """The roof of a machine for one data type."""

    machine: Machine
    dtype: str

    @property
    def title(self) -> str:
        """``A100, bf16``."""
        return f"{self.machine.name}, {self.dtype}"


@dataclass(frozen=True)
class Dot:
    """An operator: operations for each byte, and the operations a second that were measured.

    Without a ``rate`` it stands on the first roof. ``trail`` are intensities that it has had
    or will have; ``wrong`` marks one that is not where it should be.
    """

    name: str
    intensity: float
    rate: float | None = None
    trail: tuple[float, ...] = ()
    wrong: bool = False


@dataclass(frozen=True)
class Frame:
    """What the axes reach: powers of ten of operations a byte, and of operations a second."""

    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, intensity: float) -> float:
        """Where an intensity stands; what is off the axis stands at its end."""
        share = (math.log10(max(intensity, 1e-30)) - self.x[0]) / (self.x[1] - self.x[0])
        return LEFT + min(max(share, 0), 1) * WIDTH

    def up(self, rate: float) -> float:
        """Where a rate stands."""
        share = (math.log10(max(rate, 1e-30)) - self.y[0]) / (self.y[1] - self.y[0])
        return _BOTTOM - min(max(share, 0), 1) * HEIGHT


def frame_for(roofs: Iterable[Roof], x: tuple[float, float] = (-1, 4)) -> Frame:
    """Axes that hold all roofs, so that a picture stands still while its dots move."""
    rates = [roof.machine.rate(roof.dtype) for roof in roofs]
    top = math.log10(max(rates)) + 0.4
    lowest = min(roof.machine.bandwidth for roof in roofs) if rates else 1e9
    return Frame(x, (math.floor(math.log10(lowest * 10 ** x[0])), top))


def in_words(value: float, unit: str) -> str:
    """``312 TFLOP/s``, ``1.94 TB/s``; three digits."""
    if value <= 0:
        return f"0 {unit}"
    power = max(0, min(18, 3 * math.floor(math.log10(value) / 3 + 1e-9)))
    return f"{value / 10**power:.3g} {_PREFIXES[power]}{unit}"


def draw_roofline(
    roofs: Sequence[Roof], dots: Sequence[Dot] = (), caption: str = "", frame: Frame | None = None
) -> Drawing:
    """Roofs and the operators under them, as a picture and in words."""
    words = [f"{r.title}: ridge at {r.machine.ridge(r.dtype):.3g} operations a byte" for r in roofs]
    words += [f"{dot.name}: {told(dot, roofs[0])}" for dot in dots]
    return drawing(
        lambda alone: roofline_svg(roofs, dots, frame or frame_for(roofs), alone),
        "\n".join(words),
        caption,
    )


def told(dot: Dot, roof: Roof) -> str:
    """What a dot says, in words."""
    rate = roof.machine.attainable(dot.intensity, roof.dtype) if dot.rate is None else dot.rate
    bound = "compute" if dot.intensity >= roof.machine.ridge(roof.dtype) else "memory"
    return f"{dot.intensity:.3g} operations a byte, {in_words(rate, 'FLOP/s')}, bound by {bound}"


def roofline_svg(roofs: Sequence[Roof], dots: Sequence[Dot], frame: Frame, alone: bool) -> str:
    """The picture."""
    body = [*_axes(frame), *_roofs(roofs, frame), *_dots(roofs[0], dots, frame)]
    label = f"Roofline of {' and '.join(roof.title for roof in roofs)}"
    if dots:
        label += f"; {len(dots)} operators: " + "; ".join(
            f"{dot.name} {told(dot, roofs[0])}" for dot in dots
        )
    return document(_RIGHT + 20, _BOTTOM + 44, label, body, alone)


def _axes(frame: Frame) -> list[str]:
    parts = [
        line(LEFT, _BOTTOM, _RIGHT, _BOTTOM),
        line(LEFT, TOP, LEFT, _BOTTOM),
        text((LEFT + _RIGHT) / 2, _BOTTOM + 36, "operations for each byte", text_anchor="middle"),
        turned(14, (TOP + _BOTTOM) / 2, "operations a second"),
    ]
    for power in range(math.ceil(frame.x[0]), math.floor(frame.x[1]) + 1):
        x = frame.across(10.0**power)
        parts.append(line(x, TOP, x, _BOTTOM, stroke_opacity=0.12))
        mark = f"{10.0**power:,g}"
        parts.append(text(x, _BOTTOM + 16, mark, text_anchor="middle", font_size=10))
    for power in range(math.ceil(frame.y[0]), math.floor(frame.y[1]) + 1):
        y = frame.up(10.0**power)
        parts.append(line(LEFT, y, _RIGHT, y, stroke_opacity=0.12))
        mark = in_words(10.0**power, "")
        parts.append(text(LEFT - 6, y + 4, mark, text_anchor="end", font_size=10))
    return parts


def _roofs(roofs: Sequence[Roof], frame: Frame) -> list[str]:
    parts, key = [], LEFT
    for place, roof in reversed(list(enumerate(roofs))):
        colour, dashes = _LOOKS[place % len(_LOOKS)]
        machine, rate = roof.machine, roof.machine.rate(roof.dtype)
        ridge = machine.ridge(roof.dtype)
        start = max(10 ** frame.x[0], 10 ** frame.y[0] / machine.bandwidth)
        ends = ((start, start * machine.bandwidth), (ridge, rate), (10 ** frame.x[1], rate))
        path = "L".join(f"{frame.across(i):.1f} {frame.up(r):.1f}" for i, r in ends)
        wide = 3 if place == 0 else 1.6
        tip = escaped(
            f"{roof.title}: {in_words(rate, 'FLOP/s')}, {in_words(machine.bandwidth, 'B/s')}, "
            f"ridge at {ridge:.3g} operations a byte"
        )
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{wide}" '
            f'stroke-dasharray="{dashes}"><title>{tip}</title></path>'
        )
    for place, roof in enumerate(roofs):
        colour, dashes = _LOOKS[place % len(_LOOKS)]
        look = {"stroke": colour, "stroke_width": 2.4, "stroke_dasharray": dashes}
        parts.append(line(key, 12, key + 26, 12, **look))
        parts.append(text(key + 32, 16, roof.title))
        key += 60 + round(6.6 * len(roof.title))
    if roofs:
        ridge = roofs[0].machine.ridge(roofs[0].dtype)
        x = frame.across(ridge)
        parts.append(line(x, TOP, x, _BOTTOM, stroke_dasharray="3 4", stroke_opacity=0.7))
        parts.append(text(x + 4, TOP + 10, f"ridge {ridge:.3g}", font_size=10))
    return parts


def _dots(roof: Roof, dots: Sequence[Dot], frame: Frame) -> list[str]:
    trails, parts, labels = [], [], []
    for dot in dots:
        on_roof = roof.machine.attainable(dot.intensity, roof.dtype)
        rate = on_roof if dot.rate is None else dot.rate
        x, y = frame.across(dot.intensity), frame.up(rate)
        high = dot.intensity >= roof.machine.ridge(roof.dtype)
        fill = RED if dot.wrong else COMPUTE_BOUND if high else MEMORY_BOUND
        if len(dot.trail) > 1:
            ends = [
                f"{frame.across(i):.1f} {frame.up(roof.machine.attainable(i, roof.dtype)):.1f}"
                for i in dot.trail
            ]
            trails.append(
                f'<path d="M{"L".join(ends)}" fill="none" stroke="{PALE}" stroke-width="7" '
                'stroke-opacity="0.25" stroke-linecap="round"/>'
            )
        tip = escaped(f"{dot.name}: {told(dot, roof)}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{fill}" stroke="currentColor">'
            f"<title>{tip}</title></circle>"
        )
        labels.append((x, y, dot.name))
    return [*trails, *parts, *_labels(labels)]


def _labels(places: Sequence[tuple[float, float, str]]) -> list[str]:
    """Names below the dots, to the right; those on one spot share a line, others step down."""
    groups: list[tuple[float, float, list[str]]] = []
    for x, y, name in sorted(places, key=lambda place: place[0]):
        if groups and abs(groups[-1][0] - x) < 9 and abs(groups[-1][1] - y) < 9:
            groups[-1][2].append(name)
        else:
            groups.append((x, y, [name]))
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for x, y, names in groups:
        words = ", ".join(names)
        wide = 5.8 * len(words)
        left = max(min(x + 9, _RIGHT - wide), LEFT + 2)
        down = y + 17
        while any(left < b and a < left + wide and abs(down - d) < 13 for a, b, d in taken):
            down += 13
        if down > _BOTTOM - 4:
            down = y - 10
        taken.append((left, left + wide, down))
        parts.append(line(x, y, left + 2, down - 4, stroke_opacity=0.4))
        parts.append(text(left + 3, down, words, font_size=10.5))
    return parts
