"""The film of a ring all-reduce: chunks by colour, partial sums as they grow, and what it costs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from lab_utils.instruments.ranks.records import DEFAULT, Link
from lab_utils.instruments.ranks.show.clock import ring_seconds
from lab_utils.instruments.ranks.show.film import power, rounded
from lab_utils.instruments.ranks.show.lanes import seconds
from lab_utils.instruments.ranks.show.ring import Moment, ring_moments
from lab_utils.kit.charts.colors import ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, rectangle, text
from lab_utils.kit.words import size

MOST = 8
#: A colour for each chunk; its number stands beside it.
CHUNKS = (
    "#1f6fd0",
    "#d35400",
    "#2a9d4a",
    "#8e44ad",
    "#c0392b",
    "#0e8f8f",
    "#b7950b",
    "#7f6a55",
)
_LEFT, _WIDE, _HIGH, _GAP, _TOP = 62, 78, 30, 8, 64
_PLOT_WIDTH, _PLOT_HIGH = 560, 190
_LEAST, _LARGEST = 1, 11  # powers of ten of bytes
_CAPTION = (
    "A row is a rank, a column a chunk. A small block is one rank's share in a sum: a chunk is "
    "complete when it has as many blocks as there are ranks. What has just arrived is framed."
)


class RingFilm(Live):
    """The widget that ``ring_film`` returns; its controls are attributes.

    Attributes:
        ranks: how many there are.
        step: how many steps are done.
        nbytes: the tensor's bytes, as a power of ten.
        latency: seconds, as a power of ten.
        bandwidth: bytes a second, as a power of ten.
    """

    def __init__(self, ranks: int = 4, nbytes: float = 44_695_848, link: Link = DEFAULT) -> None:
        w = widgets()
        wide = {"width": "260px"}
        self.ranks = w.IntSlider(value=ranks, min=2, max=MOST, description="ranks", layout=wide)
        steps = 2 * (ranks - 1)
        self.play = w.Play(interval=900, max=steps, show_repeat=False)
        self.step = w.IntSlider(value=0, max=steps, description="step", layout=wide)
        w.jslink((self.play, "value"), (self.step, "value"))
        self.nbytes = _slider(w, nbytes, _LEAST, _LARGEST)
        self.latency = _slider(w, link.latency, -7, -2)
        self.bandwidth = _slider(w, link.bandwidth, 7, 12)
        self._given = {
            self.nbytes.value: nbytes,
            self.latency.value: link.latency,
            self.bandwidth.value: link.bandwidth,
        }
        self.picture = w.HTML()
        self.ranks.observe(lambda _: self._ranks_changed(), "value")
        for control in (self.step, self.nbytes, self.latency, self.bandwidth):
            control.observe(lambda _: self._draw(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        named = [
            w.HBox([w.Label(name), slider])
            for name, slider in (
                ("bytes", self.nbytes),
                ("latency", self.latency),
                ("bandwidth", self.bandwidth),
            )
        ]
        self.widget = w.VBox(
            [
                w.HBox([self.ranks, self.play, self.step], layout=row),
                w.HBox(named, layout=row),
                self.picture,
            ]
        )
        self._draw()
        self.static = self.at(ranks)

    @property
    def link(self) -> Link:
        """What the sliders say."""
        return Link(self._chosen(self.latency.value), self._chosen(self.bandwidth.value))

    def at(self, step: int) -> Drawing:
        """The picture after so many steps."""
        ranks, link = self.ranks.value, self.link
        nbytes = int(self._chosen(self.nbytes.value))
        moments = ring_moments(ranks)
        moment = moments[min(step, len(moments) - 1)]
        words = _words(ranks, min(step, len(moments) - 1), moment, nbytes, link)
        return drawing(
            lambda alone: _svg(ranks, moment, nbytes, link, words, alone), words, _CAPTION
        )

    def _chosen(self, value: float) -> float:
        return self._given.get(value, rounded(10**value))

    def _ranks_changed(self) -> None:
        steps = 2 * (self.ranks.value - 1)
        self.play.max = self.step.max = steps
        self._draw()

    def _draw(self) -> None:
        self.picture.value = self.at(self.step.value).html


def _slider(w: Any, value: float, least: float, most: float) -> Any:
    return w.FloatSlider(
        value=power(value), min=least, max=most, step=0.05, readout=False, layout={"width": "200px"}
    )


def even_bytes(ranks: int, link: Link) -> float:
    """Bytes of a tensor at which latency and bytes take equally long."""
    return ranks * link.latency * link.bandwidth


def _words(ranks: int, step: int, moment: Moment, nbytes: int, link: Link) -> str:
    steps = 2 * (ranks - 1)
    if step == 0:
        does = "every rank has its own numbers"
    elif moment.adding:
        does = "first half: what arrives is added"
    else:
        does = "second half: what arrives replaces"
    whole = sum(len(chunk) == ranks for row in moment.held for chunk in row)
    total = ring_seconds("all_reduce", ranks, nbytes, link)
    slow = "latency" if nbytes < even_bytes(ranks, link) else "bandwidth"
    return (
        f"step {step} of {steps}, {does}; {whole} of {ranks * ranks} chunks are complete\n"
        f"{ranks} ranks, {size(nbytes)}, latency {seconds(Fraction(str(link.latency)))}, "
        f"{size(link.bandwidth)}/s: {seconds(total)} in all, {slow}-bound"
    )


def _svg(ranks: int, moment: Moment, nbytes: int, link: Link, words: str, alone: bool) -> str:
    first, second = words.splitlines()
    body = [
        text(12, 18, first, font_weight="bold", font_size=13),
        text(12, 36, second),
    ]
    for chunk in range(ranks):
        x = _LEFT + chunk * (_WIDE + _GAP) + _WIDE / 2
        look = {"text_anchor": "middle", "fill": CHUNKS[chunk], "font_weight": "bold"}
        body.append(text(x, _TOP - 8, f"chunk {chunk}", **look))
    for rank in range(ranks):
        body += _rank(rank, ranks, moment)
    foot = _TOP + ranks * (_HIGH + _GAP) + 18
    body += _cost(ranks, nbytes, link, foot)
    width = max(_LEFT + ranks * (_WIDE + _GAP) + 130, _PLOT_WIDTH + 90)
    return document(width, foot + _PLOT_HIGH + 54, words, body, alone)


def _rank(rank: int, ranks: int, moment: Moment) -> list[str]:
    y = _TOP + rank * (_HIGH + _GAP)
    body = [text(_LEFT - 8, y + 19, f"rank {rank}", text_anchor="end")]
    got = moment.sent[(rank - 1) % ranks] if moment.sent else None
    for chunk in range(ranks):
        x, colour = _LEFT + chunk * (_WIDE + _GAP), CHUNKS[chunk]
        held = moment.held[rank][chunk]
        look: dict[str, object] = {"stroke": colour, "fill": colour, "rx": 4}
        look["fill_opacity"] = 0.35 if len(held) == ranks else 0.06
        if chunk == got:
            look |= {"stroke": ORANGE, "stroke_width": 3}
        told = f"rank {rank}, chunk {chunk}: the sum of {len(held)} of {ranks} ranks"
        body.append(f"<g><title>{told}</title>")
        body.append(rectangle(x, y, _WIDE, _HIGH, **look))
        each = (_WIDE - 10) / ranks
        for other in range(ranks):
            place = x + 5 + other * each
            inside = other in held
            body.append(
                rectangle(
                    place + 0.5,
                    y + 6,
                    each - 1,
                    _HIGH - 12,
                    fill=colour if inside else "none",
                    stroke=colour,
                    stroke_opacity=0.3,
                )
            )
        body.append("</g>")
    if moment.sent:
        x = _LEFT + ranks * (_WIDE + _GAP)
        words = f"sent chunk {moment.sent[rank]} to rank {(rank + 1) % ranks}"
        body.append(text(x + 4, y + 19, words, fill=CHUNKS[moment.sent[rank]]))
    return body


def _cost(ranks: int, nbytes: int, link: Link, top: float) -> list[str]:
    """Seconds against bytes, both as powers of ten, with the regions of latency and bandwidth."""
    left, bottom = 62, top + _PLOT_HIGH

    def time(amount: float) -> float:
        return float(ring_seconds("all_reduce", ranks, int(amount), link))

    low, high = math.floor(math.log10(time(10))), math.ceil(math.log10(time(10**_LARGEST)))

    def x(amount: float) -> float:
        share = (math.log10(amount) - _LEAST) / (_LARGEST - _LEAST)
        return left + _PLOT_WIDTH * min(max(share, 0), 1)

    def y(value: float) -> float:
        return bottom - (_PLOT_HIGH - 24) * (math.log10(value) - low) / max(high - low, 1)

    even = x(even_bytes(ranks, link))
    body = [
        rectangle(left, top, even - left, _PLOT_HIGH, fill=CHUNKS[0], fill_opacity=0.1),
        rectangle(
            even, top, left + _PLOT_WIDTH - even, _PLOT_HIGH, fill=CHUNKS[1], fill_opacity=0.1
        ),
        line(left, bottom, left + _PLOT_WIDTH, bottom),
        line(even, top, even, bottom, stroke_dasharray="5 4"),
    ]
    for (start, end), name in (
        ((left, even), "latency"),
        ((even, left + _PLOT_WIDTH), "bandwidth"),
    ):
        if end - start > 100:
            middle = {"text_anchor": "middle", "font_weight": "bold"}
            body.append(text((start + end) / 2, top + 16, f"{name}-bound", **middle))
    for tick in range(_LEAST, _LARGEST + 1, 2):
        body.append(text(x(10**tick), bottom + 16, size(10**tick), text_anchor="middle"))
    for tick in range(low, high + 1):
        body.append(line(left, y(10**tick), left + _PLOT_WIDTH, y(10**tick), stroke_opacity=0.15))
        words = seconds(Fraction(10) ** tick) if tick < 0 else f"{10**tick:,} s"
        body.append(text(left - 6, y(10**tick) + 4, words, text_anchor="end", font_size=10))
    points = [10 ** (_LEAST + k * (_LARGEST - _LEAST) / 60) for k in range(61)]
    path = "L".join(f"{x(p):.1f} {y(time(p)):.1f}" for p in points)
    body.append(f'<path d="M{path}" fill="none" stroke="currentColor" stroke-width="2"/>')
    body.append(
        f'<circle cx="{x(nbytes):.1f}" cy="{y(time(nbytes)):.1f}" r="6" fill="{ORANGE}" '
        f'stroke="white"/>'
    )
    middle = {"text_anchor": "middle"}
    body.append(text(left + _PLOT_WIDTH / 2, bottom + 34, "bytes of the tensor", **middle))
    return body
