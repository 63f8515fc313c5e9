"""Hand-ins that are alike are found in spite of other names; what many share is nobody's."""

from __future__ import annotations

import re

import nbformat
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom.similarity import Pair, pieces_of, similar

STUB = 'def largest(values):\n    """The largest."""\n    raise NotImplementedError\n'
OBVIOUS = "def largest(values):\n    return sorted([abs(v) + 1 for v in values], reverse=True)[0]\n"
ODD = """def largest(values):
    best, at = None, 0
    while at < len(values):
        if best is None or not values[at] <= best:
            best = values[at]
        at = at + 1
    if best is None:
        raise ValueError("nothing")
    return best
"""
OTHER = """def largest(values):
    first, *rest = values
    for one in rest:
        first = one if one > first else first
    return first
"""
PLACE = ("01", "t11")


def found(codes: dict[str, str]) -> list[Pair]:
    written = {student: {PLACE: [("code", code)]} for student, code in codes.items()}
    return similar(written, [("code", STUB), ("markdown", "The answer is a list of lengths.")])


def renamed(code: str, **names: str) -> str:
    for old, new in names.items():
        code = re.sub(rf"\b{old}\b", new, code)
    return code


def test_a_copy_with_other_names_comments_and_layout_is_found() -> None:
    copy = renamed(ODD, best="top", at="index").replace(
        "        at = ", "\n        # next\n        at = "
    )
    (pair,) = found({"ann": ODD, "bob": copy, "cleo": OTHER, "dan": OBVIOUS})
    assert pair.students == ("ann", "bob")
    (likeness,) = pair.alike
    assert likeness.place == PLACE
    assert likeness.share > 0.9
    marked = [likeness.texts[1].splitlines()[line] for line in sorted(likeness.lines[1])]
    assert "        if top is None or not values[index] <= top:" in marked
    assert "        # next" not in marked


@given(st.sampled_from(["top", "x", "running", "answer"]), st.sampled_from(["i", "n", "lengths"]))
def test_whatever_names_a_copy_has(best: str, at: str) -> None:
    (pair,) = found({"a": ODD, "b": renamed(ODD, best=best, at=at)})
    assert [likeness.share for likeness in pair.alike] == [1.0]


def test_what_many_share_and_what_was_released_tells_nothing() -> None:
    assert not found({f"s{n}": OBVIOUS * 3 for n in range(9)})
    assert not found({"a": STUB * 9, "b": STUB * 9})
    assert not found({"a": ODD, "b": OTHER})
    assert not found({"a": "x = 1", "b": "x = 1"}), "too little to tell"


def test_code_that_python_cannot_read_and_essays_are_compared_as_words() -> None:
    words = "the adder has fewer gates because every carry is two gates alone in a row and so on"
    essays = {s: {("01", "q1"): [("markdown", words)]} for s in ("a", "b")}
    assert len(similar(essays, [])) == 1
    broken = "def f(:\n" + "\n".join(f"    step {n} of many (" for n in range(20))
    assert len(found({"a": broken, "b": broken})) == 1


def test_only_what_students_wrote_is_compared() -> None:
    def cell(source: str, **marks: object) -> nbformat.NotebookNode:
        made = nbformat.v4.new_code_cell(source)
        return nbformat.from_dict({**made, "metadata": {"nbgrader": marks} if marks else {}})

    cells = [
        cell("import math"),
        cell(ODD, solution=True, grade_id="t11"),
        cell("check()", grade=True, locked=True, grade_id="c11"),
        cell("print(largest([1]))"),
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    assert pieces_of({"01": book}, frozenset({"import math"})) == {
        ("01", "t11"): [("code", ODD)],
        ("01", "c11"): [("code", "print(largest([1]))")],
    }
