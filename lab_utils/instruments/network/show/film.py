"""The traffic film: how many messages wait for each link of a mesh, over virtual time.

A link is clicked where it is drawn. A picture in a widget cannot call Python, but a button can: one
button a link lies over the picture, without a look of its own, and grows and shrinks with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.instruments.network.show.packets import Pair, hops
from lab_utils.instruments.network.show.picture import neighbours
from lab_utils.instruments.network.show.traffic import (
    STEPS,
    Take,
    areas,
    frame,
    last,
    listed,
    traffic_svg,
    words,
)
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError

_CAPTION = (
    "A line is a link in one direction: click it to list its messages. Yellow: it carries a "
    "message. Orange, red and purple: others wait for it; the number beside it says how many there "
    "are in all. Below: links at work over the whole time, and the moment that is shown."
)
#: What lies over the picture: buttons that cannot be seen until somebody points at one.
_STYLE = """
.{name} {{ position: relative }}
.{name} .widget-html {{ margin: 0; width: 100% }}
.{name} .widget-toggle-buttons {{ position: absolute; left: 0; top: 0; margin: 0; overflow: visible;
  width: min(100%, {wide:g}px); height: auto; aspect-ratio: {wide:g} / {high:g};
  pointer-events: none }}
.{name} .widget-toggle-buttons > label {{ display: none }}
.{name} .widget-toggle-buttons button {{ position: absolute; margin: 0; padding: 0; min-width: 0;
  border: 0; background: none; box-shadow: none; color: transparent; font-size: 0;
  border-radius: 4px; pointer-events: auto; cursor: pointer }}
.{name} .widget-toggle-buttons button:hover,
.{name} .widget-toggle-buttons button:focus-visible {{ background: rgba(128, 128, 128, .35);
  outline: 1px solid rgba(128, 128, 128, .9) }}
"""
_numbers = count(1)


class TrafficFilm(Live):
    """The widget that ``traffic_film`` returns; its controls are attributes.

    Attributes:
        moment: the moment that is shown, a number of steps of the whole time.
        link: the link whose messages are listed, as ``(from, to)``, or ``()``.
        clicks: a button over every link of the picture; its value is ``(place of the run, link)``.
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
        self.end = last(self.takes)
        telling = _telling(self.takes, self.end)
        self.play = w.Play(interval=200, value=telling, max=STEPS, show_repeat=False)
        self.moment = w.IntSlider(
            description="moment", value=telling, max=STEPS, layout={"width": "300px"}
        )
        w.jslink((self.play, "value"), (self.moment, "value"))
        loads = Counter[Pair]()
        for take in self.takes:
            loads |= take.loads
        choices: list[tuple[str, Pair | tuple[()]]] = [("no link", ())]
        choices += [(f"{a} → {b} (up to {n})", (a, b)) for (a, b), n in loads.most_common()]
        unused = [link for link in neighbours(width, height) if link not in loads]
        choices += [(f"{a} → {b} (nothing)", (a, b)) for a, b in unused]
        self.link = w.Dropdown(
            description="messages of", options=choices, style={"description_width": "initial"}
        )
        self.picture, self.listed = w.HTML(), w.HTML()
        self.moment.observe(lambda _: self._draw(), "value")
        self.link.observe(lambda _: self._draw(), "value")
        stage = self._stage(w)
        row = {"flex_flow": "row wrap", "align_items": "center"}
        controls = w.HBox([self.play, self.moment, self.link], layout=row)
        self.widget = w.VBox([controls, stage, self.listed])
        self._draw()
        self.static = self.at(telling)

    def _stage(self, w: Any) -> Any:
        """The picture, and over it a button for every link."""
        name, shape = f"lab-mesh-{id(self):x}-{next(_numbers)}", (self.width, self.height)
        wide, high = frame(len(self.takes), shape)
        rules, choices = [_STYLE.format(name=name, wide=wide, high=high)], []
        for (place, link), at in areas(len(self.takes), shape).items():
            take = self.takes[place]
            told = f"{take.title}: {link[0]} → {link[1]}, {take.loads[link]} messages"
            choices.append((told, (place, link)))
            rules.append(
                f".{name} button:nth-of-type({len(choices)}) {{ left: {at.left / wide:.3%}; "
                f"top: {at.top / high:.3%}; width: {at.wide / wide:.3%}; "
                f"height: {at.high / high:.3%} }}"
            )
        tooltips = [label for label, _ in choices]
        self.clicks = w.ToggleButtons(options=choices, value=None, tooltips=tooltips)
        self.clicks.observe(self._clicked, "value")
        stage = w.VBox([self.picture, self.clicks, w.HTML(f"<style>{''.join(rules)}</style>")])
        stage.add_class(name)
        return stage

    def _clicked(self, change: Any) -> None:
        """A button is pressed once, and is ready for the next time."""
        if change["new"] is not None:
            self.link.value = change["new"][1]
            self.clicks.value = None

    def at(self, moment: int, chosen: Pair | None = None) -> Drawing:
        """The picture of a moment, of 0 to 60 steps of the whole time."""
        now = self.end * moment // STEPS
        told = "\n".join(words(take, now) for take in self.takes)
        shape = self.width, self.height
        return drawing(
            lambda alone: traffic_svg(self.takes, shape, now, chosen, alone), told, _CAPTION
        )

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
        self.listed.value = "".join(listed(take, chosen) for take in self.takes) if chosen else ""


def _telling(takes: Sequence[Take], end: int) -> int:
    """The step with the longest queue, once the messages have spread."""
    first = STEPS // 6
    steps = range(first, STEPS)
    return max(
        steps,
        key=lambda step: max(max(t.heat(end * step // STEPS).values(), default=0) for t in takes),
    )
