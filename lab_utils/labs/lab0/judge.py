"""What is right in the tasks of Lab 0, and what a wrong answer was probably thinking."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Case, Finding

COLUMNS = ("tensor", "bytes")


def judge_bytes(case: Case, answer: float) -> list[Finding]:
    """Task 1.1: the bytes, as numpy counts them."""
    nbytes = case.wanted["nbytes"]
    if answer == nbytes:
        return []
    look = _misconception(case.given["shape"], case.given["dtype"], nbytes, answer)
    return [Finding(f"{answer:,} bytes", f"{nbytes:,} bytes", look)]


def _misconception(shape: Sequence[int], dtype: str, nbytes: int, answer: float) -> str:
    """What gives ``answer`` in place of ``nbytes``, in words."""
    elements = prod(shape)
    if elements and answer == 8 * nbytes:
        return "These are bits: eight of them are one byte."
    if not shape:
        return "The shape () has no dimension, and one element: a product of no factors is 1."
    if not elements:
        return "A dimension has length 0, so there is no element, and no byte."
    if dtype == "bool" and answer < nbytes:
        return "A bool takes a whole byte: nothing smaller has an address."
    if answer == elements:
        return f"This is the number of elements: each takes {nbytes // elements} bytes."
    if answer == sum(shape) * nbytes / elements:
        return "You add the lengths of the dimensions: multiply them."
    if answer % elements == 0:
        each = f"{answer / elements:,g} bytes for each element"
        return f"You count {each}: the number in the name of a dtype is its bits."
    return "The number of elements, times the bytes of one."


def judge_table(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.2: one row for each tensor, in any order; other columns do no harm."""
    file, text = answer["file"], answer["text"]
    if text is None:
        look = "Run the cell that writes it."
        return [Finding(f"there is no file {file}", f"{file} beside the notebook", look)]
    first = text.partition("\n")[0]
    if not set(COLUMNS) <= set(_cells(first)):
        look = "The first line names the columns, with a comma between them."
        return [Finding(f"{file} begins with {first!r}", repr(",".join(COLUMNS)), look)]
    table, wanted = rows(text), case.wanted["rows"]
    return [
        *(_needless(name) for name in table if name not in wanted),
        *(f for name, right in wanted.items() for f in _row(name, table.get(name), *right)),
    ]


def rows(text: str) -> dict[str, str]:
    """What a table says about each tensor, as text."""
    lines = [_cells(line) for line in text.splitlines() if line.strip()]
    name, nbytes = (lines[0].index(column) for column in COLUMNS)
    return {cells[name]: cells[nbytes] for cells in lines[1:] if len(cells) > max(name, nbytes)}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True), [])]


def _needless(name: str) -> Finding:
    look = "One row for each array of tiny_model(), and no other."
    if name == COLUMNS[0]:
        look = 'Does the file grow each time you run the cell? Open it to write ("w").'
    return Finding(f"a row for {name!r}", "none", look)


def _row(name: str, told: str | None, elements: int, nbytes: int) -> list[Finding]:
    if told is None:
        return [Finding(f"no row for {name}", "one", "One row for each array of tiny_model().")]
    try:
        mine = float(told)
    except ValueError:
        look = "Digits alone: no unit behind them, no comma between thousands."
    else:
        if mine == nbytes:
            return []
        look = _unit(mine, elements, nbytes)
    return [Finding(f"{name}: {told}", f"{name}: {nbytes}", look)]


def _unit(mine: float, elements: int, nbytes: int) -> str:
    if mine == elements:
        return "size is the number of elements; nbytes is the number of bytes."
    if mine == 8 * nbytes:
        return "These are bits: eight of them are one byte."
    if mine in (nbytes / 1000, nbytes / 1024):
        return "In bytes, not in thousands of them."
    return "The array's own nbytes is wanted."


JUDGE = {"1.1": judged_in_parts(judge_bytes), "1.2": judge_table}
