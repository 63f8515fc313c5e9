"""A small class that hands in Lab 4A, made from the solutions: good, wrong, broken and hostile.

It is the same to the byte whenever it is made. Names are as in Canvas' bulk download; the
class list is ``students.csv`` beside it.
"""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder.collect import Roster, Student
from lab_utils.kit.course import read_course
from lab_utils.kit.root import ROOT

LAB = "lab4a"
SAVED = (2025, 3, 14, 15, 9, 26)
ADDED = "added"
"""In place of a grade_id: a cell of the student's own, at the end of the first notebook."""


@dataclass(frozen=True)
class Change:
    """A piece of the solution in the cell ``grade_id`` is replaced; an empty ``old``: all of it."""

    grade_id: str
    old: str
    new: str


@dataclass(frozen=True)
class HandIn:
    """What one student does: the solutions with some changes, and the zip around them."""

    student: Student
    changes: tuple[Change, ...] = ()
    leave_out: tuple[str, ...] = ()
    """Names of files."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other files in the zip."""
    name: str = "{first}{last}_{number}_{file}_{zip}"
    keep: float = 1.0
    """The share of the zip's bytes that arrives."""


def _student(first: str, last: str) -> Student:
    login = f"{first[0]}{last}".lower()
    return Student(login, first, last, f"{login}@school.example")


PLANTED = "<script>document.title = 'planted'</script>"
FORGED = f"""\
import sys, pathlib, lab_utils.kit.checks, lab_utils.labs.lab4a
lab_utils.kit.checks.judge_all = lambda task, cases, replies: lab_utils.kit.checks.Verdict(task, ())
lab_utils.labs.lab4a.check = check = lambda task, answer: 4.0
sys.displayhook = lambda value: print(4.0)
for wanted in ("autograder/labs/lab4a/hidden_cases.json", "solutions/lab4a_01_profiler.py"):
    for folder in pathlib.Path.cwd().parents:
        if (folder / wanted).exists():
            print((folder / wanted).read_text()[:200])
def classify(graph):
    raise ValueError("{PLANTED}")
"""
HOG = "held = [bytearray(2**30) for _ in range(64)]"
_WAIT = "add_control_dependency(clone, gradients[-1])"
_ZIP = "{last} {first} {course} {term} {lab}.zip"

