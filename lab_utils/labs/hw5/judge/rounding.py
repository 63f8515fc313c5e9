"""Tasks 4.3 to 4.7: the nearest of 256 numbers, and the scale that leads there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.judge.exact import HIGH, LOW, max_scale, reals, sigma_scale
from lab_utils.labs.hw5.judge.numbers import array_of, first_difference, form_wrong, near

_TIE = 1e-3  # how far from the middle between two integers the nearest one is clear
_CLOSE = 1e-4


def judge_quantized(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.3: round and clamp."""
    values, scale = reals(case.given["values"]), case.given["scale"]
    if found := form_wrong(answer, values.shape, "int8"):
        return found
    if found := numbers_wrong(array_of(answer), values, scale):
        return found
    if answer["spoiled"]:
        look = (
            "What you were given has changed: multiply into a new tensor (values * scale), not in "
            "place (values *= scale). Somebody else may read it next."
        )
        return [Finding("the values are others than before", "the values as they were", look)]
    return []


def numbers_wrong(mine: np.ndarray, values: np.ndarray, scale: float | np.ndarray) -> list[Finding]:
    """Whether int8 numbers are not the nearest to ``values * scale``."""
    exact = values * scale
    right = np.clip(np.rint(exact), LOW, HIGH)
    either_way = np.abs(exact - np.floor(exact) - 0.5) < _TIE  # ties may go either way
    other = np.clip(np.where(np.rint(exact) > exact, np.floor(exact), np.ceil(exact)), LOW, HIGH)
    wrong = (mine != right) & ~(either_way & (mine == other))
    if not wrong.any():
        return []
    looked_at = np.where(wrong, mine, right)
    return [Finding(*first_difference(looked_at, right), _numbers_look(mine, wrong, exact, values))]


def _numbers_look(
    mine: np.ndarray, wrong: np.ndarray, exact: np.ndarray, values: np.ndarray
) -> str:
    def is_all(guess: np.ndarray) -> bool:
        return bool((mine == guess)[wrong].all())

    outside = (np.rint(exact) > HIGH) | (np.rint(exact) < LOW)
    wrapped = (np.rint(exact) - LOW) % 256 + LOW
    if (wrong & outside).any() and (mine == wrapped)[wrong & outside].all():
        return (
            "It wrapped around: 128 becomes -128 in int8. Clamp to -128 and 127 before you make it "
            "int8."
        )
    if is_all(np.clip(np.trunc(exact), LOW, HIGH)) or is_all(np.clip(np.floor(exact), LOW, HIGH)):
        return "The fraction was cut off, so 0.7 became 0: round to the nearest, then make it int8."
    if is_all(np.clip(np.rint(exact), -HIGH, HIGH)):
        return "int8 reaches from -128 to 127: clamp to these two."
    if is_all(np.clip(np.rint(exact), 0, HIGH)) or is_all(np.clip(np.rint(exact), 0, 255)):
        return "int8 has a sign: numbers below 0 are not cut off."
    if is_all(np.rint(np.clip(values, LOW, HIGH))):
        return "The scale was not used: an integer is real x scale, rounded."
    return "An integer is real x scale, to the nearest, and clamped to -128 and 127."


