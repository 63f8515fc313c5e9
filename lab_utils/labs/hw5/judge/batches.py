"""What is right in notebook 3, large batches and what the ranks must agree on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Case, Finding, Judge
from lab_utils.labs.hw5.judge.norm import judge_norm
from lab_utils.labs.hw5.judge.sampler import judge_shard
from lab_utils.labs.hw5.judge.wire import judge_traffic
from lab_utils.labs.hw5.tables import BATCHES_CSV, EPOCHS, form_problem

_MEASURE = "Run the cell that measures it; it goes on where it stopped."


def judge_rate(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 3.1: from the base rate to the scaled one in equal steps, and then no more."""
    for step, got, right in zip(case.given["steps"], answer, case.wanted["rates"], strict=True):
        if not _same(got, right):
            told = f"step {step}: {got:.6g}", f"step {step}: {right:.6g}"
            return [Finding(*told, _rate_look(case.given, step, got))]
    return []


def _rate_look(given: Mapping[str, Any], step: int, got: float) -> str:
    rate, warmup = given["rate"], given["warmup"]
    scale = given["batch"] / given["base"]
    most = rate * scale
    if step >= warmup:
        if _same(got, rate):
            return "After the warm-up the rate is that of the large batch: rate * batch / base."
        if _same(got, rate * math.sqrt(scale)):
            return "Linear scaling: a batch k times as large has k times the rate, not its root."
        if _same(got, rate / scale):
            return "This is the inverse: a larger batch has a larger rate."
        if got > most:
            return "The rate goes on growing: after the warm-up it stays where it is."
        return "After the warm-up the rate is rate * batch / base, and stays there."
    if _same(got, most * step / warmup) or _same(got, most * (step + 1) / warmup):
        return "The warm-up starts from the rate of the small batch, not from 0."
    if _same(got, rate + (most - rate) * (step + 1) / warmup):
        return "Step 0 has the rate of the small batch: the increments begin after it."
    if _same(got, rate):
        return (
            "The rate stands still in the warm-up: it grows by the same amount in every step, not "
            "at its end alone."
        )
    if _same(got, most):
        return "This is the large rate at once: the warm-up comes before it."
    return "In the warm-up each step adds the same: (scaled rate - rate) / warmup."


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)


def judge_table(_: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 3.2: its form, its rows, and that the small batch learns."""
    wanted = "a row for the small batch, and three for a large one"
    text = answer["text"]
    if not text:
        return [Finding(f"there is no {answer['file']}", wanted, _MEASURE)]
    if problem := form_problem(BATCHES_CSV, text):
        return [Finding(f"{answer['file']} {problem}", wanted, _MEASURE)]
    rows = BATCHES_CSV.rows(text)
    smallest = min(float(row["batch"]) for row in rows)
    large = [row for row in rows if float(row["batch"]) > smallest]
    if len(large) < 3:
        look = "Three rules are compared for the large batch: same rate, scaled, with a warm-up."
        return [Finding(f"{len(large)} rows of a large batch", wanted, look)]
    small = next(row for row in rows if float(row["batch"]) == smallest)
    if float(small[f"loss_{EPOCHS}"]) >= float(small["loss_1"]):
        look = "With the small batch the loss falls from epoch to epoch: was anything trained?"
        return [Finding("the loss does not fall", "the loss of epoch 5 is below the first", look)]
    if any(float(row["accuracy"]) > 100 for row in rows):
        look = "An accuracy is a percentage of the images: from 0 to 100."
        return [Finding("an accuracy above 100", "per cent", look)]
    return []


JUDGE: dict[str, Judge] = {
    "3.1": judged_in_parts(judge_rate),
    "3.2": judge_table,
    "3.4": judged_in_parts(judge_shard),
    "3.6": judged_in_parts(judge_traffic),
    "3.8": judge_norm,
}