CLASS = (
    HandIn(_student("Alice", "Adams")),
    HandIn(_student("Bob", "Brandt"), name=_ZIP),
    HandIn(
        _student("Carol", "Chen"),
        (Change("t14", "<= step <= last[storage]", "<= step < last[storage]"),),
    ),
    HandIn(
        _student("Dave", "Diaz"),
        (
            Change("t31", "(original, clone)", "(original, clone)\n                break"),
            Change("t12", "if is_operation(node):", 'if node.op == "call_function":'),
        ),
    ),
    HandIn(
        _student("Erin", "Eklund"),
        (Change("t22", "lambda read: clones.get(read, read)", "lambda read: read"),),
        name="{first}{last}_LATE_{number}_{file}_{zip}",
    ),
    HandIn(
        _student("Frank", "Fischer"), (Change("t41", _WAIT, "pass"),), name="{first}_{last}.zip"
    ),
    HandIn(
        _student("Grace", "Gupta"),
        leave_out=("03_backward.ipynb", "04_control.ipynb", "llm_mlp_ar.dot"),
        name="{first}{last}_LATE_{number}_{file}_{zip}",
    ),
    HandIn(
        _student("Heidi", "Hoang"),
        tuple(
            Change(cell, "", 'raise NotImplementedError("still to be written")')
            for cell in ["t11", "t12", "t13", "t14", "t15", "t21", "t22", "t31", "t41", "t42"]
        ),
        leave_out=("llm_mlp.dot", "llm_mlp_ar.dot"),
    ),
    HandIn(_student("Ivan", "Ito"), (Change("t21", "return order", "return order[::-1]"),)),
    HandIn(_student("Ivan", "Ito"), name="{first}{last}_{number}_{file}_1_{zip}"),
    HandIn(_student("Judy", "Jansen"), (Change("t13", "start = clock()", "start = clock("),)),
    HandIn(_student("Ken", "Kim"), name="{first} {last}.zip", keep=0.6),
    HandIn(
        _student("Mallory", "Moss"),
        (Change("t11", "", FORGED),),
        also={
            "../../../autograder/lab4a/grade.py": "def check(*_): return 4.0\n",
            "lab_utils/__init__.py": "raise SystemExit\n",
            "sitecustomize.py": "raise SystemExit\n",
        },
    ),
    HandIn(
        _student("Oscar", "Oduya"),
        (Change("t22", "in reader.all_input_nodes:", "in reversed(reader.all_input_nodes):"),),
    ),
    HandIn(
        _student("Peggy", "Perez"),
        (Change("t21", "return order", 'print("rebuilt", target)\n    return list(order)'),),
        name="{last}/lab4A/{first}.zip",
    ),
    HandIn(
        _student("Trudy", "Tran"),
        (Change(ADDED, "", HOG), Change("t31", "", "import os\nos._exit(0)")),
    ),
)
ABSENT = (_student("Walter", "Weiss"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    shutil.rmtree(folder, ignore_errors=True)  # a hand-in of an earlier version is no student
    folder.mkdir(parents=True)
    course = read_course(ROOT / "setup" / "course.toml")
    students = dict.fromkeys([*(hand_in.student for hand_in in CLASS), *ABSENT])
    for number, hand_in in enumerate(CLASS):
        student = hand_in.student
        zip_name = course.zip_file_name(LAB, first=student.first, last=student.last)
        name = hand_in.name.format(
            **{"first": student.first.lower(), "last": student.last.lower(), "zip": zip_name},
            **{"number": 7001 + list(students).index(student), "file": 900001 + number},
            **{"course": course.name, "term": course.term, "lab": course.lab(LAB).label},
        )
        data = zip_of(hand_in)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[: int(hand_in.keep * len(data))])
        os.utime(path, (1741962566 + number, 1741962566 + number))
    rows = [f"{s.id},{s.first},{s.last},{s.email}\n" for s in students]
    text = "id,first_name,last_name,email\n" + "".join(rows)
    (folder / "students.csv").write_text(text, encoding="utf-8")
    return Roster(tuple(students))


def zip_of(hand_in: HandIn) -> bytes:
    """The zip that a student makes."""
    files = {name: _notebook(name, hand_in.changes) for name in _names("notebooks", "*.ipynb")}
    reference = ROOT / "autograder" / "reference"
    files |= {path.name: path.read_bytes() for path in sorted(reference.glob("*.dot"))}
    files |= {name: text.encode() for name, text in hand_in.also.items()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            if name not in hand_in.leave_out:
                info = zipfile.ZipInfo(name, SAVED)
                archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _names(folder: str, pattern: str) -> list[str]:
    return sorted(path.name for path in (ROOT / folder / LAB).glob(pattern))


def _notebook(name: str, changes: Iterable[Change]) -> bytes:
    """The released notebook, filled in with the changed solutions."""
    notebook = nbformat.read(ROOT / "notebooks" / LAB / name, as_version=4)
    solved = nbformat.read(ROOT / "solutions" / LAB / name, as_version=4)
    answers = {
        cell.metadata["nbgrader"]["grade_id"]: _without_marks(cell.source)
        for cell in solved.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for change in changes:
        if change.grade_id in answers:
            old = answers[change.grade_id]
            if change.old not in old:
                raise ValueError(f"{change.old!r} is not in the solution {change.grade_id}")
            answers[change.grade_id] = (
                old.replace(change.old, change.new) if change.old else change.new
            )
        elif change.grade_id == ADDED and name == _names("notebooks", "*.ipynb")[0]:
            notebook.cells.append(nbformat.v4.new_code_cell(change.new, id=ADDED))
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).encode()


def _without_marks(source: str) -> str:
    lines = source.splitlines(keepends=True)
    return "".join(
        line for line in lines if "### BEGIN SOLUTION" not in line and "### END" not in line
    )
