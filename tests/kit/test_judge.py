"""One mistake, one message: what a verdict says, and what it only counts."""

from __future__ import annotations

from lab_utils.kit.ask import attempt
from lab_utils.kit.judge import Verdict, by_sort
from lab_utils.kit.task import OR, Finding, Task

TASK = Task("1.1", "a task", 1, "solve", "x")


def _verdict(*cases: tuple[Finding, ...]) -> str:
    found = tuple((f"case {at}", findings) for at, findings in enumerate(cases))
    return str(Verdict(TASK, found))


def _finding(name: str, look: str = "{} reads what is lost.") -> Finding:
    return Finding(f"{name} is wrong", "right", look.format(name))


def test_findings_that_differ_in_names_alone_are_told_once() -> None:
    text = _verdict(tuple(_finding(f"l{at}_up") for at in range(5)))
    assert text.count("yours") == 1
    assert "… and 4 more like this" in text


def test_the_first_case_is_told_and_others_are_counted() -> None:
    text = _verdict((_finding("l0_up"),), (_finding("v17"),), (_finding("v18"),))
    assert text.count("yours") == 1
    assert "case 0 (and on 2 more cases)" in text


def test_another_mistake_is_told_as_well() -> None:
    text = _verdict((_finding("l0_up"),), (_finding("l0_up", "{} is needless."),))
    assert text.count("yours") == 2


def test_sorts_do_not_hang_on_numbers_or_quoted_names() -> None:
    looks = ["wait for 12 steps, not 3.5", "wait for 2 steps, not 1,000"]
    assert len(by_sort([Finding("", "", look) for look in looks])) == 1
    assert len(by_sort([Finding("", "", "stop"), Finding("", "", "go on")])) == 2


def test_a_cut_keeps_the_task_to_which_a_finding_belongs() -> None:
    assert Finding("a" * 50, "b", "c", "4.1").cut(10).belongs == "4.1"


def test_the_line_of_a_student_is_found_behind_an_error_that_wraps_another() -> None:
    space: dict = {}
    code = (
        "def solve(x):\n"
        "    import json\n"
        "    try:\n"
        "        json.loads('{')\n"
        "    except ValueError as error:\n"
        "        raise RuntimeError from error\n"
    )
    exec(compile(code, "<solve>", "exec"), space)
    reply = attempt(TASK, lambda function, _: function(1), space["solve"], {})
    assert "line 4 of solve" in reply["look"]


def test_the_line_of_a_student_is_found_above_compiled_code() -> None:
    """pandas' own lines have no folder: they are not the student's."""
    code = "def solve(x):\n    import pandas\n    return pandas.Series([1], ['a'])['b']\n"
    space: dict = {}
    exec(compile(code, "<solve>", "exec"), space)
    reply = attempt(TASK, lambda function, _: function(1), space["solve"], {})
    assert "line 3 of solve" in reply["look"]


def test_names_in_an_answer_do_not_make_another_mistake() -> None:
    """Plain words may be names: those that the answer quotes."""
    one = Finding("['sin', 'relu']", "['relu', 'sin']", "relu must run before sin.")
    other = Finding("['mul', 'mm']", "['mm', 'mul']", "mm must run before mul.")
    said = _verdict((one,), (other,))
    assert "case 0 (and on 1 more case)" in said
    assert "mm must" not in said


def test_of_two_explanations_the_one_that_holds_everywhere_is_told() -> None:
    both = Finding("3", "4", f"Count views.{OR}Hold what is returned.")
    one = Finding("5", "6", "Hold what is returned.")
    said = _verdict((both,), (one,))
    assert "Count views" not in said
    assert "(and on 1 more case)" in said
    assert f"Count views.{OR}Hold" in _verdict((both,))