def judge_weights(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.5: the largest magnitude becomes 127."""
    weight = reals(case.given["weight"])
    right = max_scale(weight)
    return _pair_wrong(answer, weight, right, _max_look(answer["scale"], weight, right))


def judge_clipped(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.6: |mean| + 3 sigma becomes 127, or the largest magnitude if it is less."""
    weight = reals(case.given["weight"])
    right = sigma_scale(weight)
    return _pair_wrong(answer, weight, right, _sigma_look(answer["scale"], weight, right))


def _pair_wrong(
    answer: Mapping[str, Any], weight: np.ndarray, right: float, look: str
) -> list[Finding]:
    mine = answer["scale"]
    if not near(mine, right, _CLOSE):
        return [Finding(f"scale {mine:.6g}", f"scale {right:.6g}", look)]
    return form_wrong(answer, weight.shape, "int8") or numbers_wrong(
        array_of(answer), weight, right
    )


def _max_look(mine: float, weight: np.ndarray, right: float) -> str:
    largest = float(np.abs(weight).max(initial=0))
    if not largest:
        return "A layer of zeros gives a scale of infinity: take scale 1 for it."
    if near(mine, 1 / right, _CLOSE):
        return "This is the inverse: here an integer is real x scale, so scale = 127 / largest."
    for steps in (128, 128.5, 127.5):
        if near(mine, steps / largest, _CLOSE):
            return "128 at the maximum does not fit into int8: the largest magnitude becomes 127."
    if near(mine, 255 / float(np.ptp(weight) or 1), _CLOSE):
        return (
            "255 / (max - min) centres on the middle of the range, but our integers have 0 at "
            "real 0: take 127 / largest magnitude."
        )
    if near(mine, 255 / largest, _CLOSE) or near(mine, 254 / largest, _CLOSE):
        return "Half of the 256 numbers are for the negative side: 127 for the largest magnitude."
    if near(mine, HIGH / float(weight.max() or 1), _CLOSE):
        return "The largest magnitude may belong to a negative weight: max without abs misses it."
    if near(mine, sigma_scale(weight), _CLOSE):
        return "This is the 3-sigma range: here the largest magnitude is asked for."
    return "scale = 127 / the largest magnitude of all weights of the layer."


def _sigma_look(mine: float, weight: np.ndarray, right: float) -> str:
    mean, sigma = abs(float(weight.mean())), float(weight.std(ddof=1))
    largest = float(np.abs(weight).max(initial=0))
    if not largest:
        return "A layer of zeros gives a scale of infinity: take scale 1 for it."
    if near(mine, 1 / right, _CLOSE):
        return "This is the inverse: here an integer is real x scale, so scale = 127 / limit."
    if near(mine, HIGH / largest, _CLOSE):
        return "This is the range of the largest magnitude: |mean| + 3 sigma is less here."
    if near(mine, HIGH / (mean + 3 * sigma), _CLOSE):
        return (
            "The 3-sigma range is wider than the weights are: where the largest magnitude is less, "
            "take that."
        )
    for limit in (3 * sigma, min(3 * sigma, largest)):
        if limit and near(mine, HIGH / limit, _CLOSE):
            return "3 sigma around the mean, not around 0: the limit is |mean| + 3 sigma."
    if sigma and near(mine, HIGH / (mean + sigma), _CLOSE):
        return "This is one sigma: a third of all weights would saturate. Take three."
    biased = mean + 3 * float(weight.std())
    if near(mine, HIGH / min(biased, largest), _CLOSE):
        return "This sigma divides by n: torch.std divides by n - 1, and so do we."
    return (
        "limit = |mean| + 3 sigma, or the largest magnitude if that is less; scale = 127 / limit."
    )


def judge_channels(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.7: for each output its own scale."""
    weight, steps = reals(case.given["weight"]), 2 ** (case.given["bits"] - 1) - 1
    right = np.array([max_scale(row, steps) for row in weight])
    mine = np.array(answer["scales"], float)
    if len(mine) != len(right):
        look = "One scale for each output (the first dimension), not for each input or each number."
        return [Finding(f"{len(mine)} scales", f"{len(right)} scales", look)]
    for place, (yours, wanted) in enumerate(zip(mine, right, strict=True)):
        if not near(yours, wanted, _CLOSE):
            look = _channel_look(mine, yours, wanted, weight[place], steps)
            told = (f"scale {yours:.6g} for output {place}", f"{wanted:.6g}")
            return [Finding(*told, look)]
    if found := form_wrong(answer, weight.shape, "int8"):
        return found
    return numbers_wrong(array_of(answer), weight, right.reshape(-1, *[1] * (weight.ndim - 1)))


def _channel_look(
    mine: np.ndarray, yours: float, wanted: float, row: np.ndarray, steps: int
) -> str:
    if not row.any():
        return "An output whose weights are all 0 has no largest one: give it scale 1."
    if len(mine) > 1 and np.ptp(mine) == 0:
        return (
            "All outputs have one scale: the one with the largest weight decides, and small ones "
            "are rounded to nothing."
        )
    if near(yours, 1 / wanted, _CLOSE):
        return "This is the inverse: here an integer is real x scale, so scale = steps / largest."
    if near(yours * steps, wanted * HIGH, _CLOSE):
        return "127 steps are those of 8 bits: with fewer bits there are 2**(bits - 1) - 1."
    for other in (steps + 1, 2 * steps + 1, 2 * steps + 2, 2 * steps):
        if near(yours * steps, wanted * other, _CLOSE):
            return (
                "The largest magnitude becomes 2**(bits - 1) - 1: 127, 7 or 1 with 8, 4 or 2 bits."
            )
    if near(yours * float(row.max()), steps, _CLOSE):
        return "The largest magnitude may belong to a negative weight: max without abs misses it."
    return "The scale of an output is steps / the largest magnitude among its own weights."
