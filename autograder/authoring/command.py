"""``python -m autograder notebooks``: builds every derived file, or says what is stale."""

from __future__ import annotations

import argparse
import sys
from typing import Any


def add_notebooks(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    parser = commands.add_parser(
        "notebooks", help="build cases, pictures, solved and student notebooks"
    )
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

    labs = read_course().labs
    print(f"cases and pictures of {', '.join(labs)} …", flush=True)
    texts = derived_files(labs)
    differences = [f"{path} is stale" for path in write_or_check(texts, options.check)]
    print(f"notebooks of {', '.join(labs)} …", flush=True)
    books = derive(ROOT)
    differences += stale(ROOT, books)
    if options.check:
        for line in differences:
            print(f"{line}; make notebooks mends it", file=sys.stderr)
        return 1 if differences else 0
    write(ROOT, books)
    print(f"{len(texts) + len(books)} files up to date, {len(differences)} of them changed")
    return 0
