"""Old points against new ones: what a run has changed for whom, as after a change of tests."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.classroom.sheet import Score, Sheet
from autograder.grading.verdict import write_private

TESTS, UPLOAD, HAND, LATE = "other tests", "another upload", "by hand", "lateness"


@dataclass(frozen=True)
class PointsChange:
    """A student whose points for a task, or in all (``label`` is ``total``), are others now."""

    student: str
    name: str
    label: str
    old: float
    """NaN: it was not graded, or waited for a person."""
    new: float
    why: str
    """``other tests``, ``another upload``, ``by hand``, ``lateness``, several of them, or empty."""


def changes_since(path: Path, sheets: Sequence[Sheet]) -> list[PointsChange]:
    """What has changed since ``path`` was written; nothing if it is not there.

    Of who is still to be graded nothing is told.
    """
    before = _read(path)
    try:
        return [
            change
            for sheet in sheets
            if not sheet.is_pending and (old := before.get(sheet.student))
            for change in _changes(old, sheet)
        ]
    except (KeyError, TypeError):
        return []


def keep(path: Path, sheets: Sequence[Sheet]) -> None:
    """Write down what the next run compares with; of who is still to be graded, what it did."""
    before = _read(path)
    kept = {
        sheet.student: before.get(sheet.student) if sheet.is_pending else _kept(sheet)
        for sheet in sheets
    }
    known = {student: entry for student, entry in kept.items() if entry}
    write_private(path, json.dumps(known, indent=1))


def _read(path: Path) -> dict[str, Any]:
    """What was kept, by student; nothing if there is nothing."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _kept(sheet: Sheet) -> dict[str, Any]:
    return {
        "rules": sheet.rules,
        "total": _known(sheet.points),
        "penalty": sheet.penalty,
        "upload": sheet.handed_in,
        "scores": {_key(score): [_points(score), score.by_hand] for score in sheet.scores},
    }


def _changes(old: dict[str, Any], sheet: Sheet) -> Iterator[PointsChange]:
    upload = UPLOAD if old["upload"] != sheet.handed_in else ""
    reasons: dict[str, None] = {}
    for score in sheet.scores:
        before, was_by_hand = old["scores"].get(_key(score), (None, False))
        if before == _points(score):
            continue
        tests = TESTS if old["rules"] != sheet.rules and not score.by_hand else ""
        hand = HAND if score.by_hand or was_by_hand else ""
        why = upload or hand or tests
        reasons[why] = None
        task = sheet.task(score)
        label = task.id if task else score.grade_id
        yield PointsChange(
            sheet.student, sheet.name, label, _number(before), _number(_points(score)), why
        )
    if old["penalty"] != sheet.penalty:
        reasons[LATE] = None
    if old["total"] != _known(sheet.points):
        why = ", ".join(filter(None, reasons))
        total = _number(old["total"])
        yield PointsChange(sheet.student, sheet.name, "total", total, sheet.points, why)


def _key(score: Score) -> str:
    return f"{score.notebook}/{score.grade_id}"


def _points(score: Score) -> float | None:
    return None if score.waiting else _known(score.points)


def _known(points: float) -> float | None:
    return None if math.isnan(points) else round(points, 4)


def _number(points: float | None) -> float:
    return math.nan if points is None else points
