"""Tasks 5.1, 5.2 and 5.6: on which scale an accumulator is, and everything that meets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log2, prod
from typing import Any

import numpy as np

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.judge.exact import (
    INT32,
    bias_exact,
    fixed_point_of,
    multiplier_of,
    reals,
    within_int32,
)
from lab_utils.labs.hw5.judge.numbers import array_of, first_difference, form_wrong, near

_CLOSE = 1e-6
EARLIER_LEFT_OUT = (
    "This leaves out what the layers before have multiplied: the accumulator's scale is the "
    "input's, times the product of all earlier weight scales and multipliers, times this weight's."
)


def _parts(given: Mapping[str, Any]) -> dict[str, float]:
    """Wrong scales of an accumulator, by the sentence that says what is wrong with them."""
    n_in, n_w, earlier = given["input_scale"], given["weight_scale"], given["earlier"]
    all_of, weights, multipliers = (
        prod((weight * m for weight, m in earlier), start=1.0),
        prod((weight for weight, _ in earlier), start=1.0),
        prod((m for _, m in earlier), start=1.0),
    )
    last = earlier[-1][0] * earlier[-1][1] if earlier else 1.0
    return {
        EARLIER_LEFT_OUT: n_in * n_w,
        "The input's scale is missing: it is multiplied into everything that follows.": n_w
        * all_of,
        "This layer's weight scale is missing: its products carry it.": n_in * all_of,
        "This is the scale of the weight alone: the numbers that it meets have one too.": n_w,
        "Each earlier layer multiplied twice: by its weight scale, and by its multiplier.": (
            n_in * n_w * weights
        ),
        "Each earlier layer multiplied twice: by its multiplier, and by its weight scale.": (
            n_in * n_w * multipliers
        ),
        "Only the last of the earlier layers is in it: all of them have multiplied.": (
            n_in * n_w * last
        ),
    }


def judge_multiplier(case: Case, answer: float) -> list[Finding]:
    """Task 5.1: from the accumulator's scale to the output's."""
    given = case.given
    names = ("largest", "input_scale", "weight_scale", "earlier")
    right = float(multiplier_of(*(given[name] for name in names)))
    if near(answer, right, _CLOSE):
        return []
    look = _multiplier_look(answer, right, given)
    return [Finding(f"M = {answer:.6g}", f"M = {right:.6g}", look)]


def _multiplier_look(mine: float, right: float, given: Mapping[str, Any]) -> str:
    wanted = 127 / given["largest"] if given["largest"] else 1.0
    if not given["largest"]:
        return "Nothing but 0 came out: largest is 0, and the output scale is then 1."
    for times, look in (
        (
            255 / 127,
            "255 steps for the largest: after ReLU nothing is negative, half of your range is "
            "empty, and what is above half of the maximum saturates. 127 is the last step.",
        ),
        (2.0, "254 steps for the largest: int8 ends at 127, so what is above half saturates."),
        (128 / 127, "128 at the maximum does not fit into int8: the largest becomes 127."),
    ):
        if near(mine, right * times, _CLOSE):
            return look
    if near(mine, 1 / right, _CLOSE):
        return "This is the inverse: the accumulator times M is to be on the output's scale."
    if near(mine, wanted, _CLOSE):
        return (
            "This is the output's scale itself. The accumulator has a scale already: divide by "
            "that, or it is counted twice."
        )
    for look, scale in _parts(given).items():
        if near(mine, wanted / scale, _CLOSE):
            return look
    if near(mine, wanted * (wanted / right), _CLOSE):
        return "M leads from the accumulator's scale to the output's: divide, do not multiply."
    return "M = (127 / largest) / (input_scale x product of earlier x weight_scale)."


def judge_fixed_point(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 5.2: 31 bits and a shift."""
    exact = Fraction(case.given["multiplier"])
    right, mine = fixed_point_of(exact), tuple(answer)
    if mine == right:
        return []
    told = (f"m0 = {mine[0]:,}, shift = {mine[1]}", f"m0 = {right[0]:,}, shift = {right[1]}")
    return [Finding(*told, _fixed_look(mine, right, exact))]


