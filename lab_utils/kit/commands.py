"""What our command lines share: exit codes, and one line on stderr for a user's mistake."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from lab_utils.kit.errors import LabError

#: Exit codes: all well; something differs or is wrong; the input is unusable.
OK, DIFFERENT, UNUSABLE = 0, 1, 2

AddCommands = Callable[[Any], None]
"""Adds subcommands to a parser; each sets ``run``, a function of the options."""


def as_path(text: str) -> Path:
    """A path from a command line; of ``make grade FROM=~/x`` some shells leave the ``~`` to us."""
    return Path(os.path.expanduser(text))


def run(
    program: str,
    description: str | None,
    rooms: Iterable[AddCommands],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run one command of those that the rooms add; returns its exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in rooms:
        add(commands)
    try:
        return _guarded(parser.parse_args(arguments))
    except KeyboardInterrupt:
        print("\nstopped: nothing was written", file=sys.stderr)
    return UNUSABLE


def _guarded(options: argparse.Namespace) -> int:
    """``options.run(options)``; what a person can mend is one line on stderr, and UNUSABLE."""
    try:
        code: int = options.run(options)
        return code
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone, which is its right
    except OSError as error:
        where = f"{error.filename}: {error.strerror}" if error.filename else error
        print(f"error: {where}", file=sys.stderr)
    return UNUSABLE
