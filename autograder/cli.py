"""The instructors' command line: ``python -m autograder grade | judge | release``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.classroom.command import add_grade
from autograder.release.commands import add_command as add_release
from lab_utils.graph import LabError

#: Exit codes: all well; something is wrong with the hand-in; a file is unusable.
PASSED, FAILED, UNUSABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A user's mistake is one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
    return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_grade(commands)
    judge = commands.add_parser("judge", help="judge a rewritten graph without any code")
    judge.add_argument("--base", required=True, metavar="llm_mlp.dot")
    judge.add_argument("--rewritten", required=True, metavar="llm_mlp_ar.dot")
    judge.add_argument("--json", action="store_true", help="for programs")
    judge.set_defaults(run=_judge)
    add_release(commands)
    return parser


def _judge(options: argparse.Namespace) -> int:
    from autograder.judge import judge_pair
    from lab_utils.dot.read import read_dot

    verdict = judge_pair(read_dot(Path(options.base)), read_dot(Path(options.rewritten)))
    print(json.dumps(verdict.as_dict(), indent=2) if options.json else verdict)
    return PASSED if verdict.passed else FAILED
