"""The traffic film: how many messages wait for each link of a mesh, over virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.instruments.network.show.packets import Pair, hops
from lab_utils.instruments.network.show.traffic import (
    STEPS,
    Take,
    last,
    listed,
    traffic_svg,
    words,
)
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError

_CAPTION = (
    "A line is a link in one direction. Yellow: it carries a message. Orange, red and purple: "
    "others wait for it; the number beside it says how many there are in all. "
    "Below: links at work over the whole time, and the moment that is shown."
)


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
