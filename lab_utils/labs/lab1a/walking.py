"""The walk along the roof: a student's own operators, and sliders for what moves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lab_utils.instruments.roofline import MACHINES, Machine, item_bytes
from lab_utils.instruments.roofline.chart import (
    Dot,
    Roof,
    draw_roofline,
    frame_for,
    in_words,
    roofline_svg,
)
from lab_utils.instruments.shapes import LLAMA_7B, Transformer
from lab_utils.kit.charts.drawn import Drawing, stacked
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError

PREFILL, DECODE = "prefill", "decode"
BATCHES = tuple(2**n for n in range(11))
CONTEXTS = tuple(2**n for n in range(7, 16))
FARTHEST = 2**20  # batches beyond this are none
_AXIS = (-1.0, 4.0)

Count = Callable[[Transformer, int, int, int], Mapping[str, float]]
"""A number for each operator of a layer: of a model, a batch, new tokens and past ones."""


@dataclass(frozen=True)
class Place:
    """One operator at one setting of the sliders; times are those of all layers together."""

    name: str
    intensity: float
    compute: float
    memory: float
    crossing: int | None
    """The first batch at which arithmetic takes as long as memory; None: no batch does."""

    @property
    def seconds(self) -> float:
        """The longer of both."""
        return max(self.compute, self.memory)


@dataclass(frozen=True)
class Setting:
    """What the sliders say."""

    machine: Machine
    dtype: str
    phase: str
    batch: int
    context: int

    @property
    def tokens(self) -> tuple[int, int]:
        """New tokens of each sequence, and past ones."""
        return (self.context, 0) if self.phase == PREFILL else (1, self.context - 1)


def walk(
    flops: Count,
    elements: Count,
    model: Transformer = LLAMA_7B,
    also: Sequence[Machine] = (),
    setting: Setting | None = None,
) -> Walk:
    """Watch the operators of ``model`` walk along the roof.

    Args:
        flops: your ``layer_flops``.
        elements: your ``layer_elements``.
        model: the transformer whose layers are counted.
        also: more machines, such as this computer's.
        setting: where to begin.
    """
    machines = {**MACHINES, **{machine.name: machine for machine in also}}
    first = setting or Setting(MACHINES["A100"], "bf16", DECODE, 1, 2048)
    return Walk(flops, elements, model, machines, first)


def places(flops: Count, elements: Count, model: Transformer, at: Setting) -> list[Place]:
    """Where each operator of all layers stands; layer by layer, as your functions count them."""
    new, past = at.tokens
    item, rate = item_bytes(at.dtype), at.machine.rate(at.dtype)
    work: dict[str, float] = {}
    moved: dict[str, float] = {}
    for _ in range(model.layers):
        for name, number in flops(model, at.batch, new, past).items():
            work[name] = work.get(name, 0) + number
        for name, number in elements(model, at.batch, new, past).items():
            moved[name] = moved.get(name, 0) + number * item
    if set(work) != set(moved):
        raise LabError("layer_flops and layer_elements name different operators")
    crossings = _crossings(flops, elements, model, at)
    return [
        Place(
            name,
            work[name] / moved[name],
            work[name] / rate,
            moved[name] / at.machine.bandwidth,
            crossings[name],
        )
        for name in work
    ]


def _crossings(
    flops: Count, elements: Count, model: Transformer, at: Setting
) -> dict[str, int | None]:
    """By operator, the first batch at the ridge: doubled until it is there, then halved."""
    new, past = at.tokens
    item, ridge = item_bytes(at.dtype), at.machine.ridge(at.dtype)
    seen: dict[int, dict[str, bool]] = {}

    def above(batch: int) -> dict[str, bool]:
        if batch not in seen:
            work, moved = flops(model, batch, new, past), elements(model, batch, new, past)
            seen[batch] = {name: work[name] >= ridge * item * moved[name] for name in work}
        return seen[batch]

    found: dict[str, int | None] = {}
    for name in above(1):
        high = 1
        while not above(high)[name] and high < FARTHEST:
            high *= 2
        if not above(high)[name]:
            found[name] = None
            continue
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if above(middle)[name] else (middle, high)
        found[name] = high
    return found


class Walk(Live):
    """The widget that ``walk`` returns; its controls are attributes."""

    def __init__(
        self,
        flops: Count,
        elements: Count,
        model: Transformer,
        machines: Mapping[str, Machine],
        first: Setting,
    ) -> None:
        w = widgets()
        self._count = (flops, elements)
        self.model, self.machines = model, machines
        self.machine = w.ToggleButtons(options=list(machines), value=first.machine.name)
        self.phase = w.ToggleButtons(options=[PREFILL, DECODE], value=first.phase)
        types = list(first.machine.rates)
        self.dtype = w.Dropdown(options=types, value=first.dtype, description="data type")
        wide = {"width": "46%"}
        self.batch = w.SelectionSlider(
            options=BATCHES, value=first.batch, description="batch", layout=wide
        )
        self.context = w.SelectionSlider(
            options=CONTEXTS, value=first.context, description="context", layout=wide
        )
        self.picture, self.table = w.HTML(), w.HTML()
        self.machine.observe(lambda _: self._choose(), "value")
        for control in (self.phase, self.dtype, self.batch, self.context):
            control.observe(lambda _: self._move(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        self.widget = w.VBox(
            [
                w.HBox([self.machine, self.dtype], layout=row),
                w.HBox([self.phase], layout=row),
                w.HBox([self.batch, self.context], layout=row),
                self.picture,
                self.table,
            ]
        )
        self._move()
        self.static = self._still(first)

    @property
    def setting(self) -> Setting:
        """What the sliders say now."""
        machine = self.machines[self.machine.value]
        return Setting(
            machine, self.dtype.value, self.phase.value, self.batch.value, self.context.value
        )

    def _choose(self) -> None:
        """Another machine knows other data types; the same one stays if it can."""
        types, now = list(self.machines[self.machine.value].rates), self.dtype.value
        if types == list(self.dtype.options):
            self._move()
            return
        keep = now if now in types else types[-1]
        self.dtype.options = types  # this chooses the first
        self.dtype.value = keep
        self._move()

    def _move(self) -> None:
        at = self.setting
        now = places(*self._count, self.model, at)
        roofs, dots = self._drawn(at, now)
        frame = frame_for([Roof(m, t) for m in self.machines.values() for t in m.rates], _AXIS)
        self.picture.value = roofline_svg(roofs, dots, frame, alone=False)
        self.table.value = _table(now, at, self.model)

    def _drawn(self, at: Setting, now: Sequence[Place]) -> tuple[list[Roof], list[Dot]]:
        """The chosen machine's roof first; a trail leads from the first batch to the last."""
        roofs = [Roof(at.machine, at.dtype)]
        roofs += [
            Roof(m, at.dtype if at.dtype in m.rates else next(iter(m.rates)))
            for m in self.machines.values()
            if m.name != at.machine.name
        ]
        ends = [self._intensities(at, batch) for batch in (BATCHES[0], BATCHES[-1])]
        ridge = at.machine.ridge(at.dtype)
        dots = []
        for place in now:
            low, high = (end[place.name] for end in ends)
            trail = (low, ridge, high) if low < ridge < high else (low, high)
            dots.append(Dot(place.name, place.intensity, trail=trail))
        return roofs, dots

    def _intensities(self, at: Setting, batch: int) -> dict[str, float]:
        flops, elements = self._count
        new, past = at.tokens
        work, moved = flops(self.model, batch, new, past), elements(self.model, batch, new, past)
        item = item_bytes(at.dtype)
        return {name: work[name] / (moved[name] * item) for name in work}

    def _still(self, first: Setting) -> Drawing:
        """Two pictures for pages without a kernel: prefill, and decode."""
        drawn = []
        for phase, batch in ((PREFILL, 1), (DECODE, first.batch)):
            at = Setting(first.machine, first.dtype, phase, batch, first.context)
            now = places(*self._count, self.model, at)
            roofs, dots = self._drawn(at, now)
            caption = f"{self.model.name}, {phase}, batch {batch}, context {at.context:,}. "
            drawn.append(draw_roofline(roofs[:1], dots, caption + _sum(now, at, self.model)))
        return stacked(*drawn)


