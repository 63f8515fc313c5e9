"""Looks at a lab before it is packed: is it complete, does it run, are the files its own?"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_utils.kit.course import Assignment, Notebook
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import MARK, HandedIn
from lab_utils.kit.hand_in.archive import EARLIER
from lab_utils.kit.hand_in.notebook import Cell, NotebookError, read_cells, unanswered
from lab_utils.kit.hand_in.report import Report, points_in_words
from lab_utils.kit.hand_in.rerun import Progress, rerun
from lab_utils.kit.lab import as_graded, handed_in, noun_of

#: Never taken along when the notebooks are run; nor is what they must make by themselves.
LEFT_OUT = ("*.zip", "my_work.py", ".*", "__pycache__", EARLIER)


def inspect(lab: Assignment, folder: Path, progress: Progress, *, run: bool = True) -> Report:
    """Look at the notebooks and files of ``lab`` in ``folder``; nothing there is changed."""
    report = Report(possible=lab.points, bonus=lab.bonus, noun=noun_of(lab.id))
    complete = {notebook: _is_complete(notebook, folder, report) for notebook in lab.notebooks}
    if run:
        with TemporaryDirectory(prefix="hand-in-", ignore_cleanup_errors=True) as scratch:
            copy = Path(scratch) / lab.id
            _copy(lab, folder, copy, report)
            (copy / MARK).touch()
            for notebook, is_complete in complete.items():
                if is_complete is not None:
                    _rerun(
                        copy / f"{notebook.name}.ipynb",
                        is_complete,
                        report,
                        progress,
                        as_graded(lab.id),
                    )
            report.has_run = True
            _inspect_files(lab, folder, copy, report)
    else:
        _inspect_files(lab, folder, None, report)
    return report


def _copy(lab: Assignment, folder: Path, copy: Path, report: Report) -> None:
    """Copy what lies beside the notebooks as well; they may read it."""
    made = [file.name for file in handed_in(lab.id) if not file.measured]
    ignored = shutil.ignore_patterns(*LEFT_OUT, *made)
    try:
        # Links stay links: one may lead to a whole home folder.
        shutil.copytree(folder, copy, symlinks=True, ignore=ignored)
    except shutil.Error as error:  # it went on after each of these
        for source, _, why in error.args[0]:
            if os.strerror(errno.ENOSPC) in why or os.strerror(errno.EDQUOT) in why:
                raise LabError(
                    f"there is no room in {copy.parent} to run the notebooks: make room there, or "
                    "set TMPDIR to a folder that has some"
                ) from None
            report.warn(f"the notebooks are run without {source}, which cannot be copied ({why})")
    for notebook in copy.glob("*.ipynb"):
        if notebook.is_symlink() and (folder / notebook.name).is_file():
            notebook.unlink()
            shutil.copyfile(folder / notebook.name, notebook)


def _is_complete(notebook: Notebook, folder: Path, report: Report) -> bool | None:
    """Whether nothing in it is left to be written; None where it cannot be read."""
    path = folder / f"{notebook.name}.ipynb"
    if not path.is_file():
        report.fail(f"{path.name} is missing: it must lie in {folder}")
        return None
    try:
        cells = read_cells(path)
    except NotebookError as error:
        report.fail(f"{error}: save it again, or begin with a fresh copy from the release")
        return None
    report.by_hand += sum(cell.points for cell in cells if not cell.is_check)
    found = sum(cell.points for cell in cells)
    if abs(found - (worth := notebook.points + notebook.bonus)) > 1e-6:
        report.fail(
            f"{path.name}: graded cells are missing, {found:g} of "
            f"{points_in_words(worth)} are left; copy your answers into a fresh copy of "
            "the notebook from the release"
        )
    empty, silent = [cell for cell in cells if cell.is_empty], unanswered(cells)
    for cell in empty:
        report.warn(f"{path.name}: {_called(cell)} is still to be written")
    for cell in silent:
        report.warn(
            f"{path.name}: {cell.title} has no answer ({points_in_words(cell.points)}): write it "
            "into a new cell right below the question"
        )
    return not empty and not silent


def _called(cell: Cell) -> str:
    found = re.search(r"^(?:def|class) (\w+)", cell.source, re.MULTILINE)
    return f"{found[1]} ({cell.title})" if found else cell.title


def _rerun(
    path: Path,
    is_complete: bool,
    report: Report,
    progress: Progress,
    environment: Mapping[str, str],
) -> None:
    code = [cell for cell in read_cells(path) if cell.is_code]
    result = rerun(path, progress, environment)
    report.points += sum(cell.points for cell in code if cell.name in result.passed)
    wrong = [cell for cell in code if cell.is_check and cell.name not in result.passed]
    for cell in wrong:
        report.warn(
            f"{path.name}: the check of {cell.title} does not pass "
            f"({'a bonus of ' * cell.is_bonus}{points_in_words(cell.points)})"
        )
    for number, error in result.errors.items():
        cell = code[number - 1]
        if not cell.is_check:
            number_of = f"code cell {number} of {len(code)}"
            where = f"the cell of {cell.title}" if cell.name else number_of
            report.warn(f"{path.name}: {where} raises {error}")
    if result.trouble:
        report.fail(f"{path.name} does not run to its end: {result.trouble}")
    elif not result.errors:
        report.ok(f"{path.name} {'is complete and ' * is_complete}runs")


def _inspect_files(lab: Assignment, folder: Path, copy: Path | None, report: Report) -> None:
    for file in handed_in(lab.id):
        mine = folder / file.name
        if not mine.is_file():
            text = "run the notebook that writes it, from top to bottom"
            report.fail(f"{file.name} is missing: {text}")
        elif problem := file.problem(mine.read_bytes()):
            report.fail(f"{file.name} {problem}")
        elif copy and not file.measured:
            if difference := _difference(file, mine, copy / file.name):
                report.fail(f"{file.name} {difference}")
            else:
                report.ok(f"{file.name} is what the notebooks write")
        else:
            report.ok(f"{file.name} is there")


def _difference(file: HandedIn, mine: Path, again: Path) -> str:
    if not again.is_file():
        return "is there, but the notebooks do not write it: finish the task that does"
    try:
        found = file.difference(again.read_bytes(), mine.read_bytes())
    except LabError as error:
        return f"cannot be read ({error})"
    cure = "run that notebook again, save it, and pack once more"
    return f"differs from what the notebooks write now ({found}): {cure}" if found else ""
