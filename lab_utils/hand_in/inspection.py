"""Looks at a lab before it is packed: is it complete, does it run, are the files its own?"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_utils.course import Lab, Notebook
from lab_utils.errors import LabError
from lab_utils.hand_in.notebook import Cell, NotebookError, read_cells
from lab_utils.hand_in.report import Report
from lab_utils.hand_in.rerun import Progress, rerun

MADE_AGAIN = (".dot",)
#: Never taken along when the notebooks are run: they must make these by themselves.
LEFT_OUT = ("*.dot", "*.zip", "my_work.py", ".*", "__pycache__")


def inspect(lab: Lab, folder: Path, progress: Progress, *, run: bool = True) -> Report:
    """Look at the notebooks and files of ``lab`` in ``folder``; nothing there is changed."""
    report = Report(possible=lab.points)
    complete = [notebook for notebook in lab.notebooks if _is_complete(notebook, folder, report)]
    if run:
        with TemporaryDirectory(prefix="hand-in-") as scratch:
            copy = Path(scratch) / lab.id
            shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
            for notebook in complete:
                _rerun(copy / f"{notebook.name}.ipynb", report, progress)
            report.has_run = True
            _inspect_files(lab, folder, copy, report)
    else:
        _inspect_files(lab, folder, None, report)
    return report


def _is_complete(notebook: Notebook, folder: Path, report: Report) -> bool:
    path = folder / f"{notebook.name}.ipynb"
    if not path.is_file():
        report.fail(f"{path.name} is missing: it must lie in {folder}")
        return False
    try:
        cells = read_cells(path)
    except NotebookError as error:
        report.fail(f"{error}: save it again, or begin with a fresh copy from the release")
        return False
    report.by_hand += sum(cell.points for cell in cells if not cell.is_check)
    found = sum(cell.points for cell in cells)
    if abs(found - notebook.points) > 1e-6:
        report.fail(
            f"{path.name}: graded cells are missing, {found:g} of {notebook.points:g} points are "
            "left; copy your answers into a fresh copy of the notebook from the release"
        )
    for cell in cells:
        if cell.is_empty:
            report.warn(f"{path.name}: {_called(cell)} is still to be written")
    return True


def _called(cell: Cell) -> str:
    line = next((line for line in cell.source.splitlines() if line.startswith("def ")), "")
    function = line.removeprefix("def ").partition("(")[0]
    return f"{function} (cell {cell.name})" if function else f"cell {cell.name}"


def _rerun(path: Path, report: Report, progress: Progress) -> None:
    code = [cell for cell in read_cells(path) if cell.is_code]
    result = rerun(path, progress)
    report.points += sum(cell.points for cell in code if cell.name in result.passed)
    wrong = [cell for cell in code if cell.is_check and cell.name not in result.passed]
    for cell in wrong:
        report.warn(f"{path.name}: check {cell.name} does not pass ({cell.points:g} points)")
    for number, error in result.errors.items():
        if not code[number - 1].is_check:
            report.warn(f"{path.name}: code cell {number} of {len(code)} raises {error}")
    if result.trouble:
        report.fail(f"{path.name} does not run to its end: {result.trouble}")
    elif not result.errors:
        report.ok(f"{path.name} is complete and runs")


def _inspect_files(lab: Lab, folder: Path, copy: Path | None, report: Report) -> None:
    for name in lab.files:
        if not (folder / name).is_file():
            text = "run the notebook that writes it, from top to bottom"
            report.fail(f"{name} is missing: {text}")
        elif copy and name.endswith(MADE_AGAIN):
            differences = _differences(folder / name, copy / name)
            for text in differences:
                report.fail(f"{name} {text}")
            if not differences:
                report.ok(f"{name} is what the notebooks write")
        else:
            report.ok(f"{name} is there")


def _differences(mine: Path, again: Path) -> Sequence[str]:
    from lab_utils.compare.diff import diff
    from lab_utils.dot.read import read_dot

    if not again.is_file():
        return ["is there, but the notebooks do not write it: finish the task that does"]
    try:
        found = diff(read_dot(again), read_dot(mine))
    except LabError as error:
        return [f"cannot be read ({error}): write it again with write_dot"]
    cure = "run that notebook again, save it, and pack once more"
    first = str(next(iter(found))) if found else ""
    return [f"differs from what the notebooks write now ({first}): {cure}"] if found else []
