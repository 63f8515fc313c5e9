"""Tasks 4.1 and 4.2: how weights lie, and what a range loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.judge.exact import reals
from lab_utils.labs.hw5.judge.numbers import near

_CLOSE = 1e-4


def range_of(weight: np.ndarray) -> dict[str, float]:
    """The five numbers of a layer."""
    mean, sigma = float(weight.mean()), float(weight.std(ddof=1))
    outside = float((np.abs(weight - mean) > 3 * sigma).mean()) if sigma > 1e-12 else 0.0
    return {
        "low": float(weight.min()),
        "high": float(weight.max()),
        "mean": mean,
        "sigma": sigma,
        "outside": outside,
    }


def judge_range(case: Case, answer: Mapping[str, float]) -> list[Finding]:
    """Task 4.1: low, high, mean, sigma, outside."""
    weight = reals(case.given["weight"])
    right, findings = range_of(weight), []
    for name, wanted in right.items():
        mine = answer[name]
        floor = _CLOSE * float(np.abs(weight).max(initial=0)) if name != "outside" else 1e-9
        if not abs(mine - wanted) <= max(_CLOSE * abs(wanted), floor):
            look = _range_look(name, mine, weight, right)
            findings.append(Finding(f"{name}: {mine:.6g}", f"{name}: {wanted:.6g}", look))
    return findings


def _range_look(name: str, mine: float, weight: np.ndarray, right: Mapping[str, float]) -> str:
    sigma, mean = right["sigma"], right["mean"]
    if name in ("low", "high"):
        if near(mine, float(np.abs(weight).max()), _CLOSE) or mine == np.abs(weight).min():
            return "The weights themselves, not their magnitudes: a lowest weight may be below 0."
        if near(mine, mean - 3 * sigma, _CLOSE) or near(mine, mean + 3 * sigma, _CLOSE):
            return "This is the 3-sigma interval: low and high are the weights that are there."
        return "low is the smallest of all weights, high the largest, over all dimensions."
    if name == "mean":
        return "The mean of all weights of the layer: their signs count."
    if name == "sigma":
        if near(mine, float(weight.std()), _CLOSE):
            return "This divides by n: torch.std divides by n - 1, and so do we."
        if near(mine, sigma**2, _CLOSE):
            return "This is the variance: the standard deviation is its square root."
        if near(mine, 3 * sigma, _CLOSE):
            return "This is 3 sigma: return sigma itself."
        return "The standard deviation of all weights together, as torch.std has it."
    if not np.isfinite(mine):
        return "All weights are equal, so sigma is 0: do not divide by it."
    share = right["outside"]
    if weight.size > 1 and near(mine, share * weight.size) and share:
        return "This is a count: the share is the count divided by the number of weights."
    if near(mine, 100 * share) and share:
        return "This is in percent: the share lies between 0 and 1."
    if near(mine, 1 - share):
        return "This is the share inside: what lies more than 3 sigma away is asked for."
    if near(mine, float((np.abs(weight) > 3 * sigma).mean())):
        return (
            "Measure from the mean, not from 0: the interval is mean - 3 sigma to mean + 3 sigma."
        )
    if near(mine, float((weight - mean > 3 * sigma).mean())):
        return "Weights lie outside on both sides: take the magnitude of weight - mean."
    return "The share of weights whose distance from the mean is more than 3 sigma."


def lost_of(weight: np.ndarray, limit: float, bits: int) -> tuple[int, int]:
    """How many weights saturate, and how many that are not 0 become 0."""
    steps = 2 ** (bits - 1) - 1
    size = np.abs(weight)
    zeroed = (size * steps / limit < 0.5) & (size > 0)
    return int((size > limit).sum()), int(zeroed.sum())


def judge_lost(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 4.2: what saturates, what becomes 0."""
    weight, limit, bits = reals(case.given["weight"]), case.given["limit"], case.given["bits"]
    right = lost_of(weight, limit, bits)
    mine = tuple(answer)
    if mine == right:
        return []
    told = (
        f"saturated {mine[0]:g}, zeroed {mine[1]:g}",
        f"saturated {right[0]}, zeroed {right[1]}",
    )
    return [Finding(*told, _lost_look(mine, right, weight, limit, bits))]


def _lost_look(
    mine: tuple[float, ...], right: tuple[int, int], weight: np.ndarray, limit: float, bits: int
) -> str:
    if mine == right[::-1]:
        return "They are turned round: first what saturates, then what becomes 0."
    if all(near(m * weight.size, r) for m, r in zip(mine, right, strict=True)):
        return "These are shares: return how many weights there are of each."
    size = np.abs(weight)
    if mine[0] != right[0]:
        if mine[0] == (weight > limit).sum():
            return "Weights saturate on both sides: below -limit too."
        if mine[0] == (size >= limit).sum():
            return "A weight that is exactly the limit becomes the last step: it does not saturate."
        return "A weight saturates if its magnitude is more than the limit."
    for steps, look in (
        (
            2 ** (bits - 1),
            "The limit becomes 2**(bits - 1) - 1 steps, 127 of them with 8 bits: 128 does not fit.",
        ),
        (
            2**bits - 1,
            "Half of the steps are for negative numbers: the limit becomes 2**(bits - 1) - 1.",
        ),
        (
            2 * (2 ** (bits - 1) - 1),
            "Half of the steps are for negative numbers: the limit becomes 2**(bits - 1) - 1.",
        ),
    ):
        if mine[1] == ((size * steps / limit < 0.5) & (size > 0)).sum():
            return look
    steps = 2 ** (bits - 1) - 1
    if mine[1] == (size * steps / limit < 0.5).sum():
        return "A weight that is 0 loses nothing: count those that are not 0 and become 0."
    if mine[1] == ((size * steps / limit < 1) & (size > 0)).sum():
        return "To the nearest: what is less than half a step becomes 0, not less than a whole one."
    return "A step is limit / (2**(bits - 1) - 1); less than half of one becomes 0."
