"""Does it fit? A student's own model of memory, with sliders for what fills a card."""

from __future__ import annotations

from dataclasses import replace

from lab_utils.instruments.parallel import RECOMPUTE, SELECTIVE, Cluster, Job, Plan
from lab_utils.instruments.shapes import GPT_2560, Transformer
from lab_utils.kit.charts.drawn import Drawing, stacked
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.labs.lab3b.h100 import CLUSTER
from lab_utils.labs.lab3b.reality import Peak
from lab_utils.labs.lab3b.stacks import Scale, Stack, draw_stacks, stacks_svg

LAYERS = (2, 8, 16, 24, 32, 48, 64, 72, 96, 120)
TOKENS = (256, 512, 1024, 2048, 4096, 8192)
SPREADS = {"one card": (1, 1, 1), "TP2": (2, 1, 1), "PP2": (1, 2, 1), "DP2": (1, 1, 2)}
SPREADS |= {"TP4": (4, 1, 1), "PP4": (1, 4, 1), "TP2+PP2": (2, 2, 1)}
_GB = 1e9


def room(
    peak_memory: Peak, model: Transformer = GPT_2560, batch: int = 4, cluster: Cluster = CLUSTER
) -> Room:
    """Move sliders, and see every stage's memory against the size of a card.

    Args:
        peak_memory: yours.
        model: whose layers are counted; how many there are, a slider says.
        batch: sequences of the step.
        cluster: whose cards are to be filled.
    """
    return Room(peak_memory, model, batch, cluster)


class Room(Live):
    """The widget that ``room`` returns; its controls are attributes."""

    def __init__(self, peak: Peak, model: Transformer, batch: int, cluster: Cluster) -> None:
        w = widgets()
        self._peak, self.model, self.batch, self.cluster = peak, model, batch, cluster
        wide = {"width": "46%"}
        self.layers = w.SelectionSlider(options=LAYERS, value=72, description="layers", layout=wide)
        self.tokens = w.SelectionSlider(
            options=TOKENS, value=1024, description="tokens", layout=wide
        )
        self.spread = w.ToggleButtons(options=list(SPREADS), value="PP2")
        self.recompute = w.ToggleButtons(options=list(RECOMPUTE), value=SELECTIVE)
        self.dtype = w.ToggleButtons(options=["fp32", "bf16"], value="fp32")
        self.picture, self.words = w.HTML(), w.HTML()
        for control in (self.layers, self.tokens, self.spread, self.recompute, self.dtype):
            control.observe(lambda _: self._move(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        controls = ([self.layers, self.tokens], [self.spread], [self.recompute, self.dtype])
        boxes = [w.HBox(line, layout=row) for line in controls]
        self.widget = w.VBox([*boxes, self.picture, self.words])
        self._move()
        self.static = self._still()

    def _setting(self) -> tuple[Transformer, Job, Plan]:
        job = Job(self.tokens.value, self.batch, 1, self.dtype.value)
        plan = Plan(*SPREADS[self.spread.value], self.recompute.value)
        return replace(self.model, layers=self.layers.value), job, plan

    def _stacks(self, model: Transformer, job: Job, plan: Plan, name: str = "") -> list[Stack]:
        found = []
        for stage, memory in enumerate(self._peak(model, job, plan)):
            parts = {"state": memory.state, "kept": memory.kept, "logits": memory.logits}
            told = f"stage {stage}" if plan.pp > 1 else "every rank"
            found.append(Stack(name or told, parts, words=f"{memory.total / _GB:,.1f} GB"))
        return found

    def _scale(self, most: float | None = None) -> Scale:
        memory = self.cluster.machine.memory
        return Scale("GB", _GB, memory, f"{self.cluster.machine.name}: {memory / _GB:.0f} GB", most)

    def _move(self) -> None:
        model, job, plan = self._setting()
        if model.layers % plan.pp or job.batch % plan.dp or model.heads % plan.tp:
            self.picture.value, self.words.value = "", "This plan cuts something unevenly."
            return
        stacks = self._stacks(model, job, plan)
        fits = all(stack.total <= self.cluster.machine.memory for stack in stacks)
        verdict = "fits" if fits else "does not fit"
        # The axis stands still up to twice a card, so that bars move and not the card.
        most = max(2 * self.cluster.machine.memory, 1.06 * max(s.total for s in stacks))
        self.picture.value = stacks_svg(stacks, self._scale(most), alone=False)
        self.words.value = f"<b>{model.layers} layers, {job.tokens:,} tokens, {plan}: {verdict}</b>"

    def _still(self) -> Drawing:
        """For pages without a kernel: how deep a model may be, by plan."""
        drawn = []
        for layers in (48, 72, 96):
            stacks = []
            for name, degrees in SPREADS.items():
                plan = Plan(*degrees, SELECTIVE)
                if plan.cards != 2:
                    continue
                model = replace(self.model, layers=layers)
                fullest = max(
                    self._stacks(model, Job(1024, self.batch), plan, f"{name}+AR"),
                    key=lambda stack: stack.total,
                )
                stacks.append(fullest)
            caption = f"{layers} layers, 1,024 tokens, the fullest rank."
            drawn.append(draw_stacks(stacks, self._scale(2.1e11), caption))
        return stacked(*drawn)
