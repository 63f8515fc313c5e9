"""A case that asks several things at once: it is right if all of them are.

Whoever makes the mistake that a task is about should meet it in most of the cases, and one
input alone seldom shows every mistake. So a case may hold ``parts``: what is given, and what is
wanted, of several inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.task import Ask, Case, Finding, Judge

PARTS = "parts"


def asked_in_parts(ask: Ask) -> Ask:
    """The same question, put for each part of a case that has parts."""

    def ask_each(function: Any, given: Mapping[str, Any]) -> Any:
        if PARTS not in given:
            return ask(function, given)
        return [ask(function, part) for part in given[PARTS]]

    return ask_each


def parts_of(case: Case) -> list[Case]:
    """Each part of a case as a case of its own; the case itself if it has none."""
    if PARTS not in case.given:
        return [case]
    told = zip(case.given[PARTS], case.wanted[PARTS], strict=True)
    return [Case(case.name, given, wanted) for given, wanted in told]


def judged_in_parts(judge: Judge) -> Judge:
    """The same judge; of a case with parts, what is wrong with the first that is wrong."""

    def judge_each(case: Case, answer: Any) -> list[Finding]:
        if PARTS not in case.given:
            return judge(case, answer)
        found = (judge(part, told) for part, told in zip(parts_of(case), answer, strict=True))
        return next(filter(None, found), [])

    return judge_each
