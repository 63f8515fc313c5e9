"""The budget slider: what to drop, and what it costs and saves, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from torch import fx

from lab_utils.kit.charts.drawn import drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError
from lab_utils.kit.words import size
from lab_utils.steps.draw.curve import Point, curve_svg
from lab_utils.steps.graph import Phase, copy_graph, phase
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import Schedule, program_order
from lab_utils.steps.storage import is_operation

Simulate = Callable[[tuple[str, ...]], tuple[int, int]]


def simulator(
    graph: fx.Graph,
    rewrite: Callable[[fx.Graph, list[fx.Node]], Any],
    schedule: Callable[[fx.Graph], Schedule] = program_order,
) -> Simulate:
    """From the names to drop to (peak bytes, recomputed operators), by your own rewrite.

    Args:
        graph: the training step; it is copied, never changed.
        rewrite: changes the graph that it is given so that the nodes of its list are dropped.
        schedule: how the result runs.
    """

    def simulate(drop: tuple[str, ...]) -> tuple[int, int]:
        copy, _ = copy_graph(graph)
        named = {node.name: node for node in copy.nodes}
        if drop:
            rewrite(copy, [named[name] for name in drop])
        again = [n for n in copy.nodes if n.op == "call_function" and phase(n) is Phase.RECOMPUTE]
        return live_bytes(copy, schedule(copy)).peak, sum(map(is_operation, again))

    return simulate


def budget_slider(
    simulate: Simulate | Sequence[Point],
    candidates: Iterable[str] | None = None,
    yours: Point | Sequence[str] | None = None,
) -> BudgetSlider:
    """Choose what to drop, or a budget, and see peak and recomputed work change.

    Args:
        simulate: a function from the names that are dropped to (peak bytes, recomputed
            operators), as ``simulator`` makes one; or points that were computed before.
        candidates: what may be dropped, in the order in which a smaller budget drops it.
        yours: your own choice, to be marked on the curve: a point, or the names that it drops.
    """
    if callable(simulate):
        names = [str(getattr(one, "name", one)) for one in candidates or ()]
        if not names:
            raise LabError("budget_slider needs candidates: the activations that may be dropped")
        return BudgetSlider(simulate, names, _point(yours, simulate))
    points = sorted((Point(*p) for p in simulate), key=lambda p: len(p.drop))
    known = {frozenset(p.drop): (p.peak, p.recomputed) for p in points}
    names = list(dict.fromkeys(name for p in points for name in p.drop))

    def look_up(drop: tuple[str, ...]) -> tuple[int, int]:
        if frozenset(drop) not in known:
            raise LabError("nobody has computed this choice; choose a budget instead")
        return known[frozenset(drop)]

    return BudgetSlider(look_up, names, _point(yours, look_up), points)


def _point(yours: Point | Sequence[str] | None, simulate: Simulate) -> Point | None:
    if yours is None or isinstance(yours, Point):
        return yours
    drop = tuple(str(getattr(one, "name", one)) for one in yours)
    return Point(drop, *simulate(drop))


class BudgetSlider(Live):
    """The widget that ``budget_slider`` returns; its controls are attributes."""

    def __init__(
        self,
        simulate: Simulate,
        names: Sequence[str],
        yours: Point | None,
        curve: list[Point] | None = None,
    ) -> None:
        w = widgets()
        self.simulate, self.yours = simulate, yours
        self.curve = curve or [
            Point(drop, *simulate(drop))
            for drop in (tuple(names[:count]) for count in range(len(names) + 1))
        ]
        peaks = [p.peak for p in self.curve]
        self.budget = w.IntSlider(
            max(peaks),
            min(peaks),
            max(peaks),
            max((max(peaks) - min(peaks)) // 100, 1),
            description="budget",
            readout=False,
            layout={"width": "60%"},
        )
        self.drop = w.SelectMultiple(options=list(names), rows=10, description="drop")
        self.told, self.picture = w.HTML(), w.HTML()
        self._quiet = False
        self.budget.observe(lambda _: self._fit(), "value")
        self.drop.observe(lambda _: self._choose(), "value")
        self.widget = w.VBox([self.budget, self.told, w.HBox([self.drop, self.picture])])
        self.chosen = self.curve[0]
        self._show(self.chosen)
        self.static = drawing(
            lambda alone: curve_svg(self.curve, None, self.yours, None, alone), _words(self.curve)
        )

    def _fit(self) -> None:
        """The first choice along the curve that keeps within the budget."""
        if self._quiet:
            return
        fitting = [p for p in self.curve if p.peak <= self.budget.value]
        point = fitting[0] if fitting else min(self.curve, key=lambda p: p.peak)
        self._quiet = True
        self.drop.value = point.drop
        self._quiet = False
        self._show(point)

    def _choose(self) -> None:
        """What was picked by hand."""
        if self._quiet:
            return
        try:
            self._show(Point(self.drop.value, *self.simulate(self.drop.value)))
        except LabError as error:
            self.told.value = escape(str(error))

    def _show(self, point: Point) -> None:
        self.chosen = point
        before = self.curve[0].peak or 1
        less = f"{1 - point.peak / before:.0%} less" if point.peak <= before else "more than before"
        self.told.value = (
            f"budget {size(self.budget.value)} · dropped {len(point.drop)} · "
            f"<b>peak {size(point.peak)}</b> ({less}) · {point.recomputed} operators run again"
        )
        self.picture.value = curve_svg(
            self.curve, point, self.yours, self.budget.value, alone=False
        )


def _words(curve: Sequence[Point]) -> str:
    return "\n".join(
        f"{len(p.drop):>4} dropped: peak {size(p.peak)}, {p.recomputed} operators run again"
        for p in curve
    )
