"""The instructors' command line: ``python -m autograder grade | judge | release | notebooks``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from autograder.authoring.command import add_notebooks
from autograder.classroom.command import add_grade
from autograder.release.commands import add_command as add_release
from lab_utils.kit.commands import read_graph, run_command

#: Exit codes: all well; something is wrong with the hand-in. Where a file is unusable it is 2.
PASSED, FAILED = 0, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A user's mistake is one line on stderr."""
    return run_command(_parser().parse_args(arguments))


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
    add_notebooks(commands)
    return parser


def _judge(options: argparse.Namespace) -> int:
    from autograder.labs.lab4a.two_files import judge_pair

    files = (options.base, options.rewritten)
    verdict = judge_pair(read_graph(options.base), read_graph(options.rewritten), files)
    print(json.dumps(verdict.as_dict(), indent=2) if options.json else verdict)
    return PASSED if verdict.passed else FAILED
