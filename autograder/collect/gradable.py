"""Finds out which file of a hand-in is which notebook of the lab, whatever it is called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import nbformat

from autograder.collect.notebook import BrokenNotebook, ReadCell, read_cells
from autograder.collect.recognise import recognise
from autograder.collect.records import MB, Bounds, Notes, RemarkKind, shown
from autograder.collect.released import Released, plain
from autograder.collect.repair import repair, solution_texts
from autograder.collect.words import squashed, usual
from autograder.collect.zips import NOTEBOOK, Member, Wanted
from autograder.remark import Remark

FAMILIAR = 0.2  # of a notebook's cells must be there, or it is another notebook
BIG = 10 * MB

SENTENCES = {
    RemarkKind.MISSING_NOTEBOOK: "Missing: {things}.",
    RemarkKind.EXTRA_NOTEBOOK: "Not a notebook of this lab, and left out: {things}.",
    RemarkKind.RENAMED_FILE: "Had another name: {things}.",
    RemarkKind.DUPLICATED_FILE: "There was more than one: {things} counts.",
    RemarkKind.BROKEN_NOTEBOOK: "Cannot be graded: {things}.",
    RemarkKind.OUTPUTS_DROPPED: "Very big; graded without its outputs: {things}.",
}


@dataclass(frozen=True)
class _Found:
    """A notebook that was handed in, and which one of the lab it is."""

    member: Member
    cells: tuple[ReadCell, ...] = ()
    broken: str = ""
    """Why it cannot be read."""


def gradable(
    members: Sequence[Member], release: Mapping[str, Released], limits: Bounds, wanted: Wanted
) -> tuple[dict[str, bytes], tuple[Remark, ...]]:
    """The files to grade, by name: mended notebooks and files, under their right names."""
    notes = Notes()
    candidates: defaultdict[str, list[_Found]] = defaultdict(list)
    for member in members:
        if member.wanted == NOTEBOOK:
            found = _read(member, limits)
            if name := _which(found, release):
                candidates[name].append(found)
            else:
                why = f" (it {found.broken})" if found.broken else ""
                notes.add(RemarkKind.EXTRA_NOTEBOOK, f"{shown(member.path)}{why}")
    files: dict[str, bytes] = {}
    remarks: list[Remark] = []
    for name, released in release.items():
        best = _best(name, candidates[name], released, notes)
        if best is None:
            continue
        notebook, mended = repair(best.cells, released)
        text = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
        files[f"{name}.ipynb"] = f"{text}\n".encode()
        remarks += mended
    files |= _files(members, wanted, notes)
    return files, (*notes.remarks(SENTENCES), *remarks)


def _read(member: Member, limits: Bounds) -> _Found:
    try:
        return _Found(member, tuple(read_cells(member.data, limits)))
    except BrokenNotebook as error:
        return _Found(member, broken=str(error))


def _which(found: _Found, release: Mapping[str, Released]) -> str | None:
    """The notebook of the lab that this is: by what is in it, otherwise by its name."""
    if found.cells:
        familiar = {name: _familiarity(found.cells, released) for name, released in release.items()}
        best = max(familiar, key=lambda name: familiar[name])
        if familiar[best] >= FAMILIAR:
            return best
    stem = squashed(usual(found.member.stem))[:100]
    close = {name: SequenceMatcher(None, stem, squashed(name)).ratio() for name in release}
    best = max(close, key=lambda name: close[name])
    return best if close[best] >= 0.8 and list(close.values()).count(close[best]) == 1 else None


def _familiarity(cells: Sequence[ReadCell], released: Released) -> float:
    """How many of the released cells are there, by ``grade_id`` or by text: from 0 to 1."""
    ids = {cell.grade_id for cell in cells}
    texts = {plain(cell.source) for cell in cells}
    there = sum(
        released.marked.get(at) in ids if at in released.marked else text in texts
        for at, text in enumerate(released.texts)
    )
    return there / max(len(released.cells), 1)


def _best(name: str, candidates: list[_Found], released: Released, notes: Notes) -> _Found | None:
    """The one to grade: where most was done; then by its right name, then the newest."""
    readable = [found for found in candidates if found.cells]
    for found in candidates:
        if found.broken:
            notes.add(RemarkKind.BROKEN_NOTEBOOK, f"{shown(found.member.path)} {found.broken}")
    if not readable:
        if not candidates:
            notes.add(RemarkKind.MISSING_NOTEBOOK, name)
        return None

    def worth(found: _Found) -> tuple[int, bool, tuple[int, ...], int, str]:
        done = solution_texts(found.cells, recognise(found.cells, released), released)
        member = found.member
        return done, member.stem == name, member.saved, -member.path.count("/"), member.path

    best = max(readable, key=worth) if len(readable) > 1 else readable[0]
    if len(readable) > 1:
        notes.add(RemarkKind.DUPLICATED_FILE, shown(best.member.path))
    if best.member.stem != name:
        notes.add(RemarkKind.RENAMED_FILE, f"{name} (was {shown(best.member.path)})")
    if len(best.member.data) > BIG:
        notes.add(RemarkKind.OUTPUTS_DROPPED, name)
    return best


def _files(members: Sequence[Member], wanted: Wanted, notes: Notes) -> dict[str, bytes]:
    """The files that the lab asks for; of several, the one with the right name or the newest."""
    files = {}
    for name in wanted.files:
        group = [member for member in members if member.wanted == name]
        if group:
            best = _best_file(group, name)
            _tell(best, group, name, notes)
            files[name] = best.data
    return files


def _best_file(group: Sequence[Member], name: str) -> Member:
    """Of several files, the one with the right name or the newest."""
    exact = [member for member in group if member.name == name] or group
    return max(exact, key=lambda member: (member.saved, -member.path.count("/"), member.path))


def _tell(best: Member, group: Sequence[Member], name: str, notes: Notes) -> None:
    if len({member.data for member in group}) > 1:
        notes.add(RemarkKind.DUPLICATED_FILE, shown(best.path))
    if best.name != name:
        notes.add(RemarkKind.RENAMED_FILE, f"{name} (was {shown(best.path)})")
