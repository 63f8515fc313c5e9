"""What usual mistakes in tasks 3.4, 3.5, 3.7 and 3.9 would answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autograder.labs.lab3b.cases.memory_slips import Slips, wrong
from autograder.reference.training import memory, time
from autograder.reference.training.search import all_plans
from lab_utils.instruments.parallel import FULL, NONE, SELECTIVE, Cluster, Job, Plan, Work
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer


def of_work(model: Transformer, job: Job, plan: Plan) -> Slips:
    """For task 3.4."""
    right = time.stage_work(model, job, plan)
    once = time.stage_work(model, job, replace(plan, recompute=NONE))
    core = time.stage_work(model, job, replace(plan, recompute=SELECTIVE))
    full = time.stage_work(model, job, replace(plan, recompute=FULL))
    micro = job.batch // plan.dp // job.micro_batches
    tokens = job.tokens * micro
    words = memory.padded_words(model.vocab, plan.tp) // plan.tp
    head = 6 * tokens * model.width * words
    last = plan.pp - 1

    def scaled(works: list[Work], factor: float) -> dict[str, list[float]]:
        return {n: [getattr(w, n) * factor for w in works] for n in ("dense", "attention")}

    def dense(by_stage: list[float]) -> dict[str, list[float]]:
        pairs = zip(right, by_stage, strict=True)
        return {"dense": [work.dense + more for work, more in pairs]}

    at_end = [0.0] * last
    unpadded = 6 * tokens * model.width * (model.vocab / plan.tp) - head
    slips: Slips = [
        ["forward", scaled(once, 1 / 3)],
        ["twice", scaled(once, 2 / 3)],
        ["macs", scaled(right, 1 / 2)],
        ["causal", {"attention": [work.attention / 2 for work in right]}],
        ["not again", scaled(once, 1)],
        ["all again", scaled(full, 1)],
        ["core again", scaled(core, 1)],
        ["whole", scaled(right, plan.tp)],
        ["whole batch", scaled(right, plan.dp)],
        ["all micro", scaled(right, job.micro_batches)],
        ["all layers", scaled(time.stage_work(model, job, replace(plan, pp=1)) * plan.pp, 1)],
        ["no head", dense([*at_end, -head])],
        ["every head", dense([head] * last + [0.0])],
        ["unpadded", dense([*at_end, unpadded])],
    ]
    if plan.recompute == FULL:
        slips.append(["head again", dense([*at_end, head / 3])])
    return wrong(slips, scaled(right, 1))


@dataclass(frozen=True)
class Clock:
    """How somebody adds up a step; right by default, like the families of memory."""

    speedup: bool = False
    bubble: bool = True
    line: bool = True
    per_layer: int = 4
    ends: bool = True
    gradients: bool = True
    table: bool = True
    messages: bool = True
    ring: str = "ring"
    same_share: bool = False
    best: bool = False
    again: bool = True
    once: bool = False
    table_item: int = 4

    def seconds(self, model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> float:
        """Of one step."""
        share = (1.0, 1.0) if self.best else (cluster.dense, cluster.attention)
        share = (share[0], share[0]) if self.same_share else share
        rate = cluster.machine.rate(job.dtype)
        micro = job.batch / plan.dp / job.micro_batches
        passing = job.tokens * micro * model.width * item_bytes(job.dtype)
        each = self._reduce(passing, plan.tp, cluster)
        layers = model.layers / plan.pp
        times = []
        for stage, work in enumerate(time.stage_work(model, job, plan)):
            seconds = work.dense / (rate * share[0]) + work.attention / (rate * share[1])
            extra = 2 if plan.recompute == FULL and self.again else 0
            seconds += layers * ((self.per_layer + extra) if self.per_layer else 0) * each
            seconds += self.ends * ((stage == 0) + (stage == plan.pp - 1)) * each
            times.append(seconds)
        m = job.micro_batches
        total = sum(times) + (m - 1) * max(times)
        if not self.bubble:
            total = m * max(times)
        if not self.line:
            total = m * sum(times)
        if self.speedup:
            total = m * sum(times) / plan.pp
        hop = cluster.latency + passing / cluster.link
        total += self.messages * (1 if self.once else 2) * (plan.pp - 1) * hop
        fullest = max(memory.stage_parameters(model, plan.tp, plan.pp))
        total += self.gradients * self._reduce(4 * fullest, plan.dp, cluster)
        if plan.pp > 1 and self.table:
            words = memory.padded_words(model.vocab, plan.tp) / plan.tp
            total += self._reduce(self.table_item * words * model.width, 2, cluster)
        return total

    def _reduce(self, nbytes: float, ranks: int, cluster: Cluster) -> float:
        if ranks == 1:
            return 0.0
        if self.ring == "message":
            return cluster.latency + nbytes / cluster.link
        if self.ring == "whole":
            return 2 * (ranks - 1) * (cluster.latency + nbytes / cluster.link)
        if self.ring == "half":
            return (ranks - 1) * (cluster.latency + nbytes / ranks / cluster.link)
        latencies = 1 if self.ring == "one latency" else 2 * (ranks - 1)
        return latencies * cluster.latency + 2 * (ranks - 1) * nbytes / ranks / cluster.link


def of_time(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> Slips:
    """For task 3.5."""
    ways = {
        "pipeline": Clock(speedup=True),
        "no bubble": Clock(bubble=False),
        "no overlap": Clock(line=False),
        "forward messages": Clock(per_layer=2),
        "no all-reduce": Clock(per_layer=0, ends=False),
        "no ends": Clock(ends=False),
        "no gradients": Clock(gradients=False),
        "no table": Clock(table=False),
        "no messages": Clock(messages=False),
        "one way": Clock(once=True),
        "one message": Clock(ring="message"),
        "whole chunks": Clock(ring="whole"),
        "half a ring": Clock(ring="half"),
        "one latency": Clock(ring="one latency"),
        "same share": Clock(same_share=True),
        "best": Clock(best=True),
        "not again": Clock(again=False),
    }
    right = time.step_seconds(model, job, plan, cluster)
    at = (model, job, plan, cluster)
    slips = [[name, {"seconds": [way.seconds(*at)]}] for name, way in ways.items()]
    return wrong(slips, {"seconds": [right]})


def of_speedup(dp: int, pp: int, micro_batches: int) -> Slips:
    """For task 3.9."""
    right = dp * pp / time.through_the_line([1.0] * pp, micro_batches, 0.0) * micro_batches
    ways = {
        "ideal": dp * pp,
        "bubble": (pp - 1) / (micro_batches + pp - 1),
        "no replicas": right / dp,
        "no pipeline": dp,
        "over m": dp * pp / (1 + (pp - 1) * micro_batches / (micro_batches + pp - 1)),
        "bubble over work": dp * pp * (1 - (pp - 1) / micro_batches),
    }
    slips: Slips = [[name, {"speedup": [float(value)]}] for name, value in ways.items()]
    return wrong(slips, {"speedup": [right]})


def of_largest(model: Transformer, job: Job, cluster: Cluster, step: int) -> dict[str, int]:
    """For task 3.7: how many layers somebody would find who forgets something."""

    def fits(layers: int, slip: str) -> bool:
        deeper = replace(model, layers=layers)
        room = cluster.machine.memory
        if slip == "sum":
            room *= cluster.cards
        for plan in all_plans(deeper, job, cluster.cards):
            if slip == "no recomputation" and plan.recompute != NONE:
                continue
            stages = memory.stage_memory(deeper, job, plan)
            total = {
                "weights": max(s.state // 4 + s.kept + s.logits for s in stages),
                "no activations": max(s.state for s in stages),
                "no logits": max(s.state + s.kept for s in stages),
            }.get(slip, max(s.total for s in stages))
            if total <= room:
                return True
        return False

    found = {}
    names = ("weights", "no activations", "no logits", "no recomputation", "sum")
    for slip in names:
        layers = 0
        while fits(layers + step, slip):
            layers += step
        found[slip] = layers
    return found
