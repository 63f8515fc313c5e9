"""Which assignments a release holds, and the course file that names no others."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from datetime import datetime

from lab_utils.kit.course import Course
from lab_utils.kit.errors import LabError

_TABLE = re.compile(r"\[labs\.([a-z0-9]+)[.\]]")
_NAMES_LABS = re.compile(r"\s*builds_on\s*=\s*\[.*\]")


def held_labs(course: Course, wanted: Collection[str], today: datetime) -> list[str]:
    """The ids of the assignments that a release holds, in the order of the course.

    Raises:
        LabError: there is no such assignment, or none is open.
    """
    for lab in wanted:
        course.lab(lab)
    held = [
        lab.id
        for lab in course.labs.values()
        if (lab.id in wanted if wanted else lab.open is None or lab.open <= today)
    ]
    if not held:
        first = min(lab.open for lab in course.labs.values() if lab.open)
        raise LabError(f"no assignment is open yet: the first opens {first:%Y-%m-%d %H:%M %z}")
    return held


def homes_of(course: Course) -> set[str]:
    """The assignments whose code the notebooks of a course need: a notebook may be borrowed."""
    return {note.home for lab in course.labs.values() for note in lab.notebooks} | {*course.labs}


def only_labs(course_file: bytes, left_out: Collection[str]) -> bytes:
    """The course file without some assignments, and without a word of them in the others."""
    if not left_out:
        return course_file
    kept: list[str] = []
    is_out = False
    for line in course_file.decode().splitlines():
        if line.startswith("["):
            table = _TABLE.match(line)
            is_out = table is not None and table[1] in left_out
            while is_out and kept and kept[-1].startswith("#"):
                kept.pop()  # what stands above a table is about it
        if is_out:
            continue
        if line.startswith("sample") and tomllib.loads(line)["sample"] in left_out:
            continue
        if _NAMES_LABS.match(line):
            others = [lab for lab in tomllib.loads(line)["builds_on"] if lab not in left_out]
            line = f"builds_on = {others!r}".replace("'", '"') if others else ""
        kept.append(line)
    return ("\n".join(kept).rstrip() + "\n").encode()