def _fixed_look(mine: tuple[int, ...], right: tuple[int, int], exact: Fraction) -> str:
    m0, shift = mine
    if m0 == right[0] and shift == -right[1]:
        return "The shift is to the right, and counted as positive: M = m0 / 2**shift."
    if m0 == right[0] and shift == right[1] - 31:
        return "These are the shifts beyond the first 31: here shift counts all of them."
    if m0 == right[0] and shift != right[1]:
        return "m0 is right, the shift is not: m0 / 2**shift must be the multiplier."
    if m0 >= INT32 or m0 < -INT32:
        return (
            "m0 does not fit into int32: it is below 2**31. If rounding makes it 2**31, halve it, "
            "and shift by one less."
        )
    if shift < 0 or abs(shift) > 200 or not m0:
        return "m0 lies between 2**30 and 2**31 - 1, and shift is what makes m0 / 2**shift = M."
    if abs(Fraction(m0) / 2**shift - exact) > exact / 2**20:
        if abs(Fraction(m0) * 2**shift - exact) < exact / 2**20:
            return "The shift is to the right, and counted as positive: M = m0 / 2**shift."
        if log2(m0) < 20 and m0 > 0:
            return "m0 has few bits, so M is rounded coarsely: use all 31, from 2**30 to 2**31 - 1."
        return "m0 / 2**shift is another number than the multiplier."
    if m0 < 2**30:
        return "m0 has few bits, so M is rounded coarsely: use all 31, from 2**30 to 2**31 - 1."
    return "The fraction was cut off: m0 is the nearest integer."


def judge_bias(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 5.6: on the scale of the accumulator that it is added to."""
    given, bias = case.given, reals(case.given["bias"])
    exact = bias_exact(bias, given["input_scale"], given["weight_scale"], given["earlier"])
    right = within_int32(exact)
    if list(answer["shape"]) == list(bias.shape) and answer["dtype"] == "int32":
        mine = array_of(answer)
        if not bias_differs(mine, exact).any():
            return []
        shown = first_difference(np.where(bias_differs(mine, exact), mine, right), right)
        return [Finding(*shown, bias_look(mine, bias, exact, given))]
    if answer["dtype"] == "int8" and list(answer["shape"]) == list(bias.shape):
        look = (
            "A bias is added to an accumulator of 32 bits, so it has 32 bits too: int8 would cut "
            "it off."
        )
        return [Finding("a tensor of int8", "a tensor of int32", look)]
    return form_wrong(answer, bias.shape, "int32")


def bias_differs(mine: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Where integers are not the nearest; floats of 24 bits may differ in their last ones."""
    right = np.clip(exact, -INT32, INT32 - 1)
    found: np.ndarray = np.abs(mine - right) > 0.501 + 2e-7 * np.abs(right)
    return found


def bias_look(
    mine: np.ndarray, bias: np.ndarray, exact: np.ndarray, given: Mapping[str, Any]
) -> str:
    """What a wrong bias was probably thinking."""

    def is_all(guess: np.ndarray) -> bool:
        return bool((np.abs(mine - guess) <= 1 + 1e-6 * np.abs(guess)).all())

    wrapped = (np.rint(exact) + INT32) % 2**32 - INT32
    beyond = np.abs(exact) > INT32
    if (
        beyond.any()
        and (is_all(wrapped) or (mine[beyond] != within_int32(exact)[beyond]).all())
        and not bias_differs(mine[~beyond], exact[~beyond]).any()
    ):
        return "It does not fit into int32, and wrapped around: clamp to what int32 holds."
    if (mine == np.trunc(exact)).all() or (mine == np.floor(exact)).all():
        return "The fraction was cut off: round to the nearest."
    if is_all(np.clip(np.rint(exact), -128, 127)):
        return "Clamped to int8: a bias is added to an accumulator of 32 bits, and has 32 bits too."
    largest = float(np.abs(bias).max(initial=0)) or 1.0
    if is_all(np.rint(bias * 127 / largest)):
        return (
            "The bias has a scale of its own here. It is added to the accumulator, so it must be "
            "on the accumulator's scale."
        )
    if is_all(np.rint(bias)):
        return "The bias was not scaled: next to an accumulator of thousands it is as good as 0."
    for look, scale in _parts(given).items():
        if is_all(np.rint(bias * scale)):
            return look
    return (
        "A bias is on another scale than the accumulator it is added to: bias x input_scale x "
        "product of earlier x weight_scale."
    )
