"""Which remarks a student may read: those of kinds on a list. All others are for instructors.

On the list are kinds whose sentences are ours, and tell students what became of their own work.
Whether somebody has tampered with the grader, or somebody else's files are in question, is told
in ``grades.csv`` and in the report alone, and so is any kind that nobody has thought of here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder.collect.records import RemarkKind
from autograder.grading.grader import MISSING
from autograder.grading.sandbox.host.job import Trouble
from autograder.remark import Remark

NOTHING = "nothing handed in"
UNGRADED = "not graded"
OWN_DATE = "a date of its own"
PERHAPS = "perhaps theirs"
OVERRIDDEN = "overridden"

FOR_STUDENTS: frozenset[str] = frozenset(
    {
        *(NOTHING, MISSING, "files", "markup"),
        # the file that was handed in
        *(RemarkKind.NOT_A_ZIP, RemarkKind.TRUNCATED, RemarkKind.ENCRYPTED, RemarkKind.UNREADABLE),
        *(RemarkKind.TOO_BIG, RemarkKind.NESTED_ZIP, RemarkKind.EXTRA_FILES),
        *(RemarkKind.NOTHING_TO_GRADE, RemarkKind.SEVERAL_UPLOADS),
        # its notebooks and files
        *(RemarkKind.MISSING_NOTEBOOK, RemarkKind.EXTRA_NOTEBOOK, RemarkKind.RENAMED_FILE),
        *(RemarkKind.DUPLICATED_FILE, RemarkKind.BROKEN_NOTEBOOK, RemarkKind.OUTPUTS_DROPPED),
        RemarkKind.NOT_FILLED_IN,
        # their cells
        *(RemarkKind.DUPLICATED_CELL, RemarkKind.MISSING_LOCKED, RemarkKind.MISSING_SOLUTION),
        *(RemarkKind.RECOGNISED, RemarkKind.RETYPED, RemarkKind.MOVED, RemarkKind.OTHER_RELEASE),
        # how they ran
        *(Trouble.INTERRUPTED, Trouble.KILLED, Trouble.TIME, Trouble.MEMORY, Trouble.PROCESSES),
        *(Trouble.DISK, Trouble.ENDED, Trouble.OUTPUT),
    }
)
SUSPICIOUS: frozenset[str] = frozenset(
    {
        *(Trouble.TAMPERED, Trouble.SPOILED, "forged"),
        *(RemarkKind.ZIP_BOMB, RemarkKind.UNSAFE_PATH, RemarkKind.NOT_A_FILE),
        *(RemarkKind.CHANGED_LOCKED, RemarkKind.CHANGED_MARKS),
    }
)
"""Kinds that may be signs of tampering; none of them is for students."""
_NOT_JUDGED = "an answer could not be judged; ask those who grade"
IN_OTHER_WORDS: dict[str, str] = {
    UNGRADED: "Not graded yet.",
    PERHAPS: "Not graded yet.",
    "undecided": _NOT_JUDGED,
    Trouble.SPOILED: _NOT_JUDGED,
    Trouble.SANDBOX: _NOT_JUDGED,
}
"""What students read of kinds that explain a finding, but are not theirs to read as they are."""


def for_students(remarks: Iterable[Remark]) -> tuple[str, ...]:
    """What a student may read of these."""
    told = []
    for remark in remarks:
        if remark.kind in FOR_STUDENTS:
            told.append(str(remark))
        elif words := IN_OTHER_WORDS.get(remark.kind):
            told.append(str(replace(remark, text=words)))
    return tuple(dict.fromkeys(told))
