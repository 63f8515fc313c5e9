"""The traffic film: how many messages wait for each link of a mesh, over virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.instruments.network.show.packets import Hop, Pair, hops
from lab_utils.instruments.network.show.picture import Look, mesh, neighbours, size
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.errors import LabError

#: The colour and the width of a link by the messages that it carries or that wait for it.
_HEAT = ((1, "#d9a400", 2.0), (2, "#f08a24", 3.5), (4, "#e0491f", 5.0), (8, "#b0124a", 6.5))
_STEPS = 60  # moments of the slider
_HEAD, _GAP, _LINE, _SMALLEST = 50, 30, 46, 230  # pixels
_LISTED = 12  # messages of a link that are listed
_CAPTION = (
    "A line is a link in one direction. Yellow: it carries a message. Orange, red and purple: "
    "others wait for it; the number beside it says how many there are in all. "
    "Below: links at work over the whole time, and the moment that is shown."
)


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


class TrafficFilm(Live):
    """The widget that ``traffic_film`` returns; its controls are attributes.

    Attributes:
        moment: the moment that is shown, a number of steps of the whole time.
        link: the link whose messages are listed, as ``(from, to)``, or ``()``.
    """

    def __init__(
        self, width: int, height: int, runs: Mapping[str, Sequence[Message]], link: Link
    ) -> None:
        if not runs:
            raise LabError('a film needs at least one run: {"XY": messages}')
        w = widgets()
        self.width, self.height = width, height
        self.takes = [Take(title, list(ms), hops(list(ms), link)) for title, ms in runs.items()]
        self._check()
        self.end = max(take.end for take in self.takes) or 1
        telling = _telling(self.takes, self.end)
        self.play = w.Play(interval=200, value=telling, max=_STEPS, show_repeat=False)
        self.moment = w.IntSlider(
            description="moment", value=telling, max=_STEPS, layout={"width": "300px"}
        )
        w.jslink((self.play, "value"), (self.moment, "value"))
        loads = Counter[Pair]()
        for take in self.takes:
            loads |= take.loads
        choices: list[tuple[str, Pair | tuple[()]]] = [("no link", ())]
        choices += [(f"{a} → {b} (up to {n})", (a, b)) for (a, b), n in loads.most_common()]
        self.link = w.Dropdown(
            description="messages of", options=choices, style={"description_width": "initial"}
        )
        self.picture, self.listed = w.HTML(), w.HTML()
        self.moment.observe(lambda _: self._draw(), "value")
        self.link.observe(lambda _: self._draw(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        controls = w.HBox([self.play, self.moment, self.link], layout=row)
        self.widget = w.VBox([controls, self.picture, self.listed])
        self._draw()
        self.static = self.at(telling)

    def at(self, moment: int, chosen: Pair | None = None) -> Drawing:
        """The picture of a moment, of 0 to 60 steps of the whole time."""
        now = self.end * moment // _STEPS
        words = "\n".join(_words(take, now) for take in self.takes)
        return drawing(lambda alone: self._svg(now, chosen, words, alone), words, _CAPTION)

    def _check(self) -> None:
        """All messages go from neighbour to neighbour."""
        for take in self.takes:
            for a, b in take.loads:
                ax, ay, bx, by = a % self.width, a // self.width, b % self.width, b // self.width
                if abs(ax - bx) + abs(ay - by) != 1 or max(ay, by) >= self.height:
                    raise LabError(
                        f"{take.title}: a route goes from {a} to {b}, and these are no neighbours "
                        f"on a mesh of {self.width} x {self.height}"
                    )

    def _draw(self) -> None:
        chosen = self.link.value or None
        self.picture.value = self.at(self.moment.value, chosen).html
        self.listed.value = "".join(_listed(take, chosen) for take in self.takes) if chosen else ""

    def _svg(self, now: int, chosen: Pair | None, words: str, alone: bool) -> str:
        wide, high = size(self.width, self.height)
        wide = max(wide, _SMALLEST)
        body: list[str] = []
        most = max(max(_busy(take, self.end)) for take in self.takes) or 1
        for place, take in enumerate(self.takes):
            left = place * (wide + _GAP)
            _, _, told = _words(take, now).partition(": ")
            first, _, second = told.partition("; ")
            body += [
                text(left + 16, 18, take.title, font_weight="bold", font_size=13),
                text(left + 16, 34, first),
                text(left + 16, 49, second),
                *mesh(self.width, self.height, self._looks(take, now, chosen), left, _HEAD),
                *_line(
                    _busy(take, self.end),
                    most,
                    now / self.end,
                    (left + 16, _HEAD + high, wide - 32),
                ),
            ]
        total = len(self.takes) * (wide + _GAP) - _GAP
        return document(round(total), round(_HEAD + high + _LINE + 24), words, body, alone)

    def _looks(self, take: Take, now: int, chosen: Pair | None) -> dict[Pair, Look]:
        heat, found = take.heat(now), {}
        for pair in neighbours(self.width, self.height):
            colour, wide, label = Look().colour, Look().wide, ""
            for least, shade, stroke in _HEAT:
                if heat[pair] >= least:
                    colour, wide = shade, stroke
            if heat[pair] > 1:
                label = str(heat[pair])
            ringed = pair == chosen
            found[pair] = Look(colour, wide, label, not (heat[pair] or ringed), ringed)
        return found


def _telling(takes: Sequence[Take], end: int) -> int:
    """The step with the longest queue, once the messages have spread."""
    first = _STEPS // 6
    steps = range(first, _STEPS)
    return max(
        steps,
        key=lambda step: max(max(t.heat(end * step // _STEPS).values(), default=0) for t in takes),
    )


def _words(take: Take, now: int) -> str:
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


def _busy(take: Take, end: int) -> list[int]:
    """Links at work at each step."""
    return [len(take.heat(end * step // _STEPS)) for step in range(_STEPS + 1)]


def _line(
    busy: Sequence[int], most: int, share: float, place: tuple[float, float, float]
) -> list[str]:
    """Links at work over time, with a mark at the moment."""
    left, top, wide = place
    foot = top + _LINE
    stairs = "".join(
        f"L{left + wide * step / _STEPS:.1f} {foot - _LINE * many / most:.1f}"
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


def _listed(take: Take, chosen: Pair) -> str:
    """The messages of a link as a table of plain text."""
    found = [hop for hop in take.hops if hop.link == chosen]
    rows = "".join(
        f"<tr><td>{hop.message}</td><td>{take.messages[hop.message].route[0]} → "
        f"{take.messages[hop.message].route[-1]}</td><td>{hop.asked:,}</td>"
        f"<td>{hop.began - hop.asked:,}</td><td>{hop.arrived:,}</td></tr>"
        for hop in found[:_LISTED]
    )
    more = f"<p>… and {len(found) - _LISTED} more</p>" if len(found) > _LISTED else ""
    head = "<tr><th>message</th><th>way</th><th>asks (ns)</th><th>waits</th><th>arrives</th></tr>"
    title = f"{escape(take.title)}: {len(found)} messages over {chosen[0]} → {chosen[1]}"
    return (
        f'<div style="display:inline-block;vertical-align:top;margin-right:2em"><b>{title}</b>'
        f"<table>{head}{rows}</table>{more}</div>"
    )
