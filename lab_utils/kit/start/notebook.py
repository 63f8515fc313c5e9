"""``START.ipynb``: a notebook that holds the start page as the saved output of its one cell.

It can be read at once, in whatever opens notebooks; running the cell looks again. It is made
when the lab is opened, and never part of what is handed in.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from lab_utils.kit.course import START, Course, read_course
from lab_utils.kit.files import write_whole
from lab_utils.kit.root import ROOT
from lab_utils.kit.start.page import Page
from lab_utils.kit.start.standing import standings

CELL = "start-page"  # the id of our cell; all others are the student's
SOURCE = """\
# How far have I come? Save your notebooks, and run this cell again.
import sys

sys.path.append("..")  # the folder that has lab_utils
from lab_utils.kit.start import start

start()"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def start(folder: Path | None = None) -> Page:
    """The page about the notebooks in ``folder``: those here, or those of this release."""
    course = read_course()
    return Page(course, standings(course, folder or _folder(course)), datetime.now())


def write_start(folder: Path | None = None) -> Path:
    """Make START.ipynb in ``folder`` new, and tell where it is; what students add to it stays."""
    path = (folder or _folder(read_course())) / START
    others, metadata = _of_the_student(path)
    made = _notebook(start(path.parent))
    made["cells"] += others
    made["metadata"] |= metadata
    write_whole(path, _as_text(made))
    return path


def _folder(course: Course) -> Path:
    here = Path.cwd()
    return here if any((here / lab).is_dir() for lab in course.labs) else ROOT / "notebooks"


def _of_the_student(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Cells that are not ours, and which kernel this machine has, if a set-up has chosen one."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        others = [
            c for c in before["cells"] if c.get("id") != CELL and "".join(c["source"]).strip()
        ]
        return others, dict(before["metadata"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return [], {}


def start_notebook(course: Course, folder: Path) -> str:
    """START.ipynb as a release has it, about notebooks in ``folder`` that nobody has opened yet."""
    return _as_text(_notebook(Page(course, standings(course, folder))))


def _notebook(page: Page) -> dict[str, Any]:
    output = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": page._repr_html_(), "text/plain": repr(page)},
    }
    cell = {
        "id": CELL,
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"deletable": False, "jupyter": {"source_hidden": True}},
        "source": SOURCE,
        "outputs": [output],
    }
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _as_text(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
