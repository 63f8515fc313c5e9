"""The report: one mistake, one card; signs of tampering apart, and never on a student's page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from autograder.classroom.feedback import feedback_page
from autograder.classroom.remarks import FOR_STUDENTS, IN_OTHER_WORDS, SUSPICIOUS, for_students
from autograder.classroom.report import Column, _by_task, _mistakes, report_page
from autograder.classroom.sheet import Score, Sheet
from autograder.collect.records import RemarkKind
from autograder.grading.sandbox.host.job import Trouble
from autograder.grading.verdict import CaseVerdict, SubmissionVerdict, TaskVerdict
from autograder.remark import Remark
from lab_utils.kit.course import Assignment, Course
from lab_utils.kit.task import Finding

LAB = Assignment("one", "One", "one", ())
COURSE = Course("C", "T", "x.zip", {"one": LAB})


def finding(look: str) -> Finding:
    return Finding("yours", "wanted", look)


def task(
    number: str, public: Iterable[str] = (), hidden: Iterable[str] = (), failed: str = ""
) -> TaskVerdict:
    cases = (
        CaseVerdict("a public one", False, tuple(map(finding, public))),
        CaseVerdict("a hidden one", True, tuple(map(finding, hidden))),
    )
    return TaskVerdict(
        number, f"the task {number}", "01", f"t{number}", 0, 1, cases=cases, failed_cell=failed
    )


def sheet(student: str, *tasks: TaskVerdict, remarks: tuple[Remark, ...] = ()) -> Sheet:
    verdict = SubmissionVerdict(student, "one", "none", 0.1, "", tasks)
    scores = tuple(Score("01", one.grade_id, 0, 1) for one in tasks)
    return Sheet(student, student.title(), scores=scores, verdict=verdict, remarks=remarks)


def cards(*sheets: Sheet) -> list[tuple[str, str, int]]:
    return [(m.heading, m.example.look, len(m.students)) for m in _mistakes(sheets)]


def test_one_mistake_is_one_card_however_many_findings() -> None:
    bits = task("1.1", ["These are bits."], ["These are bits.", "What is special here?"])
    bool_ = task("1.1", [], ["What is special here?"])
    found = _mistakes([sheet("a", bits), sheet("b", bits), sheet("c", bool_)])
    told = [(m.example.look, sorted(m.students)) for m in found]
    assert told == [
        ("What is special here?", ["a", "b", "c"]),
        ("These are bits.", ["a", "b"]),
    ], "c has another mistake, which the others may have too"
    alone = _mistakes([sheet("a", bits), sheet("b", bits)])
    assert [(m.example.look, m.also) for m in alone] == [
        ("These are bits.", ["What is special here?"])
    ]


def test_a_sentence_with_its_names_left_open_is_no_other_one() -> None:
    named = "As long as one node reads l1_mm, it stays."
    left_open = named.replace("l1_mm", "…")
    (found,) = _mistakes([sheet("a", task("3.1", [named], [left_open]))])
    assert (found.example.look, found.also) == (named, [])


def test_a_cell_that_failed_is_one_card_for_all_its_tasks() -> None:
    lost = [
        task(n, [f"line {n} of that cell"], [f"line {n} of that cell"], "SyntaxError")
        for n in ("1.1", "1.2", "1.3")
    ]
    assert cards(sheet("a", *lost), sheet("b", lost[0])) == [
        ("A cell did not run: SyntaxError", "line 1.1 of that cell", 2)
    ]


def test_what_was_not_written_yet_is_a_mistake_of_its_task() -> None:
    left = [task(n, ["Still to be written."], failed="NotImplementedError") for n in ("1.1", "1.2")]
    assert [heading for heading, _, _ in cards(sheet("a", *left))] == [
        "Task 1.1: the task 1.1",
        "Task 1.2: the task 1.2",
    ]


def test_what_waits_for_a_person_counts_in_no_share() -> None:
    essay = replace(sheet("a", task("1.1")), scores=(Score("01", "t1.1", 0, 1, waiting=True),))
    read = replace(essay, scores=(Score("01", "t1.1", 1, 1),))
    for sheets, told in (([essay], ">–<"), ([essay, read], ">100%<")):
        assert told in str(_by_task(sheets, [Column("q1", "an essay")]))


def test_tampering_stands_apart_and_never_on_a_students_page() -> None:
    odd = tuple(Remark(kind, f"a sign of {kind}") for kind in sorted(SUSPICIOUS))
    late = Remark(RemarkKind.MISSING_NOTEBOOK, "Missing: 02.")
    one = sheet("a", task("1.1"), remarks=(*odd, late))
    page = report_page([one], COURSE, LAB, rules="0123456789abcdef")
    _, apart = page.split("Perhaps tampering")
    signs, harmless = apart.split("<h2>Remarks</h2>")
    assert all(remark.text in signs for remark in odd)
    assert not any(remark.text in harmless for remark in odd)
    assert late.text in harmless
    assert "Python 3." in page
    assert "judges 0123456789ab." in page
    told = feedback_page(one, COURSE, LAB)
    assert "a sign of" not in told
    assert "tamper" not in told
    assert not SUSPICIOUS & FOR_STUDENTS
    assert "tamper" not in " ".join(IN_OTHER_WORDS.values())
    assert for_students([Remark(Trouble.TAMPERED, "replaced")]) == ()
