"""A course with one tiny lab, stock nbgrader to grade it, and notebooks as front ends save them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from copy import deepcopy
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook

from lab_utils.kit.files import HandedIn
from lab_utils.kit.lab import LABS, Lab, Small
from lab_utils.kit.root import ROOT

LAB = "sample"
NOTEBOOK = "01_first"
SOURCE = f"solutions/{LAB}/{NOTEBOOK}.py"

COURSE = f"""
[course]
name = "ECE 1 TEST"
term = "fa00"
zip_name = "{{last}} {{first}} {{course}} {{term}} {{lab}}.zip"

[labs.{LAB}]
title = "A sample"
label = "labS"
notebooks = [{{ name = "{NOTEBOOK}", points = 7 }}]
"""

FILES = (HandedIn("llm_mlp.dot"), HandedIn("memory.csv", measured=True))
SIZE = Small("SAMPLE_SIZE", "small", "full")


def set_sample_lab(*files: HandedIn) -> None:
    """Let the kit find the lab of the sample course, as if its package were there."""
    name = f"{LABS}.{LAB}"
    module = sys.modules.setdefault(name, ModuleType(name))
    module.__spec__ = ModuleSpec(name, None)
    lab = Lab(home=name, tasks=(), noun="graph", files=files, small=SIZE)
    module.LAB = lab  # type: ignore[attr-defined]


set_sample_lab(*FILES)

HEADER = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

"""

SAMPLE = f"""{HEADER}\
# %% [markdown]
# # A sample
# With a picture: ![dot](images/dot.svg)

# %% readonly=setup
import math

# %% solution=t11
def doubled(x):
    \"\"\"Twice `x`.\"\"\"
    ### BEGIN SOLUTION
    twice_as_much = x + x
    return twice_as_much
    ### END SOLUTION

# %%
doubled(21)

# %% test=t11_test points=2
### BEGIN HIDDEN TESTS
assert doubled(20.5) == 41
### END HIDDEN TESTS
assert doubled(3) == 6

# %% solution=t12
def root_of(square):
    ### BEGIN SOLUTION
    return math.isqrt(square)
    ### END SOLUTION

# %% test=t12_test points=3
cases = {{4: 2}}
### BEGIN HIDDEN TESTS
cases |= {{100: 10, 121: 11, 10000: 100}}
### END HIDDEN TESTS
3 * sum(root_of(square) == root for square, root in cases.items()) / len(cases)

# %% [markdown] answer=q1 points=1
# Why is a sum cheaper than a product?
# ### BEGIN SOLUTION
# Adders have fewer gates than multipliers.
# ### END SOLUTION

# %% [markdown] task=q2 points=1
# Draw an adder.
# ### BEGIN MARK SCHEME
# Half a point for the carry.
# ### END MARK SCHEME
"""


def make_course(folder: Path, source: str = SAMPLE) -> Path:
    """A course below ``folder`` that has our nbgrader settings and one lab, not built yet."""
    worth = sum(float(points) for points in re.findall(r"points=([\d.]+)", source))
    write(folder / "setup" / "course.toml", COURSE.replace("points = 7", f"points = {worth:g}"))
    write(folder / SOURCE, source)
    write(folder / "solutions" / LAB / "images" / "dot.svg", "<svg/>")
    for name in ("nbgrader_config.py", "autograder/nbgrader_config.py"):
        write(folder / name, (ROOT / name).read_text())
    return folder


