"""``python -m autograder new-lab | notebooks | verify``: makes, builds and tries labs."""

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
    parser.add_argument("--verify", action="store_true", help="also do what verify does")
    parser.set_defaults(run=run)
    verify = commands.add_parser(
        "verify", help="grade a lab's solved and empty notebooks: all points, and none"
    )
    verify.add_argument("labs", nargs="+", metavar="LAB")
    verify.set_defaults(run=_verify)


def add_new_lab(commands: Any) -> None:
    """Add the command that makes a lab."""
    parser = commands.add_parser("new-lab", help="make a small lab that works, to be changed")
    parser.add_argument("name", help="of its folders: a-z and 0-9, as in lab5")
    parser.add_argument("--title", default="A new lab", help="what it is about, in a few words")
    parser.set_defaults(run=_new_lab)


def _new_lab(options: argparse.Namespace) -> int:
    from autograder.authoring.new_lab import new_lab
    from lab_utils.kit.root import ROOT

    for path in new_lab(options.name, options.title, ROOT):
        print(f"wrote  {path}")
    program, lab = ".venv/bin/python -m autograder", options.name
    print("Next:")
    print(f"  {program} notebooks {lab}   # builds its cases and its notebooks")
    print(f"  {program} verify {lab}      # our solution passes, an empty notebook does not")
    print(f"  make grade LAB={lab}   # grades its sample class")
    print("Then make it your own: docs/add-a-lab.md")
    return 0


def _verify(options: argparse.Namespace) -> int:
    """Try labs, unless what is built is stale."""
    return run(argparse.Namespace(labs=options.labs, check=True)) or _tried(options.labs)


def _tried(labs: Sequence[str]) -> int:
    """Grade the solved and the unfilled notebooks of labs.

    Raises:
        LabError: the first do not get all points, or the second get some.
    """
    from autograder.authoring.verify import trial
    from autograder.grading.sandbox.host.stems import sharing

    with sharing():
        for lab in labs:
            print(f"grading the solved and the empty notebooks of {lab} …", flush=True)
            _refuse(list(trial(lab)))
            print(f"{lab}: the solution has all points of its checks, the empty notebooks none")
    return 0


def _refuse(problems: Sequence[str]) -> None:
    from lab_utils.kit.errors import LabError

    if problems:
        raise LabError("\n".join(problems))


def run(options: argparse.Namespace) -> int:
    """Build, or with ``--check`` compare; returns the exit status.

    Raises:
        LabError: a source has a mistake; the message names file and line.
    """
    from autograder.authoring.build import derive, stale, write
    from autograder.authoring.derived import derived_files, write_or_check
    from autograder.authoring.verify import hidden_in_release, problems
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
    if options.check and differences:
        for line in differences:
            print(f"{line}; make notebooks mends it", file=sys.stderr)
        return 1
    _refuse([*problems(labs), *hidden_in_release(books)])
    if options.check:
        return 0
    write(ROOT, books)
    print(f"{len(texts) + len(books)} files up to date, {len(differences)} of them changed")
    return _tried(labs) if options.verify else 0


def _of_labs(books: Files, labs: Sequence[str], root: Path) -> Files:
    """The notebooks of these labs as they should be, and those of others as they are."""

    def current(path: str, wanted: bytes) -> bytes | None:
        if path.split("/")[1] in labs:
            return wanted
        return (root / path).read_bytes() if (root / path).is_file() else None

    found = ((path, current(path, content)) for path, content in books.items())
    return {path: content for path, content in found if content is not None}
