"""Tasks 2.5 and 2.6: what smaller numbers gain, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab1b.judge.fusion import same

_LARGEST = 127


def judge_gemm_times(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.5: compute and memory time of a product."""
    findings = []
    if all(map(same, answer[::-1], case.wanted["seconds"])):
        look = "They are turned round: first the time to compute, then the time to fetch."
        return [Finding("memory, compute", "compute, memory", look)]
    parts = zip(("compute", "memory"), answer, case.wanted["seconds"], strict=True)
    for place, (name, mine, right) in enumerate(parts):
        if not same(mine, right):
            look = (_compute_wrong, _memory_wrong)[place](case, mine, right)
            findings.append(Finding(f"{name}: {mine:.6g} s", f"{name}: {right:.6g} s", look))
    return findings


def _compute_wrong(case: Case, mine: float, right: float) -> str:
    given = case.given
    rates = given["rates"]
    if same(2 * mine, right):
        return "A multiplication and an addition for each of M·N·K: two operations."
    if given["stored"] in rates and same(mine * rates[given["stored"]], _ops(given)):
        return (
            "You take the rate of the type that is stored: the arithmetic runs at the rate of "
            "the type that is computed with."
        )
    if any(same(mine * rate, _ops(given)) for rate in rates.values()):
        return "This is the rate of another type: take the one that is computed with."
    return "Two operations for each of M·N·K, divided by the rate of the type computed with."


def _ops(given: Mapping[str, Any]) -> float:
    m, n, k = given["shape"]
    return 2.0 * m * n * k


def _memory_wrong(case: Case, mine: float, right: float) -> str:
    each = case.wanted["bytes"]
    mine_each = mine / right * each[case.given["stored"]]
    if same(mine_each, 1):
        return "These are elements, not bytes, or one byte for each: how large is the type?"
    if same(mine_each, 8 * each[case.given["stored"]]):
        return "The number in the name of a type counts bits: eight are one byte."
    # Not every type that is computed with can be stored: each has no size for tf32.
    if same(mine_each, each.get(case.given["computed"], 0)):
        return (
            "You count the bytes of the type that is computed with: what crosses the wires is "
            "the type that is stored."
        )
    return "A, B and C cross once each, every element with the bytes of the type stored."


def judge_quantize(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.6: the nearest of 255 steps, with a scale for each row."""
    weight, scales = case.given["weight"], case.wanted["scales"]
    rows, columns = len(weight), len(weight[0])
    if wrong := _form_wrong(answer, rows, columns):
        return [wrong]
    q = [answer["numbers"][row * columns : (row + 1) * columns] for row in range(rows)]
    return _scales_wrong(weight, scales, answer["scale_numbers"]) or _numbers_wrong(
        weight, answer["scale_numbers"], q
    )


def _form_wrong(answer: Mapping[str, Any], rows: int, columns: int) -> Finding | None:
    wanted = f"{rows} x {columns} whole numbers, and {rows} scales"
    if answer["numbers"] is None or answer["scale_numbers"] is None:
        look = "Something is divided by 0: a row of zeros has no largest number. Give it scale 1."
        return Finding("numbers that are none (nan or infinite)", wanted, look)
    if answer["shape"] != [rows, columns]:
        look = "There is one whole number for each weight, in its place."
        return Finding(f"whole numbers of shape {tuple(answer['shape'])}", wanted, look)
    many = len(answer["scale_numbers"])
    if many != rows:
        look = "One scale for each row (each output), not for each column and not for all."
        return Finding(f"{many} scales for {rows} rows", wanted, look)
    told = answer["numbers"]
    if any(number != round(number) for number in told):
        look = "Round to whole numbers: only these fit into a byte."
        return Finding("numbers with a fraction", wanted, look)
    if answer["kind"] and not answer["kind"].startswith("int"):
        look = "Weights of either sign need a type with a sign, and numbers of a byte: int8."
        return Finding(f"an array of {answer['kind']}", wanted, look)
    if max(map(abs, told)) > _LARGEST:
        look = "From -127 to 127, as far to the left as to the right: 128 does not fit into int8."
        return Finding(f"there is {max(told, key=abs):g}", wanted, look)
    return None


def _scales_wrong(
    weight: Sequence[Sequence[float]], scales: Sequence[float], mine: Sequence[float]
) -> list[Finding]:
    for row, (yours, right) in enumerate(zip(mine, scales, strict=True)):
        if abs(yours - right) <= 1e-4 * right or (not any(weight[row]) and yours > 0):
            continue
        told = (f"row {row} has scale {yours:.6g}", f"{right:.6g}")
        if yours <= 0:
            look = "A scale is above 0: take the largest magnitude, not the largest number."
            if not any(weight[row]):
                look = "A row of zeros has no largest number: give it scale 1."
        elif len(set(mine)) == 1 and len(mine) > 1:
            look = (
                "All rows have one scale: the row with the largest weight decides, and small "
                "rows are rounded to nothing."
            )
        elif same(yours * _LARGEST, max(weight[row])) and -min(weight[row]) > max(weight[row]):
            look = "The largest magnitude may belong to a negative weight."
        elif any(
            abs(yours * steps - right * _LARGEST) <= 1e-4 * right for steps in (128, 255, 256)
        ):
            look = "The largest magnitude becomes 127, so that 255 steps lie around 0."
        else:
            look = "The scale of a row is its largest magnitude divided by 127."
        return [Finding(*told, look)]
    return []


def _numbers_wrong(
    weight: Sequence[Sequence[float]], scales: Sequence[float], q: Sequence[Sequence[float]]
) -> list[Finding]:
    for row, (values, scale) in enumerate(zip(weight, scales, strict=True)):
        for column, value in enumerate(values):
            mine = q[row][column]
            error = abs(value - scale * mine)
            if error <= scale / 2 * (1 + 1e-3):
                continue
            look = "Take the nearest whole number of weight / scale."
            if error < scale:
                look = "This cuts the fraction off: take the nearest whole number (np.round)."
            elif value * mine < 0:
                look = "Its sign is turned: a number beyond 127 starts again at -128 in int8."
            place = f"row {row}, column {column}"
            return [Finding(f"{place}: {mine:g}", f"{value / scale:.3f} to the nearest", look)]
    return []
