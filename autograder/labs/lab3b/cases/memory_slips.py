"""What usual mistakes in tasks 3.1 to 3.3 would answer, so that the judge knows them.

Each family of formulas is right by default (a test holds it against what PyTorch counts), and
wrong in one way for each of its switches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from autograder.reference.training import memory
from autograder.reference.training.blocks import layer_bytes
from lab_utils.instruments.parallel import FULL, NONE, SELECTIVE, Job, Plan
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer

Slips = list[list[Any]]
"""Pairs: the name of a slip, and by part what it answers for each stage."""


@dataclass(frozen=True)
class Parameters:
    """How somebody counts parameters."""

    pad: int | None = None
    column_bias: bool = True
    row_bias: bool = True
    norms: bool = True
    positions: bool = True
    copy: bool = True
    everywhere: bool = False
    second_table: bool = False
    whole: bool = False
    all_split: bool = False
    split_positions: bool = False
    split_row_bias: bool = False
    whole_column_bias: bool = False
    four: bool = False

    def count(self, model: Transformer, tp: int, pp: int) -> list[float]:
        """For each stage."""
        width = model.width
        hidden = 4 * width if self.four else model.hidden
        t = 1 if self.whole else tp
        pad = memory.WORDS * tp if self.pad is None else self.pad
        table = -(-model.vocab // pad) * pad / t * width
        columns = (3 * width + hidden) / (1 if self.whole_column_bias else t)
        rows = 2 * width / (t if self.split_row_bias else 1)
        layer = (4 * width * width + 2 * width * hidden) / t
        layer += self.column_bias * columns + self.row_bias * rows + self.norms * 4 * width
        found = []
        for stage in range(pp):
            total = model.layers / pp * layer
            if stage == 0:
                at = model.context * width / (t if self.split_positions else 1)
                total += table + self.positions * at
            if stage == pp - 1:
                total += self.norms * 2 * width
                total += table if (pp > 1 and self.copy) or (pp == 1 and self.second_table) else 0
            elif stage and self.everywhere:
                total += table
            found.append(total / tp if self.all_split and self.whole else total)
        return found


def of_parameters(model: Transformer, tp: int, pp: int) -> Slips:
    """For task 3.1."""
    ways = {
        "unpadded": Parameters(pad=1),
        "pad 128": Parameters(pad=memory.WORDS),
        "pad tp": Parameters(pad=tp),
        "no biases": Parameters(column_bias=False, row_bias=False),
        "no norms": Parameters(norms=False),
        "no positions": Parameters(positions=False),
        "no copy": Parameters(copy=False),
        "everywhere": Parameters(everywhere=True),
        "second table": Parameters(second_table=True),
        "whole": Parameters(whole=True),
        "whole ": Parameters(whole=True, pad=memory.WORDS),
        "all split": Parameters(whole=True, all_split=True),
        "all split ": Parameters(whole=True, all_split=True, pad=memory.WORDS),
        "positions": Parameters(split_positions=True),
        "row bias": Parameters(split_row_bias=True),
        "column bias": Parameters(whole_column_bias=True),
        "four": Parameters(four=True),
    }
    right: list[float] = [*memory.stage_parameters(model, tp, pp)]
    slips = [[n.strip(), {"parameters": way.count(model, tp, pp)}] for n, way in ways.items()]
    return wrong(slips, {"parameters": right})


@dataclass(frozen=True)
class Kept:
    """How somebody counts what a layer keeps."""

    mask: int = 1
    statistics: int = 16
    all_split: bool = False
    whole: bool = False
    unsequenced: bool = False
    scores: int = 0
    no_qkv: bool = False
    four: bool = False
    item: int = 0
    again: str = ""
    one_head: bool = False
    gelu: int = 2

    def count(self, model: Transformer, tokens: int, batch: int, dtype: str, plan: Plan) -> float:
        """Bytes."""
        item = self.item or item_bytes(dtype)
        tp = 1 if self.whole else plan.tp
        shared = tp if (plan.sequence_parallel and not self.unsequenced) or self.all_split else 1
        hidden = 4 * model.width if self.four else model.hidden
        heads = 1 if self.one_head else model.heads
        recompute = self.again or plan.recompute
        pairs = tokens * batch
        numbers = pairs * model.width
        if recompute == FULL:
            return item * numbers / shared
        whole = (4 * item + 2 * self.mask) * numbers + self.statistics * pairs
        qkv = 0 if self.no_qkv and recompute == SELECTIVE else 3
        split = item * ((qkv + 1) * numbers + self.gelu * pairs * hidden)
        core = ((2 + self.scores) * item + self.mask) * heads * tokens * pairs
        return whole / shared + (split + (core if recompute == NONE else 0)) / tp


def of_layer(model: Transformer, tokens: int, batch: int, dtype: str, plan: Plan) -> Slips:
    """For task 3.2."""
    at = (model, tokens, batch, dtype, plan)
    ways = {
        "masks": Kept(mask=item_bytes(dtype)),
        "no masks": Kept(mask=0),
        "no statistics": Kept(statistics=0),
        "statistics": Kept(statistics=4 * item_bytes(dtype)),
        "all split": Kept(all_split=True),
        "whole": Kept(whole=True),
        "not sequence": Kept(unsequenced=True),
        "scores": Kept(scores=1),
        "no qkv": Kept(no_qkv=True),
        "four": Kept(four=True),
        "four bytes": Kept(item=4),
        "two bytes": Kept(item=2),
        "not again": Kept(again=NONE),
        "whole layer": Kept(again=FULL),
        "core alone": Kept(again=SELECTIVE),
        "one head": Kept(one_head=True),
        "one gelu": Kept(gelu=1),
    }
    right = layer_bytes(memory.share_of(model, plan), tokens, batch, dtype)
    slips = [[name, {"bytes": [way.count(*at)]}] for name, way in ways.items()]
    return wrong(slips, {"bytes": [right]})


def of_peak(model: Transformer, job: Job, plan: Plan) -> Slips:
    """For task 3.3."""
    right = _parts(model, job, plan)
    parameters = memory.stage_parameters(model, plan.tp, plan.pp)
    # With two replicas a shared state looks like one without moments: the case with one tells.
    slips: Slips = [["zero", {"state": [16 * n / plan.dp for n in parameters]}]]
    slips += [
        [name, {"state": [each * n for n in parameters]}]
        for name, each in (("weights", 4), ("no moments", 8), ("no gradients", 12), ("18", 18))
    ]
    micro = job.batch // plan.dp // job.micro_batches
    layers = model.layers // plan.pp

    def kept(recompute: str, batch: int = micro) -> int:
        share = memory.share_of(model, plan, recompute)
        return layer_bytes(share, job.tokens, batch, job.dtype)

    now, made = kept(plan.recompute), kept(NONE) - kept(plan.recompute)
    m, stages = job.micro_batches, range(plan.pp)
    flying = [min(m, plan.pp - stage) for stage in stages]
    all_of_share = job.batch // plan.dp
    ways: dict[str, list[float]] = {
        "all in flight": [m * layers * now + made for _ in stages],
        "one in flight": [layers * now + made for _ in stages],
        "stages": [plan.pp * layers * now + made for _ in stages],
        "turned round": [min(m, stage + 1) * layers * now + made for stage in stages],
        "no work": [n * layers * now for n in flying],
        "no saving": [n * layers * (now + made) for n in flying],
        "all layers": [n * model.layers * now + made for n in flying],
        "no micro": [
            n * layers * kept(plan.recompute, all_of_share)
            + (kept(NONE, all_of_share) - kept(plan.recompute, all_of_share))
            for n in flying
        ],
    }
    slips += [[name, {"kept": value}] for name, value in ways.items()]
    if plan.dp > 1:
        slips.append(["whole batch", _parts(model, job, replace(plan, dp=1))])
        del slips[-1][1]["state"]
    buffer = right["logits"][-1] / memory.LOGITS
    words = memory.padded_words(model.vocab, plan.tp)
    item = item_bytes(job.dtype)
    last = [0.0] * (plan.pp - 1)
    slips += [
        [name, {"logits": [*last, value]}]
        for name, value in (
            ("one buffer", buffer),
            ("one buffer", 2 * buffer),
            ("logits dtype", 3 * buffer * item / 4),
            ("unpadded", 3 * buffer * model.vocab / words),
            ("unpadded", 3 * buffer * _up(model.vocab, memory.WORDS) / words),
            ("logits whole", 3 * buffer * plan.tp),
            ("no micro", 3 * buffer * job.micro_batches),
        )
    ]
    slips.append(["every stage", {"logits": [3 * buffer for _ in stages]}])
    return wrong(slips, right)


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _parts(model: Transformer, job: Job, plan: Plan) -> dict[str, list[float]]:
    stages = memory.stage_memory(model, job, plan)
    names = ("state", "kept", "logits")
    return {name: [getattr(stage, name) for stage in stages] for name in names}


def wrong(slips: Slips, right: dict[str, list[float]]) -> Slips:
    """Only what differs from what is right: stages that a slip gets right are None."""
    found = []
    for name, parts in slips:
        left = {}
        for part, values in parts.items():
            pairs = zip(values, right[part], strict=True)
            odd = [a if abs(a - b) > 1e-6 * max(abs(a), abs(b)) else None for a, b in pairs]
            if any(value is not None for value in odd):
                left[part] = odd
        if left:
            found.append([name, left])
    return found
