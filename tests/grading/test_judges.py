"""The process that judges may hang or die of an answer: nobody else's answer suffers."""

from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.grading.judge import judges, process, ruling
from autograder.grading.judge.judges import JudgeFailed, Judges, Undecided
from autograder.grading.judge.process import Judge, _stems
from autograder.grading.judge.ruling import Ruling
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import NotebookResult, Question
from autograder.grading.submission import Submission
from tests.labs.lab4a.class_of_four import LAB, ROOT

STAND_IN = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    answer = json.loads(line)["answer"]
    if answer == "endless":
        time.sleep(1000)
    if answer == "deadly":
        os._exit(1)
    print(json.dumps({"answer": os.getpid()}), flush=True)
    if answer == "deadly afterwards":
        os._exit(1)
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judges]:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    monkeypatch.setattr(judges, "COMMAND", (sys.executable, str(script)))
    several = Judges(most=1)
    yield several
    several.close()


def test_an_answer_that_hangs_or_kills_the_judge_is_undecided_and_the_next_is_not(
    two: Judges,
) -> None:
    process = two.ask("lab", "judge", answer="honest")
    with pytest.raises(Undecided):
        two.ask("lab", "judge", seconds=0.2, answer="endless")
    another = two.ask("lab", "judge", answer="as honest")
    with pytest.raises(Undecided):
        two.ask("lab", "judge", answer="deadly")
    assert len({process, another, two.ask("lab", "judge", answer="too")}) == 3


def test_who_comes_after_a_judge_that_died_does_not_pay_for_it(two: Judges) -> None:
    process = two.ask("lab", "judge", answer="deadly afterwards")
    assert two.ask("lab", "judge", answer="honest") != process


def test_a_judge_that_does_not_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judges, "COMMAND", (sys.executable, "-c", "pass"))
    with pytest.raises(JudgeFailed, match="judge.process says why"):
        Judges().ask("lab", "judge", answer="honest")


def test_endless_answers_of_one_submission_do_not_hold_up_the_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    asked = []

    class Hanging(Judges):
        def ask(self, lab: str, do: str, seconds: float = 60, **details: Any) -> Any:
            nonlocal now
            if do == "name":
                return {"name": "a case", "hidden": True}
            asked.append(do)
            now += seconds
            raise Undecided

    monkeypatch.setattr(ruling.time, "monotonic", lambda: now)
    plan = read_plan(LAB, ROOT / "solutions" / LAB)
    ruled = Ruling(plan, Hanging(), Submission("someone", {}, {}))
    for test in (test for test in plan.tests if not test.is_of_file):
        questions = [Question(LAB, test.task, test.name, case=n) for n in range(5)]
        replies: list[Any] = [{"answer": "endless"}] * 5
        result = NotebookResult(test.notebook, [], replies, questions)
        verdict, _ = ruled.task(test, result)
        assert verdict.points == 0
        assert f"task {test.task}" in {remark.place for remark in ruled.remarks}
    assert now <= ruling.WASTE
    assert {remark.kind for remark in ruled.remarks} == {"undecided"}


class Slow(Judges):
    """Decides in the end, each time; ``now`` is the clock."""

    now = 0.0

    def ask(self, lab: str, do: str, seconds: float = 60, **details: Any) -> Any:
        if do == "name":
            return {"name": "a case", "hidden": True}
        self.now += 50
        return {"findings": [], "forged": False} if do == "judge" else None


def ruled_on(judges: Judges, books: dict[str, Any] | None = None) -> Ruling:
    """The ruling on five answers to each task."""
    plan = read_plan(LAB, ROOT / "solutions" / LAB)
    ruled = Ruling(plan, judges, Submission("someone", books or {}, {}))
    for test in (test for test in plan.tests if not test.is_of_file):
        questions = [Question(LAB, test.task, test.name, case=n) for n in range(5)]
        replies: list[Any] = [{"answer": "slow"}] * 5
        ruled.task(test, NotebookResult(test.notebook, [], replies, questions))
    return ruled


def test_slow_answers_of_one_submission_do_not_hold_up_the_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow()
    monkeypatch.setattr(ruling.time, "monotonic", lambda: slow.now)
    remarks = ruled_on(slow).remarks
    assert slow.now <= ruling.MOST + judges.PATIENCE
    assert {remark.kind for remark in remarks} == {"undecided"}


def test_a_judge_that_dies_before_it_names_a_case_decides_nothing_else() -> None:
    class Dead(Judges):
        def ask(self, lab: str, do: str, seconds: float = 60, **details: Any) -> Any:
            raise Undecided

    assert {remark.kind for remark in ruled_on(Dead()).remarks} == {"undecided"}


# ---- what a student is told of hidden graphs -----------------------------------------------


HIDDEN = 7  # the number of a hidden case of tasks 1.1 and 2.1


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(LAB)


def test_an_error_on_a_hidden_graph_tells_its_type_and_its_line(judge: Judge) -> None:
    line = "line 3 of classify: raise ValueError(text)"
    reply = {"error": "ValueError: LOOT all of the graph", "look": line}
    told = [judge.judge("1.1", case, reply)["findings"][0] for case in (0, HIDDEN)]
    assert [one["yours"] for one in told] == [reply["error"], "ValueError"]
    assert [one["look"] for one in told] == [line, line]


