"""A case that asks several things at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from autograder.authoring.derived import CaseData, in_parts
from lab_utils.kit.parts import asked_in_parts, judged_in_parts
from lab_utils.kit.task import Case, Finding


def _ask(function: Any, given: Mapping[str, Any]) -> Any:
    return function(given["x"])


def _judge(case: Case, answer: Any) -> list[Finding]:
    wanted = case.wanted["y"]
    return [] if answer == wanted else [Finding(str(answer), str(wanted), f"at {case.given['x']}")]


SQUARES: list[CaseData] = [
    {"name": "", "given": {"x": x}, "wanted": {"y": x * x}} for x in (1, 2, 3)
]
ALL = Case(**in_parts("squares", SQUARES))
ASK, JUDGE = asked_in_parts(_ask), judged_in_parts(_judge)


def test_it_is_right_if_all_parts_are() -> None:
    assert JUDGE(ALL, ASK(lambda x: x * x, ALL.given)) == []


def test_the_first_part_that_is_wrong_is_told() -> None:
    assert JUDGE(ALL, ASK(lambda x: x, ALL.given)) == [Finding("2", "4", "at 2")]


def test_a_case_without_parts_stays_as_it_is() -> None:
    one = Case(**SQUARES[1])
    assert ASK(lambda x: x, one.given) == 2
    assert JUDGE(one, 4) == []


@pytest.mark.parametrize("answer", [[], [1, 4], [1, 4, 9, 16]])
def test_an_answer_of_another_length_is_not_right(answer: list[int]) -> None:
    with pytest.raises(ValueError, match="zip"):
        JUDGE(ALL, answer)