def write(path: Path, text: str) -> None:
    """Write a file, and the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def submit(course: Path, lab: str, student: str, notebooks: Mapping[str, NotebookNode]) -> None:
    """Put notebooks (by name) where nbgrader looks for what a student handed in."""
    for name, notebook in notebooks.items():
        path = course / "autograder" / "submitted" / student / lab / f"{name}.ipynb"
        write(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT))


def folder_of(step: Path, lab: str) -> dict[str, NotebookNode]:
    """The notebooks of a lab by name; ``step`` is ``solutions/`` or ``notebooks/``."""
    return {
        path.stem: nbformat.read(path, as_version=nbformat.NO_CONVERT)
        for path in sorted((step / lab).glob("*.ipynb"))
    }


def autograde(course: Path, lab: str) -> dict[str, dict[str, float | None]]:
    """Run plain ``nbgrader autograde`` in ``course``; what each student got for each cell.

    Cells are named ``notebook/grade_id``. None: left to be graded by hand.
    """
    elsewhere = str(course / "no-settings")  # of the person who runs the tests
    result = subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", lab],
        cwd=course,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_CONFIG_DIR": elsewhere,
            "IPYTHONDIR": elsewhere,
        },
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    with Gradebook(f"sqlite:///{course}/autograder/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                f"{notebook.name}/{grade.name}": grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(lab)
        }


def troubles(course: Path, lab: str, student: str) -> list[str]:
    """What went wrong while the notebooks of a student ran, one line for each cell and output."""
    return [
        f"{name}/{cell.id}: {output.get('evalue') or output.get('text')}"
        for name, notebook in folder_of(course / "autograder" / "autograded" / student, lab).items()
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def full_marks(notebooks: Mapping[str, NotebookNode]) -> dict[str, float]:
    """The points of every cell that is graded by running it, named ``notebook/grade_id``."""
    return {
        f"{name}/{grading['grade_id']}": grading["points"]
        for name, notebook in notebooks.items()
        for cell in notebook.cells
        if (grading := cell.metadata.get("nbgrader", {})).get("grade") and grading["locked"]
    }


def fill(notebook: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of ``notebook`` with other text in the cells with these grade ids."""
    filled = deepcopy(notebook)
    for cell in filled.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source)
    return filled


def solved_by_a_student(lab: str) -> dict[str, NotebookNode]:
    """The released notebooks of a lab with our solutions in the students' cells."""
    solved = folder_of(ROOT / "solutions", lab)
    filled = {}
    for name, notebook in folder_of(ROOT / "notebooks", lab).items():
        answers = {
            marks["grade_id"]: cell.source
            for cell in solved[name].cells
            if (marks := cell.metadata.get("nbgrader", {})).get("solution")
        }
        assert answers
        filled[name] = fill(notebook, answers)
    return filled


def as_colab(notebook: NotebookNode) -> NotebookNode:
    """The notebook as Colab saves it: an older format, no cell ids, marks of its own."""
    saved = _without_ids(notebook, minor=0)
    saved.metadata = NotebookNode(
        kernelspec={"display_name": "Python 3", "name": "python3"},
        language_info={"name": "python"},
        colab={"provenance": [], "toc_visible": True},
    )
    for number, cell in enumerate(saved.cells):
        cell.metadata["id"] = f"cOlAb{number:07}"
        if cell.cell_type == "code":
            cell.execution_count = number
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="printed\n")]
            cell.metadata["outputId"] = f"0b5c{number:08}-1234"
    return saved


def as_vscode(notebook: NotebookNode) -> NotebookNode:
    """The notebook as VS Code saves it: no cell ids, and the kernel of somebody's machine."""
    saved = _without_ids(notebook, minor=2)
    saved.metadata = NotebookNode(
        kernelspec={"display_name": ".conda", "language": "python", "name": "conda-env-hml-py"},
        language_info={"name": "python", "version": "3.12.4", "nbconvert_exporter": "python"},
    )
    for number, cell in enumerate(saved.cells):
        # It neither shows nor keeps what only JupyterLab knows.
        cell.metadata.pop("editable", None)
        cell.metadata.pop("deletable", None)
        if cell.cell_type == "code":
            cell.execution_count = number
            cell.metadata["vscode"] = {"languageId": "python"}
    return saved


def _without_ids(notebook: NotebookNode, minor: int) -> NotebookNode:
    saved = deepcopy(notebook)
    saved.nbformat_minor = minor
    for cell in saved.cells:
        del cell["id"]
    return saved


def copy_course(folder: Path) -> Path:
    """A copy of this repository's course: its settings and its sources, nothing built."""
    derived = shutil.ignore_patterns("__pycache__", "*.ipynb")
    for name in ("setup", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=derived)
    for name in ("nbgrader_config.py", "autograder/nbgrader_config.py"):
        write(folder / name, (ROOT / name).read_text())
    return folder
