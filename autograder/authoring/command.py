"""``python -m autograder notebooks``: builds every derived file, or says what is stale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.authoring.build import Files


def add_notebooks(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    parser = commands.add_parser(
        "notebooks", help="build cases, pictures, solved and student notebooks"
    )
    parser.add_argument("labs", nargs="*", metavar="LAB", help="only these; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if any is stale")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Build, or with ``--check`` compare; returns the exit status.

    Raises:
        LabError: a source has a mistake; the message names file and line.
    """
    from autograder.authoring.build import derive, stale, write
    from autograder.authoring.derived import derived_files, write_or_check
    from lab_utils.kit.course import read_course
    from lab_utils.kit.root import ROOT

    course = read_course()
    labs = [course.lab(lab).id for lab in options.labs] or list(course.labs)
    print(f"cases and pictures of {', '.join(labs)} …", flush=True)
    texts = derived_files(labs)
    differences = [f"{path} is stale" for path in write_or_check(texts, options.check)]
    print(f"notebooks of {', '.join(labs)} …", flush=True)
    books = _of_labs(derive(ROOT), labs, ROOT)
    differences += stale(ROOT, books)
    if options.check:
        for line in differences:
            print(f"{line}; make notebooks mends it", file=sys.stderr)
        return 1 if differences else 0
    write(ROOT, books)
    print(f"{len(texts) + len(books)} files up to date, {len(differences)} of them changed")
    return 0


def _of_labs(books: Files, labs: Sequence[str], root: Path) -> Files:
    """The notebooks of these labs as they should be, and those of others as they are."""

    def current(path: str, wanted: bytes) -> bytes | None:
        if path.split("/")[1] in labs:
            return wanted
        return (root / path).read_bytes() if (root / path).is_file() else None

    found = ((path, current(path, content)) for path, content in books.items())
    return {path: content for path, content in found if content is not None}
