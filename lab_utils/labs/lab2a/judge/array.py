"""Tasks 1.1 to 1.5: an array without memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, isclose
from typing import Any

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.kit.task import Case, Finding


def same(mine: float, wanted: float) -> bool:
    """Equal but for rounding."""
    return isclose(mine, wanted, rel_tol=1e-9, abs_tol=1e-12)


def named(mine: float, mistakes: Iterable[tuple[float, str]], otherwise: str) -> str:
    """What was misunderstood by whoever answers ``mine``: the first mistake that answers so."""
    return next((look for value, look in mistakes if same(mine, value)), otherwise)


def judge_gemm(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 1.1: M, N, K of a convolution."""
    wanted = case.wanted["gemm"]
    if list(answer) == wanted:
        return []
    return [Finding(_triple(answer), _triple(wanted), _gemm_wrong(case.given, answer, wanted))]


def _gemm_wrong(given: Mapping[str, Any], answer: Sequence[float], wanted: Sequence[int]) -> str:
    conv = Conv(*given["conv"])
    if sorted(answer) == sorted(wanted):
        return "The three numbers are right, in another order: M, then N, then K."
    m, n, k = answer
    if k != wanted[2]:
        if k == conv.filter_height * conv.filter_width:
            return "One output needs a window of every channel: K counts the channels too."
        return "K is how many products one output sums up: a window, with all its channels."
    if n != wanted[1]:
        return "N is how many outputs each window makes: one for each filter."
    high, wide = conv.height - conv.filter_height, conv.width - conv.filter_width
    return named(
        m,
        (
            (
                conv.height * conv.width,
                "There is no padding: a window that hangs over the edge does not count.",
            ),
            ((high + 1) * (wide + 1), "The window moves on by the stride: count its positions."),
            (
                (ceil(high / conv.stride) + 1) * (ceil(wide / conv.stride) + 1),
                "The last window would hang over the edge: round down, as PyTorch does.",
            ),
            (
                (high // conv.stride) * (wide // conv.stride),
                "The first position counts as well: one more than the steps between them.",
            ),
            (wanted[0] * wanted[1], "M counts positions of the window; the filters are N."),
        ),
        "M is how many positions the window has: down times across.",
    )


def judge_mapped(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 1.2: which of M, N, K goes where."""
    wanted = case.wanted["mapped"]
    if list(answer) == wanted:
        return []
    dataflow = case.given["dataflow"]
    mine = list(answer)
    if mine[2] != wanted[2] and sorted(mine) == sorted(wanted):
        look = {
            "os": "Sums stay in their PEs, and each gets one product a step: K goes by in time.",
            "ws": "Weights stay, and a row of inputs goes by in each step: M goes by in time.",
            "is": "Inputs stay, and a column of weights goes by in each step: N goes by in time.",
        }[dataflow]
    elif sorted(mine) == sorted(wanted):
        look = {
            "os": "Row i of the array makes row i of the result: M along the rows, N the columns.",
            "ws": "Sums move down a column, so what is summed lies along the rows: K, then N.",
            "is": "Sums move down a column, so what is summed lies along the rows: K, then M.",
        }[dataflow]
    else:
        look = "Each of M, N and K has one place: along the rows, along the columns, in time."
    return [Finding(_places(mine), _places(wanted), look)]


def judge_fold(case: Case, answer: float) -> list[Finding]:
    """Task 1.3: cycles of one fold."""
    wanted = case.wanted["cycles"]
    if answer == wanted:
        return []
    h, w, t = (case.given[name] for name in ("height", "width", "steps"))
    stays = case.given["dataflow"] != "os"
    loads = "What stays must be loaded first, one row a cycle, before anything can move."
    mistakes: list[tuple[float, str]] = [
        (t, "The array is not full at once: the last PE starts many cycles after the first."),
        (h + t, "A step also has to cross the columns, one a cycle."),
        (w + t, "A step also has to cross the rows, one a cycle."),
    ]
    if stays:
        mistakes = [
            (h + w + t - 2, loads),
            (2 * w + h + t - 2, "It is loaded row by row: as many cycles as the array has rows."),
            *((h + w + t - 2 + d, loads) for d in (1, 2)),
            *mistakes,
        ]
    else:
        mistakes = [
            (2 * h + w + t - 2, "Nothing is loaded beforehand here: both operands just move."),
            *mistakes,
        ]
    near = [
        (wanted + 1, "One too many: in its first cycle the first PE works already."),
        (wanted - 1, "One too few: the cycle of the last PE's last step counts."),
        (wanted + 2, "The first row and the first column wait for nobody: H - 1 and W - 1."),
    ]
    look = named(answer, [*near, *mistakes], "Follow the last step to the last PE, in the film.")
    return [Finding(f"{answer:,} cycles", f"{wanted:,} cycles", look)]


def judge_cycles(case: Case, answer: float) -> list[Finding]:
    """Task 1.4: what SCALE-Sim reports for all folds."""
    wanted = case.wanted["cycles"]
    if answer == wanted:
        return []
    (rows, columns), (height, width) = case.given["mapped"], case.given["array"]
    fold = case.given["fold"]
    down, across = rows // height, columns // width
    mistakes = []
    for less in (1, 0):
        mistakes += [
            (down * across * fold - less, "What is left over needs a fold too: round up."),
            (
                ceil(rows * columns / (height * width)) * fold - less,
                "A fold is a rectangle: round up along the rows and along the columns, each alone.",
            ),
            (
                ceil(rows / width) * ceil(columns / height) * fold - less,
                "Rows are cut by the height of the array, columns by its width.",
            ),
            (
                (ceil(rows / height) + ceil(columns / width)) * fold - less,
                "Every part of the rows meets every part of the columns: multiply.",
            ),
            (
                fold - less,
                "More than one fold is needed where the product is larger than the array.",
            ),
        ]
    mistakes.insert(
        0, (wanted + 1, "SCALE-Sim counts cycles from 0 and reports the number of the last one.")
    )
    folds = ceil(rows / height) * ceil(columns / width)
    mistakes += [
        (folds * (fold - 1), "Cycles are numbered over all folds in a row: one less in all."),
        *(
            (
                (down + 1) * (across + 1) * fold - less,
                "Where nothing is left over there is no fold for it: round up, do not add one.",
            )
            for less in (1, 0)
        ),
    ]
    look = named(answer, mistakes, "How many folds are there, and how long is each?")
    return [Finding(f"{answer:,} cycles", f"{wanted:,} cycles", look)]


def judge_efficiency(case: Case, answer: float) -> list[Finding]:
    """Task 1.5: per cent of PEs that have work, over all folds."""
    wanted = case.wanted["percent"]
    if same(answer, wanted):
        return []
    (rows, columns), (height, width) = case.given["mapped"], case.given["array"]
    pes = height * width
    look = named(
        answer,
        (
            (wanted / 100, "This is a fraction: per cent are wanted, so 100 is everything."),
            (100.0, "The last folds leave some PEs without work."),
            (
                100 * rows * columns / (ceil(rows * columns / pes) * pes),
                "Rows and columns are rounded up each alone: a fold is a rectangle.",
            ),
            (
                100 * (rows % height or height) * (columns % width or width) / pes,
                "This is the last fold alone: the mean over all folds is wanted.",
            ),
            (
                100 * min(rows, height) * min(columns, width) / pes,
                "This is the first fold alone: the mean over all folds is wanted.",
            ),
            (
                100 * rows * columns / (max(1, rows // height) * max(1, columns // width) * pes),
                "What is left over needs a fold too: round up.",
            ),
            (
                100
                * rows
                * columns
                / (ceil(rows / width) * width * ceil(columns / height) * height),
                "Rows are cut by the height of the array, columns by its width.",
            ),
        ),
        "Used places in all folds, as a share of all places in all folds.",
    )
    return [Finding(f"{answer:g} per cent", f"{wanted:g} per cent", look)]


def _triple(numbers: Sequence[float]) -> str:
    return ", ".join(f"{name} = {one:,}" for name, one in zip("MNK", numbers, strict=True))


def _places(numbers: Sequence[float]) -> str:
    rows, columns, steps = numbers
    return f"{rows:,} along the rows, {columns:,} along the columns, {steps:,} steps"
