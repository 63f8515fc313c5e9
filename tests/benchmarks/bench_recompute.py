"""Our plans against what PyTorch offers, against the optimum, and against the clock.

For each point (peak, CPU time) that an opponent reaches, the fastest plan of ours with at
most its peak runs beside it, in turns, in memory that is warm; times are medians of several
rounds. Draws ``build/recompute.png``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import fx

from autograder.reference.planner.costs import estimated_seconds, measured_seconds
from autograder.reference.planner.plan import Plan, apply, plan
from lab_utils.kit.root import ROOT
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.run import measured_peak, run
from lab_utils.steps.schedule import program_order
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload, llm_mlp
from tests.benchmarks import Row, models, progress, timed
from tests.benchmarks.opponents import (
    Run,
    eager_step,
    min_cut_step,
    our_step,
    rewritten_by_pytorch,
    watched_peak,
)
from tests.benchmarks.optimum import optimal_seconds
from tests.benchmarks.steps import Timed, keep_memory, ratios, take_turns
from tests.support.workloads import Case, make_case

PICTURE = ROOT / "build" / "recompute.png"
MIN_CUT_BUDGETS = (1.0, 0.6, 0.4, 0.2)
OUR_SHARES = (0.95, 0.9, 0.8, 0.7, 0.6)
"""Of the peak: plans that we also offer. Less memory may be faster: more of it stays in caches."""
ROUNDS = 3
DUELS = 5
NEAR = 0.05
"""Where two times are as close as this, both are measured as often again."""
MATCHES = 2
RESNET_ROUNDS = 8
CHAMPIONS = 2
"""Our fastest plans against an opponent, timed anew beside it so that luck has no say."""

RIVALRIES: dict[str, Callable[[], Workload]] = {
    "MLP-4": lambda: models.mlp(4),
    "BERT-small": lambda: models.bert(0.0),
    "BERT-small, dropout": lambda: models.bert(0.1),
    "ResNet-50": lambda: models.resnet([3, 4, 6, 3], batch=8, pixels=96),
}


#: PyTorch's rewriter refuses what may be random, attention too, and updated buffers.
REMATERIALIZED = ("MLP-4",)


@dataclass
class Point:
    """A way to train: its peak above static memory in bytes, and CPU seconds for a step."""

    label: str
    timed: Timed
    peak: int

    @property
    def seconds(self) -> float:
        """The median of its rounds."""
        return self.timed.seconds if self.timed.rounds else float("inf")

    def anew(self) -> Point:
        """The same, not timed yet."""
        return Point(self.label, Timed(self.timed.step), self.peak)


def _note(ours: Point, theirs: Point) -> str:
    """How far the ratio of two points spreads from round to round, and what it is made of."""
    middle, low, high = ratios(ours.timed, theirs.timed)
    return (
        f"round by round {middle:.2f}, half of them {low:.2f} to {high:.2f}; "
        f"ours {ours.timed.told()}; {theirs.label} {theirs.timed.told()}"
    )


@dataclass
class Model:
    """A traced model with its measured operators."""

    name: str
    case: Case
    line: MemoryLine = field(init=False)
    seconds: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        self.line = live_bytes(self.case.graph, program_order(self.case.graph))
        self.seconds = measured_seconds(self.case.graph, self.case.values)

    @property
    def above_static(self) -> int:
        """The peak without recomputation, less weights, inputs and optimizer state."""
        return self.line.peak - self.line.static

    def plan(self, above_static: float) -> Plan:
        """Ours, within so many bytes above static memory."""
        return plan(self.case.graph, int(self.line.static + above_static), self.seconds)


def benchmarks() -> Iterator[Row]:
    if not keep_memory():
        progress("this C library gives freed memory back: steps pay for fresh pages")
    points: dict[str, list[tuple[Point, Point | None]]] = {}
    for name, work in RIVALRIES.items():
        model = _model(name, work())
        points[name] = _rivalry(model)
        for theirs, ours in points[name]:
            if ours is not None:
                megabytes = f"{theirs.peak / 1e6:.0f} MB"
                title = f"{name}: step within {megabytes}"
                note = _note(ours, theirs) if ours.timed.rounds else ""
                yield Row(title, ours.seconds, theirs.label, theirs.seconds, "CPU s", 1, note=note)
        yield from _exactness(model)
        if name in REMATERIALIZED:
            yield from _oracle(model)
    draw(points)
    yield from _resnet_152()
    yield from _optimum()
    yield from _choosing()


def _model(name: str, work: Workload) -> Model:
    progress(f"tracing and profiling {name}")
    return Model(name, make_case(work, fused_adam))


def fused_adam(parameters: object) -> torch.optim.Optimizer:
    """The update in place, which does not set the peak."""
    return torch.optim.Adam(parameters, fused=True)  # type: ignore[arg-type]


def _rivalry(model: Model) -> list[tuple[Point, Point | None]]:
    """Each opponent's point, with ours at its peak where it recomputes."""
    case = model.case
    rivals: list[Point] = []

    def enter(label: str, make: Callable[[], Run]) -> None:
        progress(f"{model.name}: {label}")
        try:
            step = make()
            rivals.append(Point(label, Timed(step), watched_peak(case, step)))
        except Exception as error:  # an opponent that fails has no point
            progress(f"{label} fails: {str(error).splitlines()[0]}")

    enter("eager", lambda: eager_step(case))
    enter("checkpoint", lambda: eager_step(case, models.blocks(case.work.model)))
    for budget in MIN_CUT_BUDGETS:
        enter(f"min-cut {budget:g}", partial(min_cut_step, case, budget))
    base = Point("no recomputation", Timed(our_step(case.graph, case)), model.above_static)
    ours = [base]
    peaks = [rival.peak for rival in rivals[1:]]
    peaks += [int(share * model.above_static) for share in OUR_SHARES]
    for peak in sorted(set(peaks), reverse=True):
        made = model.plan(peak)
        reached = made.peak - model.line.static
        if all(reached != known.peak for known in ours):
            ours.append(Point("ours", Timed(our_step(apply(made), case)), reached))
    _time([*rivals, *ours], ROUNDS)
    duels = [_duel(rival, ours) for rival in rivals[1:]]
    return [(rivals[0], None), (base, None), *duels]


