"""``python -m autograder similar``: a page of hand-ins that are alike, side by side."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autograder.classroom.home import Home
from lab_utils.kit.commands import as_path
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT

MOST = 100
"""Pairs on the page."""


def add_similar(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    similar = commands.add_parser(
        "similar",
        help="show hand-ins that are alike",
        description="Compares what students of a graded class wrote, on this machine alone. It is "
        "a hint where to look, and never a verdict.",
    )
    similar.add_argument("lab")
    similar.add_argument("--into", type=as_path, help="the folder that `grade --into` was told")
    similar.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page, and say where."""
    home = Home((options.into or ROOT / "autograder").resolve())
    course = read_course(home.root / "setup" / "course.toml")
    path, pairs = write_similar(home, course.lab(options.lab).id)
    print(f"{pairs} pair{'s' if pairs != 1 else ''} of hand-ins with a likeness: {path}")
    return 0


def write_similar(home: Home, lab: str) -> tuple[Path, int]:
    """Compare all hand-ins of a lab; gives where the page is, and how many pairs are on it.

    Raises:
        LabError: nothing was collected.
    """
    from autograder.classroom.feedback import PAGES
    from autograder.classroom.similarity import pieces_of, similar
    from autograder.classroom.written import read_books, released_cells
    from autograder.grading.verdict import write_private

    folders = sorted(home.submitted.glob(f"[!.]*/{lab}"))
    if not folders:
        raise LabError(f"nothing of {lab} has been collected in {home.path}: run grade first")
    course = read_course(home.root / "setup" / "course.toml")
    released = released_cells(home.root, lab)
    texts = frozenset(text for _, text in released)
    written = {folder.parent.name: pieces_of(read_books(folder), texts) for folder in folders}
    pairs = similar(written, released)
    page = PAGES.get_template("similar.html").render(
        course=course,
        lab=course.lab(lab),
        students=len(written),
        names=_names(home),
        pairs=pairs[:MOST],
        left=max(0, len(pairs) - MOST),
    )
    path = home.grades(lab) / "similar.html"
    write_private(path, page)
    return path, len(pairs)


def _names(home: Home) -> dict[str, str]:
    from nbgrader.api import Gradebook

    if not home.gradebook.is_file():
        return {}
    with Gradebook(home.db_url) as book:
        called = {s.id: f"{s.first_name or ''} {s.last_name or ''}".strip() for s in book.students}
    return {student: name for student, name in called.items() if name}