def _sum(now: Sequence[Place], at: Setting, model: Transformer) -> str:
    """All layers together, in words."""
    seconds = sum(place.seconds for place in now)
    tokens = at.batch * at.tokens[0]
    return (
        f"{model.layers} layers: {1000 * seconds:.3g} ms, {tokens / seconds:,.0f} tokens a second."
    )


def _table(now: Sequence[Place], at: Setting, model: Transformer) -> str:
    cell = '<td style="text-align:right;padding:0 .7em">'
    head = "".join(
        f'<th style="text-align:right;padding:0 .7em">{escape(name)}</th>'
        for name in (
            "operator",
            "operations a byte",
            "bound by",
            "reaches",
            "ms",
            "crosses at batch",
        )
    )
    whole = sum(place.seconds for place in now)
    rows = ""
    for place in now:
        bound = "compute" if place.compute >= place.memory else "memory"
        crossing = "never" if place.crossing is None else f"{place.crossing:,}"
        reached = at.machine.attainable(place.intensity, at.dtype)
        values: list[Any] = [
            place.name,
            f"{place.intensity:.3g}",
            bound,
            in_words(reached, "FLOP/s"),
            f"{1000 * place.seconds:.3g} ({place.seconds / whole:.0%})",
            crossing,
        ]
        rows += f"<tr>{''.join(f'{cell}{escape(str(v))}</td>' for v in values)}</tr>"
    return (
        f'<div style="font-size:13px"><b>{escape(_sum(now, at, model))}</b>'
        f'<table style="line-height:1.35;font-size:13px"><tr>{head}</tr>{rows}</table></div>'
    )
