"""Tasks 2.1 and 2.2: a convolution as a product, and its cycles in three dataflows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.kit.task import Case, Finding


def judge_product(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.1: M, N and K."""
    wanted = case.wanted["product"]
    if list(answer) == wanted:
        return []
    conv = Conv("layer", *case.given["conv"])
    return [Finding(_mnk(answer), _mnk(wanted), _product_wrong(conv, answer, wanted))]


def _mnk(product: Sequence[float]) -> str:
    return "M, N, K = " + ", ".join(f"{size:,}" for size in product)


def _product_wrong(conv: Conv, mine: Sequence[float], wanted: Sequence[int]) -> str:
    m, n, k = mine
    if sorted(mine) == sorted(wanted):
        return "The three numbers are right, but not in this order: M, N, K."
    if k != wanted[2]:
        if k == conv.filter_height * conv.filter_width:
            return "An output sums over all channels too: they belong to K."
        if k == conv.filter_height * conv.filter_width * conv.filters or n == conv.channels:
            return "Channels and filters are swapped: sums run over channels, N counts filters."
        return "K is the length of one sum: all weights of one filter."
    if n != wanted[1]:
        return "N is the number of columns of the product: one for each filter."
    return output_wrong(conv, m)


_AS_A_STRIDE = "The stride is left out: the window moves by that many pixels, in both directions."


def output_wrong(conv: Conv, pixels: float) -> str:
    """What a wrong number of output pixels was probably thinking."""
    tall, wide, high, long, stride = (*conv[1:5], conv.stride)
    guesses: list[tuple[int, str]] = [
        ((tall - high + 1) * (wide - long + 1), _AS_A_STRIDE),
        (
            (math.ceil((tall - high) / stride) + 1) * (math.ceil((wide - long) / stride) + 1),
            "You round up: a window that does not fit whole makes no output.",
        ),
        (
            ((tall - high) // stride) * ((wide - long) // stride),
            "One too few in each direction: there is a window before the first step, too.",
        ),
        (
            math.ceil(tall / stride) * math.ceil(wide / stride),
            "That would need padding: here the window stays inside the input.",
        ),
        (
            (tall // stride) * (wide // stride),
            "That would need padding: here the window stays inside the input.",
        ),
        (
            ((tall - long) // stride + 1) * ((wide - high) // stride + 1),
            "Height and width are mixed up: the filter's height goes with the input's height.",
        ),
    ]
    for guess, look in guesses:
        if pixels == guess:
            return look
    return "M counts outputs of one filter: places of the window down, times places across."


def judge_latency(case: Case, answer: float) -> list[Finding]:
    """Task 2.2: cycles of a product in one of three dataflows."""
    wanted = case.wanted["cycles"]
    if answer == wanted:
        return []
    look = _latency_wrong(case.given, answer)
    law = too_few(answer, case.wanted["macs"], case.given)
    if law and look in (_BY_HAND, _FEW_FOLDS):
        look = law
    return [Finding(f"{answer:,} cycles", f"{wanted:,} cycles", look)]


def too_few(cycles: float, macs: int, given: Mapping[str, Any]) -> str:
    """The law that no answer may break; no words if it is kept."""
    if cycles * given["height"] * given["width"] >= macs:
        return ""
    return (
        "Law: fewer cycles than multiply-accumulates for each processing element. No array can "
        "do that."
    )


_BY_HAND = "Follow a fold of 2 x 2 elements on paper: what is loaded, what streams, what drains?"
_FEW_FOLDS = "A part of a fold takes a fold: round the number of folds up, not down."


def _latency_wrong(given: Mapping[str, Any], mine: float) -> str:
    (m, n, k), dataflow = given["product"], given["dataflow"]
    h, w = given["height"], given["width"]
    table = {"os": (m, n, k), "ws": (k, n, m), "is": (k, m, n)}
    down, across, long = table[dataflow]
    loads = 0 if dataflow == "os" else h
    fold = loads + h + w - 2 + long

    def folds(rows: int, columns: int, to_whole: Callable[[float], int] = math.ceil) -> int:
        return to_whole(rows / h) * to_whole(columns / w)

    many = folds(down, across)
    used = loads + min(h, down) + min(w, across) - 2 + long
    guesses: list[tuple[float, str]] = [
        (fold * many - 1, _ONE_LESS),
        (fold * math.ceil(down * across / (h * w)), _TOGETHER),
        (fold * (many - 1), _FEW_FOLDS),
        (fold * folds(down, across, math.floor), _FEW_FOLDS),
        (fold * max(1, folds(down, across, math.floor)), _FEW_FOLDS),
        ((fold - loads) * many, _NO_LOAD if w > 2 or not loads else _NO_LOAD_OR_FILL),
        ((fold - loads) * many + loads, _LOAD_EACH),
        ((fold + h) * many, _OS_LOADS),
        (loads + h + w - 2 + long * many, _ONE_FILL),
        (long * many, _NO_FILL),
        ((loads + long) * many, _NO_FILL),
        ((fold + 2) * many, _CORNER),
        ((fold + 1) * many, _CORNER),
        (fold, _ONE_FOLD),
        (math.ceil(down / w) * math.ceil(across / h) * fold, _TURNED),
        (math.ceil(down / w) * math.ceil(across / h) * (fold - loads + (loads and w)), _TURNED),
        (many * (fold - loads + (loads and w)), _TURNED),
        (used * many, _EMPTY),
    ]
    for guess, look in guesses:
        if mine == guess:
            return look
    for a, b, c in {(m, n, k), (m, k, n), (k, n, m), (k, m, n), (n, m, k), (n, k, m)}:
        if (a, b, c) != (down, across, long):
            for load in {0, h}:
                if mine == (load + h + w - 2 + c) * folds(a, b):
                    return _OTHER_MAP
    return _BY_HAND


_ONE_LESS = "One less: Lab 2A's report numbers the cycles from 0, here they are counted."
_TOGETHER = "Rows and columns are cut apart: round up the folds down and across, then multiply."
_NO_LOAD = "What stays has to be loaded first: one row of the array a cycle, in every fold."
_NO_LOAD_OR_FILL = (
    "What stays is loaded first, H cycles in every fold; then the last element begins H + W - 2 "
    "cycles after the first. One of the two is missing."
)
_LOAD_EACH = "What stays is another part in every fold: it is loaded in each of them."
_OS_LOADS = "Output-stationary loads nothing: its sums begin as zero."
_ONE_FILL = "Every fold fills and drains: folds do not overlap."
_NO_FILL = "Values enter skewed: the last element begins H + W - 2 cycles after the first."
_CORNER = "From the first element to the last it is H - 1 steps down and W - 1 across: H + W - 2."
_ONE_FOLD = "A layer that is larger than the array takes several folds, down and across."
_TURNED = "Height and width of the array are swapped: rows are cut by H, columns by W."
_EMPTY = "An element that has nothing to do still passes values on: a fold always takes H and W."
_OTHER_MAP = "Look at the table again: this is another dataflow's rows, columns and length."
