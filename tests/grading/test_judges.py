"""The process that judges may hang or die of an answer: nobody else's answer suffers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.grading.judge import judges, process, ruling
from autograder.grading.judge.judges import JudgeFailed, Judges, Undecided
from autograder.grading.judge.process import Judge
from autograder.grading.judge.ruling import Ruling, share_of
from autograder.grading.judge.sentences import Brought, Sentence, Sentences
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import NotebookResult, Question
from autograder.grading.submission import Submission
from autograder.grading.verdict import CaseVerdict
from lab_utils.kit.ask import attempt
from lab_utils.kit.course import read_course
from lab_utils.kit.task import Finding
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


def test_one_process_serves_several_unless_it_is_busy(
    two: Judges, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = Judges(most=2)
    try:
        first = several.ask("lab", "judge", answer="honest")
        assert several.ask("lab", "judge", answer="as honest") == first
        monkeypatch.setattr(judges, "BUSY", 0.05)
        with several._one():  # somebody keeps it busy
            other = several.ask("lab", "judge", answer="too")
        assert other != first
    finally:
        several.close()


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


@pytest.mark.parametrize(
    ("wrong", "drawn"), [((), [0]), ((1,), [1]), ((2,), [2]), ((1, 2), [1, 2]), ((4,), [0])]
)
def test_feedback_draws_a_public_case_that_went_wrong(
    wrong: tuple[int, ...], drawn: list[int]
) -> None:
    """Cases 3 and 4 are hidden; what cannot be drawn gives way to the next that went wrong."""
    asked = []

    class Drawing(Judges):
        def ask(self, lab: str, do: str, seconds: float = 60, **details: Any) -> Any:
            case = details["case"]
            if do == "name":
                return {"name": f"case {case}", "hidden": case > 2}
            if do == "chart":
                asked.append(case)
                is_last = case == drawn[-1]
                return {"title": f"on case {case}", "lines": {"yours": [1]}} if is_last else None
            findings = [asdict(Finding("a", "b", "c"))] if case in wrong else []
            return {"findings": findings, "forged": False}

    plan = read_plan(LAB, ROOT / "solutions" / LAB)
    test = next(test for test in plan.tests if test.task == "3.1")
    questions = [Question(LAB, "3.1", test.name, case=n) for n in range(5)]
    result = NotebookResult(test.notebook, [], [{"answer": n} for n in range(5)], questions)
    verdict, _ = Ruling(plan, Drawing(), Submission("someone", {}, {})).task(test, result)
    assert asked == drawn
    assert verdict.chart is not None
    assert verdict.chart.title == f"on case {drawn[-1]}"


def test_a_hidden_case_is_never_drawn(judge: Judge) -> None:
    task, ask, public = judge._lab.task_called("3.1"), judge._lab.ask("3.1"), judge._cases("3.1")[1]
    unchanged = attempt(task, ask, lambda *_: None, public.given)
    drawn = judge.chart("3.1", 1, unchanged)
    assert drawn is not None
    assert public.name in drawn["title"]
    assert judge.chart("3.1", HIDDEN, unchanged) is None


# ---- what a student is told of hidden cases ------------------------------------------------


HIDDEN = 7  # the number of a hidden case of tasks 1.1 and 2.1


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(LAB)


@pytest.mark.parametrize("kind", ["ValueError", "Loot12345", "unwritten", "form", "", "x" * 5000])
def test_an_error_on_a_hidden_case_is_told_by_one_of_three_sentences(
    judge: Judge, kind: str
) -> None:
    loot = {"error": f"{kind}: loot", "look": "line 1234 of loot: loot", "wanted": "loot"}
    (told,) = judge.judge("1.1", HIDDEN, {**loot, "kind": kind})["findings"]
    words = " ".join(map(str, told.values()))
    assert "oot" not in words
    assert not re.search(r"\d", words)
    assert told["yours"] in {
        "nothing yet",
        "an answer of another form than asked for",
        "your code ended with an error",
    }
    assert judge.judge("1.1", 0, loot)["findings"][0]["yours"][:99] == loot["error"][:99]


NAMES = ["MFRGGZDF", "NBSWY3DP", "日本語秘密", "1234567890" * 4, "☃☂", "123456789012345", "x"]


def test_of_a_hidden_case_nothing_is_told_that_student_code_chose(judge: Judge) -> None:
    told = judge.judge("2.1", HIDDEN, {"answer": NAMES})["findings"]
    assert told
    assert not any(name in str(told) for name in NAMES[:-1])
    assert "MFRGGZDF" in str(judge.judge("2.1", 0, {"answer": ["MFRGGZDF"]}))


@pytest.mark.parametrize("lab", ["lab0", "lab4a", "project"])
def test_what_is_told_of_hidden_cases_stands_in_our_code(lab: str) -> None:
    """Whatever the answer: sentences of ours without what was filled in, and the case's name."""
    judge = Judge(lab)
    known = {sentence.told for sentence in judge._sentences._sentences}
    answers = [None, 7, "loot", [], {}, NAMES, {"loot": "loot"}, {"file": "loot", "text": "loot"}]
    for task in judge._lab.tasks:
        known |= {task.returns, *process._WRONG, *asdict(process._UNREADABLE).values()}
        for case in range(len(judge._cases(task.id))):
            if judge.name(task.id, case)["hidden"]:
                for answer in answers:
                    for finding in judge.judge(task.id, case, {"answer": answer})["findings"]:
                        assert set(finding.values()) <= known, finding


