"""Mends a notebook: afterwards it has every cell that nbgrader knows, once and as released.

Students' own cells stay where they are and as they are, without metadata: a tag could keep a
cell from being run. Tests and other locked cells get the released text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.collect.notebook import ReadCell
from autograder.collect.recognise import Recognised, recognise
from autograder.collect.records import Notes, RemarkKind
from autograder.collect.released import Released, plain
from autograder.remark import Remark
from lab_utils.kit.upgrade import checksum

NEW_CELLS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}
FLAGS = ("grade", "locked", "solution", "task", "points")

SENTENCES = {
    RemarkKind.DUPLICATED_CELL: (
        "{notebook}: there was more than one cell {things}; of copies of a solution the last "
        "one that was worked on counts, of a test the first."
    ),
    RemarkKind.MISSING_LOCKED: "{notebook}: deleted cells were put back: {things}.",
    RemarkKind.MISSING_SOLUTION: (
        "{notebook}: there is no solution {things}; an empty cell stands in its place, and "
        "everything else is graded."
    ),
    RemarkKind.CHANGED_LOCKED: (
        "{notebook}: cells that nobody may edit had been edited, and are as released again: "
        "{things}."
    ),
    RemarkKind.CHANGED_MARKS: "{notebook}: nbgrader's marks were changed, and set right: {things}.",
    RemarkKind.OTHER_RELEASE: (
        "{notebook}: made from another release; these cells are as released now: {things}."
    ),
    RemarkKind.RECOGNISED: (
        "{notebook}: cells without their grade_id were recognised by text or place: {things}."
    ),
    RemarkKind.RETYPED: "{notebook}: the type of cells was changed, and set right: {things}.",
    RemarkKind.MOVED: "{notebook}: tests stood before what they test, and now run after: {things}.",
    RemarkKind.NOT_FILLED_IN: "{things}: nothing was filled in, it is as it was released.",
}


@dataclass
class _Slot:
    """One cell of the mended notebook: a released one, one that was handed in, or both."""

    at: int | None
    cell: ReadCell | None


def repair(
    cells: Sequence[ReadCell], released: Released
) -> tuple[NotebookNode, tuple[Remark, ...]]:
    """The mended notebook, and what had to be done."""
    notes = Notes()
    found = recognise(cells, released)
    at_of = {number: at for at, number in found.known.items()}
    slots = [
        _Slot(at_of.get(number), cell)
        for number, cell in enumerate(cells)
        if number not in found.spare
    ]
    for at, grade_id in released.marked.items():
        if at in found.known:
            _note_damage(at, cells[found.known[at]], found, released, notes)
        else:
            slots.insert(_place(at, slots, released), _Slot(at, None))
            kind = RemarkKind.MISSING_LOCKED
            if released.is_solution(at):
                kind = RemarkKind.MISSING_SOLUTION
            notes.add(kind, grade_id)
    _put_tests_after_solutions(slots, released, notes)
    if solution_texts(cells, found, released) == 0 and found.known and released.names:
        notes.add(RemarkKind.NOT_FILLED_IN, released.name)
    notebook = nbformat.v4.new_notebook(metadata=deepcopy(released.notebook.metadata))
    notebook.cells = list(_built(slots, released))
    return notebook, notes.remarks(SENTENCES, notebook=released.name)


def solution_texts(cells: Sequence[ReadCell], found: Recognised, released: Released) -> int:
    """How many solutions somebody has worked on."""
    return sum(
        plain(cells[found.known[at]].source) not in ("", released.texts[at])
        for at in released.names
        if at in found.known
    )


def _note_damage(
    at: int, cell: ReadCell, found: Recognised, released: Released, notes: Notes
) -> None:
    wanted = released.cells[at]
    grade_id = released.marked[at]
    marks = wanted.metadata["nbgrader"]
    if at in found.duplicated:
        notes.add(RemarkKind.DUPLICATED_CELL, grade_id)
    if at in found.by_guess:
        notes.add(RemarkKind.RECOGNISED, grade_id)
    elif any(cell.marks.get(flag) != marks.get(flag) for flag in FLAGS):
        other = _is_as_given(cell) and not released.is_solution(at)
        notes.add(RemarkKind.OTHER_RELEASE if other else RemarkKind.CHANGED_MARKS, grade_id)
    if cell.cell_type != wanted.cell_type:
        notes.add(RemarkKind.RETYPED, grade_id)
    if not released.is_solution(at) and plain(cell.source) != released.texts[at]:
        other = _is_as_given(cell)
        notes.add(RemarkKind.OTHER_RELEASE if other else RemarkKind.CHANGED_LOCKED, grade_id)


def _is_as_given(cell: ReadCell) -> bool:
    """Whether a cell is as some release gave it; who changed it may have written so, too."""
    try:
        return cell.marks.get("checksum") == checksum(cell.source, cell.cell_type, cell.marks)
    except (ValueError, TypeError):
        return False


def _place(at: int, slots: list[_Slot], released: Released) -> int:
    """Where a released cell belongs: after those that it follows, before those that follow it.

    As late as that allows, so that a student's own helpers run before a test.
    """
    marked = [other for other in released.marked if other < at]
    needed = {*marked[-1:], *[other for other in marked if released.is_solution(other)][-1:]}
    start = max((n for n, slot in enumerate(slots) if slot.at in needed), default=-1) + 1
    later = (
        n for n, slot in enumerate(slots) if n >= start and slot.at is not None and slot.at > at
    )
    return next(later, len(slots))


def _put_tests_after_solutions(slots: list[_Slot], released: Released, notes: Notes) -> None:
    for at, grade_id in released.marked.items():
        earlier = [other for other in released.names if other < at]
        if at in released.names or not earlier:
            continue
        order = [slot.at for slot in slots]
        if order.index(at) < order.index(earlier[-1]):
            slot = slots.pop(order.index(at))
            slots.insert(_place(at, slots, released), slot)
            notes.add(RemarkKind.MOVED, grade_id)


def _built(slots: list[_Slot], released: Released) -> Iterator[NotebookNode]:
    taken = {cell.id for cell in released.cells}
    number = 0
    for slot in slots:
        if slot.at is not None:
            node = deepcopy(released.cells[slot.at])
            if released.is_solution(slot.at):
                node.source = slot.cell.source if slot.cell else ""
        else:
            assert slot.cell is not None
            number += 1
            while (cell_id := f"own-{number}") in taken:
                number += 1
            node = NEW_CELLS[slot.cell.cell_type](slot.cell.source, id=cell_id)
        if slot.cell and slot.cell.attachments and node.cell_type == "markdown":
            node.attachments = slot.cell.attachments
        yield node