def _duel(rival: Point, ours: list[Point]) -> tuple[Point, Point]:
    """An opponent and our fastest plan within its peak, timed anew."""
    within = [point for point in ours if point.peak <= rival.peak]
    if not within:
        return rival, Point("no plan of ours", Timed(lambda: None), 0)
    champions = sorted(within, key=lambda point: point.seconds)[:CHAMPIONS]
    rival, *champions = (point.anew() for point in (rival, *champions))
    for _ in range(MATCHES):
        _time([rival, *champions], DUELS)
        best = min(champions, key=lambda point: point.seconds)
        if abs(best.seconds / rival.seconds - 1) > NEAR:
            break
    return rival, best


def _time(points: list[Point], rounds: int) -> None:
    take_turns([point.timed for point in points], rounds)


def _exactness(model: Model) -> Iterator[Row]:
    """Half of the peak: what was foretold is what is measured, and every bit is the same."""
    made = model.plan(0.6 * model.above_static)
    graph = apply(made)
    measured = measured_peak(graph, model.case.values)
    yield Row(f"{model.name}: peak", measured, "simulated", made.peak, "B", 1.001)
    different, count = _differences(graph, model.case)
    yield Row(f"{model.name}: other bits than eager", different, "tensors", count, "", 0)


def _oracle(model: Model) -> Iterator[Row]:
    """PyTorch's own rewriter, given the values that our plan recomputes."""
    made = model.plan(0.6 * model.above_static)
    ours = apply(made, control=False)
    theirs = rewritten_by_pytorch(model.case.graph, {value.name for value in made.recomputed})
    peaks = [live_bytes(graph, program_order(graph)).peak for graph in (ours, theirs)]
    yield Row(f"{model.name}: peak as rewritten", peaks[0], "remat pass", peaks[1], "B", 1)
    nodes = len(ours.nodes), len(theirs.nodes)
    yield Row(f"{model.name}: nodes as rewritten", nodes[0], "remat pass", nodes[1], "", 1)


def _differences(graph: fx.Graph, case: Case) -> tuple[int, int]:
    """Tensors (loss, gradients, parameters, buffers) that differ from eager PyTorch's."""
    torch.manual_seed(3)
    got = run(graph, case.values)
    _restore(case)
    torch.manual_seed(3)
    loss = case.eager_step()
    pairs = [(got.outputs["loss"], loss)]
    for kind, tensors in (
        ("param", dict(case.work.model.named_parameters())),
        ("buffer", dict(case.work.model.named_buffers())),
    ):
        for path, tensor in tensors.items():
            name = case.placeholder(f"{kind}:{path}")
            pairs.append((got.state.get(name, case.values[name]), tensor))
            if kind == "param" and tensor.grad is not None:
                pairs.append((got.outputs[f"grad:{path}"], tensor.grad))
    case.optimizer.zero_grad(set_to_none=True)
    return sum(not torch.equal(a, b) for a, b in pairs), len(pairs)