NEUTRAL = "Qxq"  # a word that is nowhere in our code
FIELDS = ("problem", "node", "kind", "bound", "stage", "look", "yours", "wanted")


def forms(text: str) -> list[Any]:
    """Answers of several forms that are made of one text."""
    return [text, [text], [[text, text]], {text: text}, {text: 1}, dict.fromkeys(FIELDS, text)]


def loot_for(text: str, sentence: Sentence) -> str | None:
    """What an answer says in place of ``NEUTRAL`` so that ``text`` becomes ``sentence``."""
    head, *_, tail = text.split(NEUTRAL)
    whole = "x".join(sentence.parts)
    if whole.startswith(head) and whole.endswith(tail) and len(whole) >= len(head + tail):
        return whole[len(head) : len(whole) - len(tail)]
    return None


@pytest.mark.parametrize("lab", [lab for lab in read_course().labs if hidden_of(lab).cases])
def test_an_answer_does_not_choose_which_of_our_sentences_is_told(
    lab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a judge says a word of the answer, every sentence of ours is tried in its place."""
    judge, tried = Judge(lab), 0
    sentences, told = judge._sentences, Sentences.told
    said: list[str] = []

    def noted(self: Sentences, text: str, instead: str, brought: Brought) -> str:
        said.append(text)
        return told(self, text, instead, brought)

    monkeypatch.setattr(Sentences, "told", noted)
    for task in judge._lab.tasks:
        first_hidden = len(judge._lab.public_cases(task.id))
        if first_hidden == len(judge._cases(task.id)):
            continue
        said.clear()
        for answer in forms(NEUTRAL):
            with suppress(MemoryError):  # a text times a large number
                judge.judge(task.id, first_hidden, {"answer": answer})
        for text in sorted({text for text in said if NEUTRAL in text}):
            usual = told(sentences, text, "-", Brought(NEUTRAL))
            for one in sentences._sentences:
                if (loot := loot_for(text, one)) is not None:
                    tried += 1
                    mine = told(sentences, text.replace(NEUTRAL, loot), "-", Brought(loot))
                    assert mine in (usual, "-"), (task.id, text, one)
    assert tried or lab not in ("lab4a", "project")  # whose judges do say words of an answer


def sentences_of(texts: Sequence[Sequence[str]], folder: Path) -> Sentences:
    """The texts of a module that says these, with holes between the parts of each."""
    holes = ["f" + repr("{x}".join(parts)) for parts in texts]
    (folder / "module.py").write_text("\n".join(holes), encoding="utf-8")
    return Sentences([folder / "module.py"])


PIECES = st.sampled_from(
    ["still", "reads", "clone", "node", "nodes", "s", " ", " ", ", ", "(", "7"]
)
PARTS = st.lists(st.lists(PIECES, max_size=5).map("".join), min_size=2, max_size=3)
FILLS = st.lists(st.lists(PIECES, max_size=4).map("".join), min_size=2, max_size=2)
ENDS = st.lists(st.integers(0, 30), min_size=2, max_size=2).map(sorted)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(filled=PARTS, fills=FILLS, holes=st.lists(ENDS, min_size=1, max_size=3))
def test_words_of_ours_that_an_answer_brings_choose_nothing(
    filled: list[str],
    fills: list[str],
    holes: list[list[int]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """In two texts, with or without spaces, signs and numbers, at the edge of words of ours.

    Beside the text that is filled in, there are others that fit what becomes of it.
    """
    mine = filled[0] + "".join(f + part for f, part in zip(fills, filled[1:], strict=False))
    others = [(mine[:start], mine[end:]) for start, end in holes]
    sentences = sentences_of([filled, *others], tmp_path_factory.getbasetemp())
    usual = sentences.told(NEUTRAL.join(filled), "-", Brought(NEUTRAL))
    assert sentences.told(mine, "-", Brought([fills[0].upper(), {fills[1]: 1}])) in (usual, "-")


@pytest.mark.parametrize(
    ("said", "answer", "told"),
    [
        ("a_1 still reads b_2", ["a_1", "b_2"], "… still reads …"),
        ("reads still reads node", "reads,node\n1,2", "… still reads …"),  # names like our words
        ("a still reads b, not its clone", ["a", "b"], "… still reads …, not its clone"),
        ("a still reads b, not its clone", ["a", "b, not its clone"], "-"),
        ("a still reads b, not its clone", ["a", "b", {"NOT": ["its", "clone"]}], "-"),
        ("a still reads b, not its clone", ["a", "b", "not", "its", "clo", "ne"], "-"),
        ("an answer of no use", ["an answer", "of", 1, "no use"], "-"),  # said as it is
        ("a answer of no use", ["a"], "-"),
        ("42 17", [42, 17], "-"),
        ("the peak is 42", 42, "the peak is …"),
    ],
)
def test_what_an_answer_has_brought_is_not_told(
    said: str, answer: Any, told: str, tmp_path: Path
) -> None:
    texts = [["", " still reads ", ""], ["", " still reads ", ", not its clone"]]
    texts += [["an answer of no use"], ["42 17"], ["the peak is ", ""]]
    assert sentences_of(texts, tmp_path).told(said, "-", Brought(answer)) == told


def test_code_that_has_met_hidden_cases_has_no_words_for_public_ones(judge: Judge) -> None:
    reply = {"answer": NAMES}
    assert NAMES[0] in str(judge.judge("2.1", 0, reply))
    told = judge.judge("2.1", 0, reply, met_hidden=True)["findings"]
    assert told
    assert not any(name in str(told) for name in NAMES[:-1])


def test_the_names_of_hidden_cases_tell_no_node() -> None:
    for lab in ("lab4a", "project"):
        path = ROOT / "autograder" / "labs" / lab / "hidden_cases.json"
        for cases in json.loads(path.read_text()).values():
            for case in cases:
                nodes = set(re.findall(r"(\w+) \[label=", case["given"]["graph"]))
                assert not nodes & set(re.findall(r"\w+", case["name"])), case["name"]


def test_hints_are_told_of_hidden_cases(judge: Judge) -> None:
    wanted = judge._cases("1.4")[HIDDEN - 1].wanted
    for hint, nbytes in wanted["mistakes"].items():
        if nbytes != wanted["nbytes"] and list(wanted["mistakes"].values()).count(nbytes) == 1:
            reply = {"answer": {"nbytes": nbytes, "node": "x", "by_kind": {}}}
            (told,) = judge.judge("1.4", HIDDEN - 1, reply)["findings"]
            assert told["look"] == hint


def test_a_mistake_made_many_times_is_told_once(judge: Judge) -> None:
    told = judge.judge("1.1", HIDDEN, {"answer": {}})["findings"]
    assert 1 <= len(told) <= 3
    assert len({tuple(one.values()) for one in told}) == len(told)


@given(
    parts=st.lists(st.text(alphabet="ab ", max_size=4), min_size=1, max_size=4),
    fills=st.lists(st.text(alphabet="abc ", max_size=5), min_size=3, max_size=3),
)
def test_a_sentence_fits_whatever_is_filled_in(parts: list[str], fills: list[str]) -> None:
    sentence = Sentence(tuple(parts))
    text = parts[0] + "".join(f + p for f, p in zip(fills, parts[1:], strict=False))
    assert sentence.fits(text)
    pattern = ".*".join(map(re.escape, parts))
    for other in (f"{text}c", text[1:], "c" * 50):
        assert sentence.fits(other) == bool(re.fullmatch(pattern, other, re.S))


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


# ---- points ----------------------------------------------------------------------------------


def cases(public: str, hidden: str) -> list[CaseVerdict]:
    wrong = (Finding("a", "b", "c"),)
    return [
        CaseVerdict("x", is_hidden, () if letter == "+" else wrong)
        for letters, is_hidden in ((public, False), (hidden, True))
        for letter in letters
    ]


@pytest.mark.parametrize(
    ("public", "hidden", "share"),
    [
        ("++", "+++", 1),
        ("++", "---", 0),  # looked up
        ("++", "+-", 0.5),
        ("-+", "++", 0.75),
        ("--", "++", 0.5),
        ("+-", "", 0.5),  # a file, which has no hidden case
        ("", "", 0),
        ("", "+-", 0.5),
    ],
)
def test_hidden_cases_decide(public: str, hidden: str, share: float) -> None:
    assert share_of(cases(public, hidden)) == pytest.approx(share)
