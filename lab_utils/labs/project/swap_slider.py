"""The slider of notebook 05: how fast the link is, and what swapping over it holds and waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch import fx

from lab_utils.kit.charts.drawn import drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.over_time import Line, over_time_svg
from lab_utils.kit.words import size
from lab_utils.labs.project.swapping import Swapped, swap
from lab_utils.steps.candidate import Candidate

_FIRST = 10.0  # GB/s, about what a PCI Express 3 slot carries
_TYPICAL = (1.0, _FIRST, 100.0)


def swap_slider(
    graph: fx.Graph, records: Sequence[Candidate], seconds: Mapping[fx.Node, float]
) -> SwapSlider:
    """Choose the speed of the link, and see what is held when ``records`` go to the host."""
    return SwapSlider(graph, records, seconds)


class SwapSlider(Live):
    """The widget that ``swap_slider`` returns; its controls are attributes."""

    def __init__(
        self, graph: fx.Graph, records: Sequence[Candidate], seconds: Mapping[fx.Node, float]
    ) -> None:
        w = widgets()
        self._step = (graph, records, seconds)
        self._kept = swap(graph, [], seconds, 1.0)
        self._length = sum(seconds[node] for node in graph.nodes)
        self.link = w.FloatLogSlider(
            _FIRST, base=10, min=-1, max=2, step=0.1, description="GB/s", layout={"width": "60%"}
        )
        self.told, self.picture = w.HTML(), w.HTML()
        self.link.observe(lambda _: self._show(), "value")
        self.widget = w.VBox([self.link, self.told, self.picture])
        self._show()
        several = {speed: self._swapped(speed) for speed in _TYPICAL}
        words = "; ".join(self._words(speed, result) for speed, result in several.items())
        lines = [self._line("all kept", self._kept)]
        lines += [self._line(f"{speed:g} GB/s", one) for speed, one in several.items()]
        self.static = drawing(lambda alone: over_time_svg(lines, words, alone), words, words)

    def _swapped(self, speed: float) -> Swapped:
        graph, records, seconds = self._step
        return swap(graph, records, seconds, speed * 1e9)

    def _show(self) -> None:
        speed = self.link.value
        swapped = self._swapped(speed)
        words = self._words(speed, swapped)
        self.told.value = words
        lines = [self._line("all kept", self._kept), self._line(f"{speed:.1f} GB/s", swapped)]
        self.picture.value = over_time_svg(lines, words, alone=False)

    def _words(self, speed: float, swapped: Swapped) -> str:
        return (
            f"{speed:.1f} GB/s: peak {size(self._kept.peak)} → {size(swapped.peak)}, "
            f"the step waits {swapped.waiting / self._length:.0%} of its time"
        )

    def _line(self, title: str, result: Swapped) -> Line:
        return Line(title, [1e3 * time for time in result.times], result.held)
