"""Packs a lab for hand-in: looks at it, writes one zip with the right name, opens it again."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

from lab_utils.course import ROOT, Course, Lab, read_course
from lab_utils.errors import LabError
from lab_utils.hand_in.inspection import inspect
from lab_utils.hand_in.owner import Owner, owner_called, remember, remembered
from lab_utils.hand_in.report import Report

__all__ = ["Owner", "PackError", "Report", "ask_owner", "chosen_lab", "pack", "pack_widget"]


class PackError(LabError):
    """It cannot be packed; the message says why, and what to do."""


def chosen_lab(course: Course, lab_id: str | None, folder: Path) -> Lab:
    """The lab that is asked for; otherwise the one of ``folder``, or the only one.

    Raises:
        LabError: it is not clear which.
    """
    if lab_id is None and folder.name in course.labs:
        lab_id = folder.name
    if lab_id is None and len(course.labs) == 1:
        (lab_id,) = course.labs
    if lab_id is None:
        raise PackError(f"say which lab: python -m lab_utils pack {' | '.join(course.labs)}")
    return course.lab(lab_id)


def work_folder(lab: Lab, here: Path) -> Path:
    """Where the notebooks of the lab lie: here, or in the release to which this code belongs."""
    if any((here / f"{notebook.name}.ipynb").is_file() for notebook in lab.notebooks):
        return here
    return ROOT / "notebooks" / lab.id


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
    return owner_called(input("  first name: "), input("  last name:  "))


def pack(
    lab: Lab,
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
            "hand in as it is: python -m lab_utils pack --anyway"
        )
    wanted = [*(f"{notebook.name}.ipynb" for notebook in lab.notebooks), *lab.files]
    contents = {name: (folder / name).read_bytes() for name in wanted if (folder / name).is_file()}
    if not contents:
        raise PackError(f"there is nothing of {lab.label} in {folder}")
    remember(owner)
    name = (course or read_course()).zip_file_name(lab.id, first=owner.first, last=owner.last)
    target = folder / name
    unfinished = target.with_suffix(".partial")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in contents.items():
                archive.writestr(member, content)
        _verify(unfinished, contents)
        unfinished.replace(target)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise PackError(f"cannot write {target}: {error.strerror}") from None
    return target


def _verify(path: Path, wanted: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    if found != wanted:
        raise PackError(f"{path} does not hold what was packed: the disk may be full")


def contents(path: Path) -> str:
    """What is in the zip, one line for each file."""
    with zipfile.ZipFile(path) as archive:
        return "\n".join(
            f"  {info.filename:28} {info.file_size:>9,} bytes" for info in archive.infolist()
        )


def pack_widget(lab_id: str | None = None) -> None:
    """Show the packer in a notebook: name, a button, the report, the zip."""
    from lab_utils.hand_in.widget import show

    here = Path.cwd()
    try:
        lab = chosen_lab(read_course(), lab_id, here)
    except LabError as error:  # as in a grading sandbox, where nothing is to be packed
        print(f"Nothing can be packed here: {error}")
        return
    show(lab, work_folder(lab, here))
