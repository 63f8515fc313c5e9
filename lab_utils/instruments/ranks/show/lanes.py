"""Ranks over virtual time as a picture: lanes of work, arrows of messages, what each rank holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from lab_utils.instruments.ranks.show.clock import Times
from lab_utils.kit.charts.axes import scale_for
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE, PALE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import OWN, Texture, document, line, rectangle, text
from lab_utils.kit.words import size

_LEFT, _WIDTH, _RIGHT = 64, 720, 84
_LANE, _GAP, _WIDE_GAP, _HELD, _HEAD, _FOOT = 22, 16, 34, 16, 40, 38
_MOST_LABELS = 30  # arrows with their bytes beside them; more only when pointed at
BUBBLE = Texture("bubble", "#88888822", "M0 8L8 0M-2 2L2 -2M6 10L10 6")


@dataclass(frozen=True)
class View:
    """One run in a picture that may have several, all over the same stretch of time."""

    title: str
    times: Times
    end: Fraction
    """Where the time axis ends, in seconds."""
    now: Fraction
    """What is later is pale."""
    most: int
    """Bytes that fill the height of a memory line."""

    def x(self, moment: Fraction) -> float:
        """The horizontal place of a moment."""
        return round(_LEFT + _WIDTH * float(moment / self.end if self.end else 0), 2)

    @property
    def pitch(self) -> int:
        """From lane to lane; without work there is room for what is written on arrows."""
        return _LANE + (_GAP if self.times.work else _WIDE_GAP) + (_HELD if self.most else 0)

    @property
    def height(self) -> int:
        """Of the whole panel."""
        return _HEAD + len(self.times.ends) * self.pitch


def draw(runs: Mapping[str, Times], now: float = 1.0) -> Drawing:
    """All runs, one below the other; ``now`` is a share of the time, what is later is pale."""
    end = max((times.end for times in runs.values()), default=Fraction(0))
    most = max((t.peak(r) for t in runs.values() for r in range(len(t.ends))), default=0)
    moment = end if now >= 1 else end * Fraction(now).limit_denominator(1000)
    views = [View(title, times, end, moment, most) for title, times in runs.items()]
    words = "\n".join(map(told, views))
    return drawing(lambda alone: _svg(views, words, alone), words, _caption(views))


def _caption(views: list[View]) -> str:
    """What the colours of this picture mean."""
    parts = []
    if any(view.times.work for view in views):
        parts.append("Blue: forward. Green: backward. Hatched: the rank has nothing to do.")
    if any(view.times.arrows for view in views):
        parts.append("Arrows: messages, from when they leave to when they arrive.")
    if any(view.times.joints for view in views):
        parts.append("Orange: a collective.")
    if any(view.most for view in views):
        parts.append("Grey below a lane: what the rank holds.")
    return " ".join(parts)


def told(view: View) -> str:
    """A run in one line."""
    times = view.times
    parts = [f"{len(times.ends)} ranks, done after {seconds(times.end)}"]
    if times.work:
        parts.append(f"{float(times.idle_share):.1%} of the time idle")
    if times.arrows:
        sizes = [arrow.nbytes for arrow in times.arrows]
        each = f" of {size(sizes[0])}" if len(set(sizes)) == 1 else ""
        parts.append(f"{len(sizes)} messages{each}, {size(sum(sizes))} in all")
    if times.joints:
        parts.append(f"{len(times.joints)} collectives")
    if view.most:
        held = ", ".join(size(times.peak(rank)) for rank in range(len(times.ends)))
        parts.append(f"most held by each rank: {held}")
    return (f"{view.title}: " if view.title else "") + "; ".join(parts)


def seconds(time: Fraction) -> str:
    """As in 103.2 µs, 1.5 ms."""
    micro = float(time * 10**6)
    return f"{micro:,.5g} µs" if micro < 1000 else f"{micro / 1000:,.5g} ms"


def _svg(views: list[View], words: str, alone: bool) -> str:
    body: list[str] = []
    top = 0
    for view in views:
        body += _panel(view, top)
        top += view.height
    if views:
        body += _axis(views[0], top)
    return document(_LEFT + _WIDTH + _RIGHT, top + _FOOT, words, body, alone, [BUBBLE])


def _panel(view: View, top: int) -> list[str]:
    line_of_words = told(view).removeprefix(f"{view.title}: ").partition("; most held")[0]
    body = [text(_LEFT, top + 15, view.title, font_weight="bold", font_size=13)]
    body.append(text(_LEFT, top + 31, line_of_words))
    lanes = [top + _HEAD + rank * view.pitch for rank in range(len(view.times.ends))]
    for rank, y in enumerate(lanes):
        body.append(text(_LEFT - 8, y + 15, f"rank {rank}", text_anchor="end"))
        body += _lane(view, rank, y)
    body += _messages(view, lanes)
    if view.now < view.end:
        x = view.x(view.now)
        body.append(line(x, lanes[0] - 4, x, lanes[-1] + _LANE + 4, stroke=ORANGE, stroke_width=2))
    return body


def _lane(view: View, rank: int, y: int) -> list[str]:
    times = view.times
    wide = view.x(times.end) - _LEFT
    ground = BUBBLE.paint if times.work else PALE
    look = {"fill": ground} if times.work else {"fill": ground, "fill_opacity": 0.15}
    body = [rectangle(_LEFT, y, max(wide, 1), _LANE, **look)]
    for span in times.work:
        if span.rank != rank or span.end == span.start:
            continue
        x, width = view.x(span.start), view.x(span.end) - view.x(span.start)
        colour = {"F": BLUE, "B": GREEN}.get(span.label[:1], PALE)
        opacity = 1 if span.start < view.now else 0.3
        body.append(
            rectangle(x, y, width, _LANE, fill=colour, fill_opacity=opacity, stroke="white")
        )
        if width > 7 * len(span.label):
            middle = {"text_anchor": "middle", "fill": "white", "font_size": 10}
            body.append(text(x + width / 2, y + 15, span.label, **middle))
    for joint in times.joints:
        if rank in joint.members and joint.end > joint.start:
            x, width = view.x(joint.start), view.x(joint.end) - view.x(joint.start)
            opacity = 0.9 if joint.start < view.now else 0.3
            words = f"{joint.what}, {size(joint.nbytes)}"
            body.append(
                f"<g><title>{words}</title>"
                + rectangle(x, y + _LANE + 2, width, 7, fill=ORANGE, fill_opacity=opacity)
                + "</g>"
            )
    return body + (_held(view, rank, y) if view.most else [])


def _held(view: View, rank: int, y: int) -> list[str]:
    """The memory line of a rank, filled."""
    foot = y + _LANE + _GAP / 2 + _HELD
    path = [f"M{_LEFT} {foot:g}"]
    for moment, nbytes in view.times.memory[rank]:
        path.append(f"H{view.x(moment):g}V{foot - _HELD * nbytes / view.most:.1f}")
    path.append(f"H{view.x(view.times.end):g}V{foot:g}Z")
    peak = view.times.peak(rank)
    return [
        f'<path d="{"".join(path)}" fill="{PALE}" fill-opacity="0.55"/>',
        text(_LEFT + _WIDTH + 6, foot - 2, size(peak), font_size=10),
    ]


def _messages(view: View, lanes: list[int]) -> list[str]:
    body = []
    labelled = len(view.times.arrows) <= _MOST_LABELS and not view.times.work
    for arrow in view.times.arrows:
        down = arrow.receiver > arrow.sender
        y1 = lanes[arrow.sender] + (_LANE if down else 0)
        y2 = lanes[arrow.receiver] + (0 if down else _LANE)
        x1, x2 = view.x(arrow.left), view.x(arrow.arrived)
        opacity = 0.9 if arrow.left < view.now else 0.2
        drawn = line(
            x1, y1, x2, y2, stroke="#888", stroke_opacity=opacity, marker_end=f"url(#{OWN}tip)"
        )
        name = f"rank {arrow.sender} to {arrow.receiver}: {size(arrow.nbytes)}"
        body.append(f"<g><title>{name}</title>{drawn}</g>")
        if labelled and arrow.receiver - arrow.sender == 1:
            look = {"font_size": 9, "fill_opacity": opacity, "text_anchor": "middle"}
            words = size(arrow.nbytes)
            body.append(text((x1 + x2) / 2 + 26, (y1 + y2) / 2 - 5, words, **look))
    return body


def _axis(view: View, top: int) -> list[str]:
    end = float(view.end * 10**6) or 1.0
    unit, factor = ("ms", 1000.0) if end >= 2000 else ("µs", 1.0)
    scale = scale_for(end / factor, unit)
    body = [line(_LEFT, top, _LEFT + _WIDTH, top)]
    for tick in scale.ticks:
        if tick * factor <= end * 1.0001:
            x = _LEFT + _WIDTH * tick * factor / end
            body.append(line(x, top, x, top + 4))
            body.append(text(x, top + 16, f"{tick:g}", text_anchor="middle", font_size=10))
    middle = {"text_anchor": "middle"}
    body.append(text(_LEFT + _WIDTH / 2, top + 32, f"virtual time ({unit})", **middle))
    return body
