"""One graph as two strips: how long each node took, and how long it would take under the roof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch.utils.flop_counter import FlopCounterMode

from lab_utils.instruments.roofline import Machine
from lab_utils.kit.charts.colors import BLUE, ORANGE, PALE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, escaped, line, rectangle, text
from lab_utils.kit.errors import LabError

PRODUCT, MOVES, LOOKS = "products", "moves bytes", "only looks or counts"
_COLOURS = {PRODUCT: BLUE, MOVES: ORANGE, LOOKS: PALE}
_LEFT, _WIDE, _TOP, _HIGH, _GAP = 92, 640, 44, 46, 60
_ROW = 20
_SHOWN = 12  # rows of the table


@dataclass(frozen=True)
class Cost:
    """A node: what was measured, and what the roof allows; times in milliseconds."""

    name: str
    measured: float
    flops: int
    nbytes: int
    roof: float

    @property
    def kind(self) -> str:
        """What it does most of."""
        if self.flops:
            return PRODUCT
        return MOVES if self.nbytes else LOOKS

    @property
    def slower(self) -> float:
        """How many times as long as the roof allows."""
        return self.measured / self.roof if self.roof else float("inf")


def costs(module: fx.GraphModule, machine: Machine, *inputs: Any) -> list[Cost]:
    """What each node took, and what it would take under the roof of ``machine``, in FP32.

    Operations are those that PyTorch counts: of products, and none of anything else. Bytes are
    those of the tensors that it reads and makes; what only looks at a tensor moves none.

    Raises:
        LabError: no latencies are noted in the nodes.
    """
    found: list[Cost] = []

    class Counting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if "latency" not in n.meta:
                raise LabError(f"node {n.name} has no latency yet: run propagate first")
            read = [value for node in n.all_input_nodes for value in _tensors(self.env[node])]
            with FlopCounterMode(display=False) as counter:
                value = super().run_node(n)
            if n.op.startswith("call_"):
                read += self._weights(n)
                flops = int(counter.get_total_flops())
                nbytes = _moved(read, _tensors(value), n)
                seconds = max(flops / machine.rate("fp32"), nbytes / machine.bandwidth)
                measured = float(n.meta["latency"])
                found.append(Cost(n.name, measured, flops, nbytes, 1e3 * seconds))
            return value

        def _weights(self, n: fx.Node) -> list[torch.Tensor]:
            if n.op != "call_module":
                return []
            called = self.module.get_submodule(str(n.target))
            is_table = isinstance(called, torch.nn.Embedding)  # of which a few rows are read
            return [] if is_table else list(called.parameters())

    with torch.no_grad():
        Counting(module).run(*inputs)
    return found


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for one in value if isinstance(one, torch.Tensor)] if _is_several(value) else []


def _is_several(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, torch.Size)


def _moved(read: Sequence[torch.Tensor], made: Sequence[torch.Tensor], node: fx.Node) -> int:
    """Bytes of what is read and made; none if what it makes lies where something lay before."""
    before = {one.untyped_storage().data_ptr() for one in read}
    in_place = str(node.target).endswith("_")
    fresh = [one for one in made if one.untyped_storage().data_ptr() not in before or in_place]
    return sum(one.nbytes for one in [*read, *fresh]) if fresh else 0


@dataclass(frozen=True)
class Strips:
    """The picture; a bare name in a cell shows it."""

    costs: list[Cost]
    machine: Machine

    @property
    def slowest(self) -> list[Cost]:
        """What loses most time against the roof comes first."""
        return sorted(self.costs, key=lambda cost: cost.roof - cost.measured)

    def drawing(self) -> Drawing:
        """In every form that some reader needs."""
        caption = (
            "Both strips have one scale. Every box is a node, in the order in which they run; "
            "below, those that lose most time against the roof."
        )
        return drawing(self._svg, self._words(), caption)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.drawing()._repr_mimebundle_()

    def _totals(self) -> tuple[float, float]:
        return sum(c.measured for c in self.costs), sum(c.roof for c in self.costs)

    def _words(self) -> str:
        measured, roof = self._totals()
        worst = ", ".join(f"{c.name} {_times(c)}" for c in self.slowest[:3])
        return f"measured {measured:.2f} ms, under the roof {roof:.2f} ms; most is lost by {worst}"

    def _svg(self, alone: bool) -> str:
        totals = self._totals()
        scale = _WIDE / (max(totals) or 1)
        body = []
        for kind, (place, colour) in zip(_COLOURS, enumerate(_COLOURS.values()), strict=True):
            x = _LEFT + 150 * place
            body += [rectangle(x, 10, 12, 12, fill=colour), text(x + 18, 20, kind)]
        tops = (_TOP, _TOP + _HIGH + _GAP)
        ends = [list(self._boxes(body, top, scale, n == 0)) for n, top in enumerate(tops)]
        for cost, above, below in zip(self.costs, *ends, strict=True):
            if max(cost.measured, cost.roof) * scale > 14:
                faint = {"stroke": _COLOURS[cost.kind], "stroke_opacity": 0.45}
                body.append(line(above, tops[0] + _HIGH, below, tops[1], **faint))
        for words, top, total in zip(("measured", "the roof"), tops, totals, strict=True):
            body.append(text(_LEFT - 8, top + 20, words, text_anchor="end", font_weight="bold"))
            body.append(text(_LEFT - 8, top + 35, f"{total:.2f} ms", text_anchor="end"))
        body += self._table(tops[1] + _HIGH + 30)
        rows = min(_SHOWN, len(self.costs))
        high = tops[1] + _HIGH + 44 + _ROW * (rows + 1)
        return document(_LEFT + _WIDE + 16, high, self._words(), body, alone)

    def _boxes(self, body: list[str], top: float, scale: float, is_measured: bool) -> Any:
        """Draw a strip into ``body``; gives the middle of each box."""
        x = float(_LEFT)
        for cost in self.costs:
            wide = (cost.measured if is_measured else cost.roof) * scale
            told = escaped(f"{cost.name}: {cost.measured:.3g} ms measured, {cost.roof:.3g} ms roof")
            look = {"fill": _COLOURS[cost.kind], "stroke": "white", "stroke_width": 0.5}
            body.append(f"<g><title>{told}</title>{rectangle(x, top, wide, _HIGH, **look)}</g>")
            if wide > 7 * len(cost.name) + 6:
                middle = {"text_anchor": "middle", "fill": "white"}
                body.append(text(x + wide / 2, top + _HIGH / 2 + 4, cost.name, **middle))
            yield x + wide / 2
            x += wide

    def _table(self, top: float) -> list[str]:
        columns = ((0, "node"), (200, "measured"), (300, "the roof"), (390, ""), (470, "waits for"))
        start = _LEFT - 80
        parts = [text(start + x, top, name, font_weight="bold") for x, name in columns]
        for place, cost in enumerate(self.slowest[:_SHOWN], 1):
            y = top + _ROW * place
            cells = (
                cost.name,
                f"{cost.measured:.3f} ms",
                f"{cost.roof:.3f} ms",
                _times(cost),
                _waits(cost, self.machine),
            )
            parts += [text(start + x, y, cell) for (x, _), cell in zip(columns, cells, strict=True)]
        return parts


def _times(cost: Cost) -> str:
    return f"{cost.slower:.1f} ×" if cost.roof else "no roof"


def _waits(cost: Cost, machine: Machine) -> str:
    if not cost.nbytes and not cost.flops:
        return "Python: nothing is computed or moved"
    compute, memory = cost.flops / machine.rate("fp32"), cost.nbytes / machine.bandwidth
    return "arithmetic" if compute > memory else "memory"
