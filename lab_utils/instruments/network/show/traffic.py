"""Runs of messages on a mesh: what waits where at a moment, as a picture and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from lab_utils.instruments.network.mesh import Message
from lab_utils.instruments.network.show.packets import Hop, Pair
from lab_utils.instruments.network.show.picture import Area, Look, area, mesh, neighbours, size
from lab_utils.kit.charts.svg import document, line, text

STEPS = 60
"""Moments into which the whole time is cut."""
#: The colour and the width of a link by the messages that it carries or that wait for it.
_HEAT = ((1, "#d9a400", 2.0), (2, "#f08a24", 3.5), (4, "#e0491f", 5.0), (8, "#b0124a", 6.5))
_HEAD, _GAP, _LINE, _SMALLEST = 50, 30, 46, 230  # pixels
_LISTED = 12  # messages of a link that are listed


class Take(NamedTuple):
    """One run: its title, its messages, and what every link did."""

    title: str
    messages: Sequence[Message]
    hops: list[Hop]

    @property
    def end(self) -> int:
        """When the last message has arrived, in nanoseconds."""
        return max((hop.arrived for hop in self.hops), default=0)

    @property
    def loads(self) -> Counter[Pair]:
        """Messages over each link, in all."""
        return Counter(hop.link for hop in self.hops)

    def heat(self, now: int) -> Counter[Pair]:
        """Messages that each link carries, or that wait for it, at a moment."""
        return Counter(hop.link for hop in self.hops if hop.asked <= now < hop.freed)


def last(takes: Sequence[Take]) -> int:
    """When the slowest run is done, in nanoseconds; at least 1."""
    return max(1, *(take.end for take in takes))


def words(take: Take, now: int) -> str:
    """A run at a moment, in one line."""
    if now >= take.end:
        fullest, most = (take.loads.most_common(1) or [((0, 0), 0)])[0]
        return (
            f"{take.title}: all arrived after {take.end:,} ns; "
            f"fullest link {fullest[0]} → {fullest[1]}, {most} messages"
        )
    heat = take.heat(now)
    waiting = sum(heat.values()) - len(heat)
    return (
        f"{take.title}: {now:,} of {take.end:,} ns; {len(heat)} links at work, {waiting} messages "
        "wait"
    )


def frame(takes: int, shape: tuple[int, int]) -> tuple[float, float]:
    """Pixels of the picture of so many runs, from left to right and from top to bottom."""
    wide, high = _one(shape)
    return round(takes * (wide + _GAP) - _GAP), round(_HEAD + high + _LINE + 24)


def areas(takes: int, shape: tuple[int, int]) -> dict[tuple[int, Pair], Area]:
    """Where each link of each run lies in the picture, by the run's place and the link."""
    wide, _ = _one(shape)
    return {
        (place, link): area(link, shape[0], place * (wide + _GAP), _HEAD)
        for place in range(takes)
        for link in neighbours(*shape)
    }


def _one(shape: tuple[int, int]) -> tuple[float, float]:
    """Pixels of one mesh."""
    wide, high = size(*shape)
    return max(wide, _SMALLEST), high


def traffic_svg(
    takes: Sequence[Take], shape: tuple[int, int], now: int, chosen: Pair | None, alone: bool
) -> str:
    """All runs side by side at a moment; ``shape`` is (width, height) of the mesh."""
    wide, high = _one(shape)
    end = last(takes)
    busy = [_busy(take, end) for take in takes]
    most = max(map(max, busy)) or 1
    body: list[str] = []
    for place, take in enumerate(takes):
        left = place * (wide + _GAP)
        _, _, told = words(take, now).partition(": ")
        first, _, second = told.partition("; ")
        line_at = (left + 16, _HEAD + high, wide - 32)
        body += [
            text(left + 16, 18, take.title, font_weight="bold", font_size=13),
            text(left + 16, 34, first),
            text(left + 16, 49, second),
            *mesh(*shape, _looks(take, shape, now, chosen), left, _HEAD),
            *_line(busy[place], most, now / end, line_at),
        ]
    label = "\n".join(words(take, now) for take in takes)
    return document(*frame(len(takes), shape), label, body, alone)


def _looks(take: Take, shape: tuple[int, int], now: int, chosen: Pair | None) -> dict[Pair, Look]:
    heat, found = take.heat(now), {}
    for pair in neighbours(*shape):
        colour, wide = Look().colour, Look().wide
        for least, shade, stroke in _HEAT:
            if heat[pair] >= least:
                colour, wide = shade, stroke
        label = str(heat[pair]) if heat[pair] > 1 else ""
        ringed = pair == chosen
        found[pair] = Look(colour, wide, label, not (heat[pair] or ringed), ringed)
    return found


def _busy(take: Take, end: int) -> list[int]:
    """Links at work at each step."""
    return [len(take.heat(end * step // STEPS)) for step in range(STEPS + 1)]


def _line(
    busy: Sequence[int], most: int, share: float, place: tuple[float, float, float]
) -> list[str]:
    """Links at work over time, with a mark at the moment."""
    left, top, wide = place
    foot = top + _LINE
    stairs = "".join(
        f"L{left + wide * step / STEPS:.1f} {foot - _LINE * many / most:.1f}"
        for step, many in enumerate(busy)
    )
    x = left + wide * min(share, 1)
    area = f"M{left:.1f} {foot:.1f}{stairs}L{left + wide:.1f} {foot:.1f}z"
    return [
        f'<path d="{area}" fill="#d9a400" fill-opacity="0.35" stroke="#d9a400"/>',
        line(left, foot, left + wide, foot),
        line(round(x, 1), top - 2, round(x, 1), foot + 3, stroke_width=1.6),
        text(left, foot + 16, f"at most {max(busy)} links at work", font_size=10),
    ]


def listed(take: Take, chosen: Pair) -> str:
    """The messages of a link as a table of plain text."""
    found = [hop for hop in take.hops if hop.link == chosen]
    rows = "".join(
        _row(
            str(hop.message),
            f"{take.messages[hop.message].route[0]} → {take.messages[hop.message].route[-1]}",
            f"{hop.asked:,}",
            f"{hop.began - hop.asked:,}",
            f"{hop.arrived:,}",
        )
        for hop in found[:_LISTED]
    )
    more = f"<p>… and {len(found) - _LISTED} more</p>" if len(found) > _LISTED else ""
    head = _row("message", "from, to", "asks at (ns)", "waits", "arrives") if found else ""
    title = f"{escape(take.title)}: {len(found)} messages over {chosen[0]} → {chosen[1]}"
    return (
        f'<div style="display:inline-block;vertical-align:top;margin-right:2em"><b>{title}</b>'
        f'<table style="line-height:1.35">{head}{rows}</table>{more}</div>'
    )


def _row(*cells: str) -> str:
    style = "text-align:right;padding:0 .6em"
    return "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for cell in cells) + "</tr>"
