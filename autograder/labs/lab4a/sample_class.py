"""A small class that hands in Lab 4A: good, wrong, broken and hostile."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import ADDED, Change, Example, student, write_class
from autograder.collect import Roster
from lab_utils.kit.root import ROOT

LAB = "lab4a"
PLANTED = "<script>document.title = 'planted'</script>"
FORGED = f"""\
import sys, pathlib, lab_utils.kit.ask, lab_utils.labs.lab4a
lab_utils.kit.ask.attempt = lambda *_: {{}}
lab_utils.labs.lab4a.check = check = lambda task, answer: 4.0
sys.displayhook = lambda value: print(4.0)
for wanted in ("autograder/labs/lab4a/hidden_cases.json", "solutions/lab4a/01_profiler.py"):
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
    Example(student("Alice", "Adams")),
    Example(student("Bob", "Brandt"), name=_ZIP),
    Example(
        student("Carol", "Chen"),
        (Change("t14", "<= step <= last[storage]", "<= step < last[storage]"),),
    ),
    Example(
        student("Dave", "Diaz"),
        (
            Change("t31", "(original, clone)", "(original, clone)\n                break"),
            Change("t12", "if is_operation(node):", 'if node.op == "call_function":'),
        ),
    ),
    Example(
        student("Erin", "Eklund"),
        (Change("t22", "lambda read: clones.get(read, read)", "lambda read: read"),),
        name="{first}{last}_LATE_{number}_{file}_{zip}",
    ),
    Example(
        student("Frank", "Fischer"), (Change("t41", _WAIT, "pass"),), name="{first}_{last}.zip"
    ),
    Example(
        student("Grace", "Gupta"),
        leave_out=("03_backward.ipynb", "04_control.ipynb", "llm_mlp_ar.dot"),
        name="{first}{last}_LATE_{number}_{file}_{zip}",
    ),
    Example(
        student("Heidi", "Hoang"),
        tuple(
            Change(cell, "", 'raise NotImplementedError("still to be written")')
            for cell in ["t11", "t12", "t13", "t14", "t15", "t21", "t22", "t31", "t41", "t42"]
        ),
        leave_out=("llm_mlp.dot", "llm_mlp_ar.dot"),
    ),
    Example(student("Ivan", "Ito"), (Change("t21", "return order", "return order[::-1]"),)),
    Example(student("Ivan", "Ito"), name="{first}{last}_{number}_{file}_1_{zip}"),
    Example(student("Judy", "Jansen"), (Change("t13", "start = clock()", "start = clock("),)),
    Example(student("Ken", "Kim"), name="{first} {last}.zip", keep=0.6),
    Example(
        student("Mallory", "Moss"),
        (Change("t11", "", FORGED),),
        also={
            "../../../autograder/labs/lab4a/hidden.py": "def check(*_): return 4.0\n",
            "lab_utils/__init__.py": "raise SystemExit\n",
            "sitecustomize.py": "raise SystemExit\n",
        },
    ),
    Example(
        student("Oscar", "Oduya"),
        (Change("t22", "in reader.all_input_nodes:", "in reversed(reader.all_input_nodes):"),),
    ),
    Example(
        student("Peggy", "Perez"),
        (Change("t21", "return order", 'print("rebuilt", target)\n    return list(order)'),),
        name="{last}/lab4A/{first}.zip",
    ),
    Example(
        student("Trudy", "Tran"),
        (Change(ADDED, "", HOG), Change("t31", "", "import os\nos._exit(0)")),
    ),
)
ABSENT = (student("Walter", "Weiss"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    reference = sorted((ROOT / "autograder" / "reference").glob("*.dot"))
    files = {path.name: path.read_bytes() for path in reference}
    return write_class(folder, LAB, CLASS, ABSENT, files)
