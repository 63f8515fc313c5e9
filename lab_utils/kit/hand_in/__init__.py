"""Packs a lab for hand-in: looks at it, writes one zip with the right name, opens it again."""

from __future__ import annotations

import sys
from pathlib import Path

from lab_utils.kit.course import Assignment, Course, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in.archive import PackError, contents, write_zip
from lab_utils.kit.hand_in.inspection import inspect
from lab_utils.kit.hand_in.owner import Owner, remember, remembered, tidy
from lab_utils.kit.hand_in.report import Report
from lab_utils.kit.lab import handed_in
from lab_utils.kit.machine.terminal import typed
from lab_utils.kit.root import ROOT
from lab_utils.kit.upgrade import release_name

__all__ = [
    "Owner",
    "PackError",
    "Report",
    "ask_owner",
    "chosen_lab",
    "contents",
    "pack",
    "pack_widget",
]


def chosen_lab(course: Course, lab_id: str | None, folder: Path) -> Assignment:
    """The lab that is asked for; otherwise the one of ``folder``, or the only one.

    Raises:
        LabError: it is not clear which.
    """
    if lab_id is None and folder.name in course.labs:
        lab_id = folder.name
    if lab_id is None and len(course.labs) == 1:
        (lab_id,) = course.labs
    if lab_id is None:
        which = typed(f"pack {' | '.join(course.labs)}")
        raise PackError(f"say which lab ({which}), or run this in the lab's folder")
    return course.lab(lab_id)


def work_folder(lab: Assignment, here: Path) -> Path:
    """Where the notebooks of the lab lie: here, or in the release to which this code belongs.

    Raises:
        PackError: there are none.
    """
    for folder in (here, ROOT / "notebooks" / lab.id):
        if any((folder / f"{notebook.name}.ipynb").is_file() for notebook in lab.notebooks):
            return folder
    raise PackError(
        f"there is no notebook of {lab.label} in {here}: change to the folder in which yours lie, "
        "and pack there"
    )


def ask_owner() -> Owner:
    """The name that is remembered, or what the student types.

    Raises:
        PackError: there is nobody to ask.
    """
    if known := remembered():
        return known
    if not sys.stdin.isatty():
        raise PackError("whose is it? Add --first ADA --last LOVELACE")
    print("Your name as it stands in the course's list (asked only once):")
    try:
        return Owner(_typed("  first name: "), _typed("  last name:  "))
    except EOFError:
        raise PackError("no name, no zip: pack again, and type it") from None


def _typed(question: str) -> str:
    """What the student types; asked again until it is a name."""
    while not (name := tidy(input(question))):
        print("  please type it as it stands in the course's list (Ctrl-C ends)")
    return name


def pack(
    lab: Assignment,
    folder: Path,
    owner: Owner,
    report: Report,
    *,
    course: Course | None = None,
    anyway: bool = False,
) -> Path:
    """Write the zip into ``folder``, and read it back; returns where it lies.

    Raises:
        PackError: the report has a FAIL and it is not packed ``anyway``; or there is nothing
            to pack, or no room.
    """
    if not report.ready and not anyway:
        raise PackError(
            "not packed, since something above says FAIL. Mend it and pack again; if you must "
            f"hand in as it is: the button Pack as it is, or {typed('pack --anyway')}"
        )
    wanted = [
        *(f"{notebook.name}.ipynb" for notebook in lab.notebooks),
        *(file.name for file in handed_in(lab.id)),
    ]
    found = {name: (folder / name).read_bytes() for name in wanted if (folder / name).is_file()}
    if not found:
        raise PackError(f"there is nothing of {lab.label} in {folder}")
    name = (course or read_course()).zip_file_name(lab.id, first=owner.first, last=owner.last)
    write_zip(folder / name, found, release_name(ROOT))
    remember(owner)
    return folder / name


def pack_widget(lab_id: str | None = None) -> None:
    """Show the packer in a notebook: name, a button, the report, the zip."""
    from lab_utils.kit.hand_in.widget import show

    here = Path.cwd()
    try:
        lab = chosen_lab(read_course(), lab_id, here)
        folder = work_folder(lab, here)
    except LabError as error:  # as in a grading sandbox, where nothing is to be packed
        print(f"Nothing can be packed here: {error}")
        return
    show(lab, folder)