def _restore(case: Case) -> None:
    """The model as it was traced, before the opponents trained it."""
    case.optimizer.state.clear()
    with torch.no_grad():
        for kind, tensors in (
            ("param", case.work.model.named_parameters()),
            ("buffer", case.work.model.named_buffers()),
        ):
            for path, tensor in tensors:
                tensor.copy_(case.values[case.placeholder(f"{kind}:{path}")])


def _resnet_152() -> Iterator[Row]:
    model = _model("ResNet-152", models.resnet([3, 8, 36, 3], batch=16, pixels=96))
    made = model.plan(0.55 * model.above_static)
    graph = apply(made)
    above = measured_peak(graph, model.case.values) - model.line.static
    yield Row("ResNet-152: peak above static", above, "original", model.above_static, "B", 0.55)
    base = Point("original", Timed(our_step(model.case.graph, model.case)), 0)
    ours = Point("ours", Timed(our_step(graph, model.case)), 0)
    _time([base, ours], RESNET_ROUNDS)
    title, note = "ResNet-152: step", _note(ours, base)
    yield Row(title, ours.seconds, "original", base.seconds, "CPU s", 1.10, note=note)
    different, count = _differences(graph, model.case)
    yield Row("ResNet-152: other bits than eager", different, "tensors", count, "", 0)


def _optimum() -> Iterator[Row]:
    for layers in (2, 4):
        model = _model(f"MLP-{layers}", models.mlp(layers))
        for share in (0.7, 0.5, 0.4):
            made = model.plan(share * model.above_static)
            best = optimal_seconds(made.step, made.budget)
            if best is not None:
                proof = "CP-SAT optimum" if best[1] else "CP-SAT, not proven"
                title = f"MLP-{layers} at {share:g} of the peak: recompute time"
                ours = made.seconds if made.fits else float("inf")
                yield Row(title, ours, proof, best[0], "s", 1.05)


def _choosing() -> Iterator[Row]:
    """Planning against tracing, and how planning grows. Wall time would say the same."""
    for name, work in (
        ("ResNet-152", models.resnet([3, 8, 36, 3], batch=16, pixels=96)),
        ("BERT-base", models.bert(0.1, layers=12, width=768)),
    ):
        work.model.train()
        start = time.process_time()
        graph = trace_workload(work, fused_adam)
        tracing = time.process_time() - start
        yield Row(f"{name}: choosing", _choosing_seconds(graph), "tracing it", tracing, "CPU s", 1)
    small, large = (trace_workload(llm_mlp(n, 8, 16, 64), fused_adam) for n in (35, 350))
    factor = len(large.nodes) / len(small.nodes)
    seconds = _choosing_seconds(large) * 10 / factor
    yield Row("choosing at 10x", seconds, "1,000 nodes", _choosing_seconds(small), "CPU s", 15)


def _choosing_seconds(graph: fx.Graph) -> float:
    line = live_bytes(graph, program_order(graph))
    costs = estimated_seconds(graph)
    budget = int(line.static + 0.6 * (line.peak - line.static))
    return timed(lambda: plan(graph, budget, costs), repeat=1)


def draw(points: dict[str, list[tuple[Point, Point | None]]]) -> None:
    """One picture: for each model, every way to train by its peak and its CPU time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(11, 8))
    marks = dict(zip(("eager", "no recomputation", "checkpoint"), "xPs", strict=True))
    for axis, (name, pairs) in zip(axes.flat, points.items(), strict=True):
        for theirs, ours in pairs:
            mark = marks.get(theirs.label, "o")
            shade = 0.75 * float(theirs.label.removeprefix("min-cut ")) if mark == "o" else 0.0
            spot = (theirs.peak / 1e6, theirs.seconds)
            axis.plot(*spot, mark, color=str(shade), label=theirs.label, zorder=3)
            if ours is not None and ours.seconds < float("inf"):
                plan = (ours.peak / 1e6, ours.seconds)
                axis.plot(*zip(spot, plan, strict=True), "-", color="tab:orange", linewidth=0.8)
                axis.plot(*plan, "^", color="tab:orange", label="ours, against it", zorder=3)
        axis.set(title=name, xlabel="peak above static memory, MB", ylabel="CPU s for a step")
        axis.margins(0.1)
    known: dict[str, Any] = {}
    for axis in axes.flat:
        handles, labels = axis.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    figure.suptitle("Memory against time: ours and what PyTorch offers (left and low is better)")
    figure.legend(list(known.values()), list(known), loc="lower center", ncols=4)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)
