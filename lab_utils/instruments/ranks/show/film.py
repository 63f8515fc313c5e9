"""The film of ranks: runs over virtual time, with sliders for what connects the ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from lab_utils.instruments.ranks.records import Diary, Link, Run
from lab_utils.instruments.ranks.show.clock import Times, replay
from lab_utils.instruments.ranks.show.lanes import draw
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError

_FORWARD, _BACKWARD = 1e-3, 2e-3  # seconds of a step in a film of schedules
_TRAVELS, _HELD = 250_000, 1_000_000  # bytes of a micro-batch
_LARGEST = 24  # micro-batches
_FAST = Link(latency=5e-6, bandwidth=25e9)


class RanksFilm(Live):
    """The widget that ``ranks_film`` and ``schedule_film`` return; its controls are attributes.

    Attributes:
        latency: seconds, as a power of ten.
        bandwidth: bytes a second, as a power of ten.
        micros: the number of micro-batches, where there is a choice.
        now: the moment that is shown, in percent of the whole.
    """

    def __init__(
        self,
        make: Callable[[int], Mapping[str, list[Diary]]],
        runs: Mapping[str, Run] | None = None,
        micros: int = 0,
    ) -> None:
        w = widgets()
        link = next(iter(runs.values())).link if runs else _FAST
        wide = {"width": "340px"}
        self._make = make
        self.latency = w.FloatSlider(
            value=power(link.latency), min=-7, max=-2, step=0.05, readout=False, layout=wide
        )
        self.bandwidth = w.FloatSlider(
            value=power(link.bandwidth), min=7, max=12, step=0.05, readout=False, layout=wide
        )
        self._link = {self.latency.value: link.latency, self.bandwidth.value: link.bandwidth}
        self.micros = w.IntSlider(
            description="micro-batches",
            value=micros or 1,
            min=1,
            max=_LARGEST,
            layout=wide,
            style={"description_width": "initial"},
        )
        self.play = w.Play(value=100, interval=120, max=100, show_repeat=False)
        self.now = w.IntSlider(value=100, max=100, description="time (%)", layout=wide)
        w.jslink((self.play, "value"), (self.now, "value"))
        self._told, self.picture = w.HTML(), w.HTML()
        for control in (self.latency, self.bandwidth, self.micros):
            control.observe(lambda _: self._run(), "value")
        self.now.observe(lambda _: self._draw(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        first = [self.micros] if micros else []
        self.widget = w.VBox(
            [
                w.HBox([*first, self.play, self.now], layout=row),
                w.HBox(
                    [w.Label("latency"), self.latency, w.Label("bandwidth"), self.bandwidth],
                    layout=row,
                ),
                self._told,
                self.picture,
            ]
        )
        self.times: dict[str, Times] = {}
        self._run()
        self.static = draw(self.times)

    @property
    def link(self) -> Link:
        """What the sliders say."""
        latency, bandwidth = self.latency.value, self.bandwidth.value
        return Link(
            self._link.get(latency, rounded(10**latency)),
            self._link.get(bandwidth, rounded(10**bandwidth)),
        )

    def _run(self) -> None:
        """Let the virtual clock run again."""
        link = self.link
        self._told.value = (
            f"latency {link.latency * 1e6:,.3g} µs, bandwidth {link.bandwidth / 1e9:,.3g} GB/s"
        )
        runs = self._make(self.micros.value)
        self.times = {title: replay(diaries, link) for title, diaries in runs.items()}
        self._draw()

    def _draw(self) -> None:
        self.picture.value = draw(self.times, self.now.value / 100).html


def pipeline_film(schedules: Mapping[str, Callable[[int, int], Any]], stages: int) -> RanksFilm:
    """Schedules of a pipeline, with a slider of micro-batches.

    Raises:
        LabError: a schedule does not come to its end.
    """

    def make(micros: int) -> dict[str, list[Diary]]:
        made = {}
        for title, schedule in schedules.items():
            steps = schedule(stages, micros)
            made[title] = pipeline_diaries(steps, _FORWARD, _BACKWARD, _TRAVELS, _HELD)
        return made

    try:
        return RanksFilm(make, micros=2 * stages)
    except LabError as error:
        raise LabError(f"{error}: do the checks of your schedules pass?") from None


def power(number: float) -> float:
    """The power of ten nearest to a number on the slider."""
    return round(math.log10(number) * 20) / 20 if number > 0 else -7.0


def rounded(number: float) -> float:
    """To two digits."""
    return float(f"{number:.2g}")