@pytest.mark.parametrize("words", ["Loot12345: x", "loot n1 n2 n3", "loot: all of the graph"])
def test_an_error_of_the_students_own_words_is_not_told_of_a_hidden_graph(
    judge: Judge, words: str
) -> None:
    told = judge.judge("1.1", HIDDEN, {"error": words, "look": "loot loot"})["findings"][0]
    assert "oot" not in " ".join(told.values())


def test_names_that_nobody_knows_are_not_told_of_a_hidden_graph(judge: Judge) -> None:
    names = ["MFRGGZDF", "NBSWY3DP", "日本語秘密", "1234567890" * 4, "☃☂"]
    told = judge.judge("2.1", HIDDEN, {"answer": names})["findings"]
    assert told
    assert not any(name in str(told) for name in names)
    assert "MFRGGZDF" in str(judge.judge("2.1", 0, {"answer": ["MFRGGZDF"]}))


@pytest.mark.parametrize("kind", [NameError, ZeroDivisionError, AssertionError, StopIteration])
def test_errors_on_hidden_graphs_are_told_by_their_type(judge: Judge, kind: type) -> None:
    reply = {"error": f"{kind.__name__}: loot", "look": "See the task."}
    assert judge.judge("1.1", HIDDEN, reply)["findings"][0]["yours"] == kind.__name__
    assert "int" not in judge.judge("1.1", HIDDEN, {"error": "int: loot"})["findings"][0]["yours"]


def test_our_own_words_stay_as_they_are_on_hidden_graphs() -> None:
    text = (ROOT / "autograder" / "labs" / "project" / "mistakes.py").read_text()
    tables = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Dict)]
    hints = [key.value for table in tables for key in table.keys if isinstance(key, ast.Constant)]
    assert len(hints) > 5
    judge = Judge("project")
    for hint in map(str, hints):
        assert judge._known_words("5.4", hint) == hint


def test_an_error_that_came_on_a_public_graph_too_is_told(judge: Judge) -> None:
    reply = {"error": "there is no classify in this notebook", "look": "Its cell was renamed."}
    told = judge.judge("1.1", HIDDEN, reply, is_known=True)
    assert told == judge.judge("1.1", 0, reply)
    assert "renamed" in str(judge.judge("1.1", HIDDEN, reply))


def test_a_line_that_is_in_no_notebook_is_not_told_of_a_hidden_graph() -> None:
    cell = nbformat.v4.new_code_cell("def f():\n    raise ValueError(text)")
    books = {"03_backward": nbformat.v4.new_notebook(cells=[cell])}
    ruled = Ruling(read_plan(LAB, ROOT / "solutions" / LAB), Slow(), Submission("a", books, {}))
    own, other = "line 2 of f: raise ValueError(text)", "line 2 of f: loot"
    assert ruled._own_line(own) == "line 2: raise ValueError(text)"
    assert ruled._own_line(f"line {'9' * 5000} of f: x").startswith("line 9")  # words of nobody's
    assert "loot" not in ruled._own_line(other)
    assert ruled._own_line("The part marked for you.") == "The part marked for you."


def test_many_findings_are_told_by_a_few(judge: Judge) -> None:
    forged: dict[str, list[str]] = {f"n{number}": [] for number in range(5000)}
    told = judge.judge("1.2", 0, {"answer": forged})
    assert 0 < len(told["findings"]) <= 20
    long = judge.judge("2.1", 0, {"answer": ["A" * 1_000_000]})
    assert len(json.dumps(long)) < 5000


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't allocate memory: 9 bytes")])
def test_want_of_memory_is_never_the_answers_fault(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(process, "outcome", fail)
    with pytest.raises(type(error)):  # which ends the process; the next one is asked again
        judge.judge("2.1", 0, {"answer": []})


@pytest.mark.slow
def test_what_an_answer_leaves_in_memory_is_gone_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        judges,
        "COMMAND",
        (
            *(sys.executable, "-c"),
            "from autograder.grading.judge import process; process._FULL = -1; process.main()",
        ),
    )
    crew, processes = Judges(), []
    try:
        for case in (0, 1):
            told = crew.ask(LAB, "judge", task="2.1", case=case, reply={"answer": []})
            assert told["findings"]
            assert not told["forged"]
            processes.append(crew._all[0]._process)
    finally:
        crew.close()
    assert processes[0] is not processes[1]


@pytest.mark.parametrize("reply", [{"answer": ["x" * 5000]}, {"error": "x" * 5000}])
def test_nobody_is_told_more_than_a_few_lines(judge: Judge, reply: dict[str, Any]) -> None:
    public, hidden = (judge.judge("2.1", case, reply)["findings"][0] for case in (0, HIDDEN))
    assert len(public["yours"]) <= 300
    assert "xxx" not in hidden["yours"]


def test_names_with_many_numbers_take_the_judge_no_time(judge: Judge) -> None:
    judge.name("2.1", HIDDEN)
    started = time.process_time()
    judge._veiled("2.1", "_1" * 20_000 + "x")
    assert time.process_time() - started < 5  # backtracking would take hours
    assert list(_stems("a_1_recomp_2")) == ["a_1_recomp_2", "a_1_recomp", "a_1", "a"]
