"""``python -m autograder judge``: two files alone, without any code of a student's."""

from __future__ import annotations

import argparse
import json
from typing import Any

from lab_utils.kit.commands import DIFFERENT, OK


def add_commands(commands: Any) -> None:
    """Add it to the instructors' command line."""
    judge = commands.add_parser("judge", help="judge a rewritten graph without any code")
    judge.add_argument("--base", required=True, metavar="llm_mlp.dot")
    judge.add_argument("--rewritten", required=True, metavar="llm_mlp_ar.dot")
    judge.add_argument("--json", action="store_true", help="for programs")
    judge.set_defaults(run=_judge)


def _judge(options: argparse.Namespace) -> int:
    from autograder.labs.lab4a.two_files import judge_pair
    from lab_utils.steps.commands import read_graph

    files = (options.base, options.rewritten)
    rewritten = read_graph(options.rewritten, circles=True)
    verdict = judge_pair(read_graph(options.base), rewritten, files)
    print(json.dumps(verdict.as_dict(), indent=2) if options.json else verdict)
    return OK if verdict.passed else DIFFERENT
