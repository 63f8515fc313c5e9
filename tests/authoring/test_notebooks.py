"""From text to graded notebooks: what is built, what must never leak, what stock nbgrader gives."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.authoring.build import Files, build, derive, register, stale
from autograder.authoring.derived import derived_files, write_or_check
from autograder.authoring.frame import FRAME
from autograder.release.leaks import TELLING_FAR, leaks, texts
from lab_utils.kit.course import START, Assignment, read_course
from lab_utils.kit.errors import LabError
from tests.support.sample_course import (
    HEADER,
    LAB,
    NOTEBOOK,
    ROOT,
    SAMPLE,
    SOURCE,
    as_colab,
    as_vscode,
    autograde,
    copy_course,
    fill,
    folder_of,
    full_marks,
    make_course,
    submit,
    troubles,
    write,
)

SOLVED = f"solutions/{LAB}/{NOTEBOOK}.ipynb"
RELEASED = f"notebooks/{LAB}/{NOTEBOOK}.ipynb"
LABS = list(read_course().labs.values())
DIALECTS = ["jupyter", "colab", "vscode"]


@cache
def derived() -> Files:
    """What is built from the texts of this repository."""
    return derive()


def below_notebooks(files: Files) -> Files:
    return {path: content for path, content in files.items() if path.startswith("notebooks/")}


def written(notebook: bytes) -> list[dict[str, Any]]:
    """The cells of a notebook that its source wrote."""
    return [cell for cell in json.loads(notebook)["cells"] if cell["id"] not in FRAME]


def test_every_notebook_starts_alike_and_the_last_one_hands_in() -> None:
    files = derived()
    for lab in LABS:
        for notebook in lab.notebooks:
            cells = json.loads(files[f"notebooks/{lab.id}/{notebook.name}.ipynb"])["cells"]
            ids = [cell["id"] for cell in cells]
            code = [cell["id"] for cell in cells if cell["cell_type"] == "code"]
            assert code[0] == "start"
            assert ("hand-in" in ids) == (notebook is lab.notebooks[-1])


def test_a_borrowed_notebook_speaks_of_its_own_lab() -> None:
    """Its title and points are the borrower's, and one that ends early says so."""
    files = derived()

    def head_and_end(path: str) -> tuple[str, str]:
        texts = [c["source"] for c in json.loads(files[path])["cells"]]
        return "".join(texts[0]), "".join("".join(text) for text in texts[-2:])

    head, _ = head_and_end("notebooks/project/05b_checkin.ipynb")
    assert head.startswith("# Project, notebook 5b: BERT and ResNet-152 (first part)\n")
    assert "It ends after the first part" in head
    assert "\n**7 points.** " in head
    assert "2 hours" not in head
    head, end = head_and_end("notebooks/project/06_experiments.ipynb")
    assert "\n**15 points, about 2 hours" in head
    assert "`llm_mlp.dot`, `llm_mlp_ar.dot`, `memory.csv` and `latency.csv`" in end
    head, end = head_and_end("notebooks/lab4a/04_control.ipynb")
    assert head.startswith("# Lab 4A, notebook 4: ")
    assert "the notebooks, `llm_mlp.dot` and `llm_mlp_ar.dot`." in end


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return make_course(tmp_path)


@pytest.fixture
def built(course: Path) -> Path:
    build(course)
    return course


def test_sources_are_cells_as_jupytext_reads_them(course: Path) -> None:
    wanted = [cell.source for cell in jupytext.reads(SAMPLE, fmt="py:percent").cells]
    assert ["".join(cell["source"]) for cell in written(derive(course)[SOLVED])] == wanted


def test_options_become_metadata_in_full(course: Path) -> None:
    notebook = json.loads(derive(course)[SOLVED])
    found = {
        grading["grade_id"]: (
            "".join(flag[0] for flag in ("grade", "locked", "solution", "task") if grading[flag]),
            grading.get("points"),
        )
        for cell in notebook["cells"]
        if (grading := cell["metadata"].get("nbgrader"))
    }
    assert found == {
        "setup": ("l", None),
        "t11": ("s", None),
        "t11_test": ("gl", 2),
        "t12": ("s", None),
        "t12_test": ("gl", 3),
        "q1": ("gs", 1),
        "q2": ("lt", 1),
    }
    ids = [cell["id"] for cell in notebook["cells"]]
    assert set(found) < set(ids)
    assert len(set(ids)) == len(ids)


def test_a_cell_that_only_shows_something_says_so(tmp_path: Path) -> None:
    make_course(tmp_path, f"{SAMPLE}\n# %% shows\n'shown'\n")
    for path in (SOLVED, RELEASED):
        cells = written(derive(tmp_path)[path])
        (cell,) = [cell for cell in cells if "".join(cell["source"]) == "'shown'"]
        assert cell["metadata"]["course"] == {"shows": True}


def test_students_get_stubs_public_lines_and_pictures(course: Path) -> None:
    files = derive(course)
    assert files.keys() == {SOLVED, RELEASED, f"notebooks/{LAB}/images/dot.svg"}
    assert not leaks([SAMPLE], below_notebooks(files))
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(files[RELEASED])["cells"]}
    assert cells["t11_test"] == "assert doubled(3) == 6"
    assert cells["q2"] == "Draw an adder."
    namespace: dict[str, Any] = {}
    exec(cells["t11"], namespace)
    with pytest.raises(NotImplementedError, match="run it again"):
        namespace["doubled"](1)


@pytest.mark.parametrize(
    "planted",
    [
        {"cells": [], "metadata": {"author": {"notes": "    twice_as_much = x + x"}}},
        {"cells": [{"attachments": {"half a point for the carry.md": {}}}]},
        {"cells": [{"source": ["x\n", "# Half a point for the carry.\n"]}]},
    ],
)
def test_a_leak_would_be_found(planted: Any) -> None:
    source = SAMPLE.replace("Half a point", "half a point")
    text = json.dumps(planted).replace("Half a point", "half a point")
    assert leaks([source], {RELEASED: text.encode()})


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A source with cells of all kinds; SECRET… stands in regions, PUBLIC… outside."""
    region = {"solution": "SOLUTION", "answer": "SOLUTION"}
    region |= {"test": "HIDDEN TESTS", "task": "MARK SCHEME"}
    kinds = [*region, "readonly", "plain"]
    cells = []
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=8))):
        markdown = kind == "task" or (kind not in ("test", "solution") and draw(st.booleans()))
        body = []
        needs_region = kind in ("solution", "answer")
        for part in range(draw(st.integers(int(needs_region), 3))):
            body += [f"PUBLIC_{number}_{part}"] * draw(st.integers(0, 2))
            if kind in region:
                inside = [f"SECRET_{number}_{part}"] * draw(st.integers(1, 2))
                body += [f"### BEGIN {region[kind]}", *inside, f"### END {region[kind]}"]
        options = "" if kind == "plain" else f" {kind}=name{number}"
        options += " points=1.5" if kind in ("test", "answer", "task") else ""
        cells.append(f"# %%{' [markdown]' * markdown}{options}")
        cells += [f"# {line}" for line in body] if markdown else body
        cells += [""] * draw(st.integers(0, 2))
    return HEADER + "\n".join(cells) + "\n"


@given(sources())
@settings(max_examples=25)
def test_no_region_leaks_and_all_else_arrives(source: str) -> None:
    with TemporaryDirectory() as folder:
        course = make_course(Path(folder), source)
        files = derive(course)
        assert files == derive(course)
    solved, released = files[SOLVED].decode(), files[RELEASED].decode()
    assert "SECRET" not in released
    assert "BEGIN" not in released
    assert solved.count("SECRET") == source.count("SECRET")
    arrived = "".join("".join(cell["source"]) for cell in json.loads(released)["cells"])
    assert arrived.count("PUBLIC") == source.count("PUBLIC")
    ids = [[cell["id"] for cell in json.loads(text)["cells"]] for text in (solved, released)]
    assert ids[0] == ids[1]


SOLUTION = "# %% solution=t1\n### BEGIN SOLUTION\nx = 1\n### END SOLUTION\n"


@pytest.mark.parametrize(
    ("cells", "line", "words"),
    [
        ("# %% solutoin=t1", 1, "a cell has no 'solutoin=t1'; it may have solution=, test="),
        ("# %% A title", 1, "a cell has no 'A'"),
        ('# %% nbgrader={"grade": true}', 1, "a cell has no 'nbgrader="),
        ("# %% [raw]", 1, "a cell has no '[raw]'"),
        ("# %% solution=t1 test=t1 points=1", 1, "one thing only"),
        ("# %% readonly=t1 shows", 1, "only shows something is code, and nothing else"),
        ("# %% [markdown] shows", 1, "only shows something is code"),
        ("# %% test=t1\nx", 1, "test= needs points"),
        ("# %% test=t1 points=one", 1, "needs points, as in points=1"),
        ("# %% [markdown] task=t1\n# text", 1, "task= needs points"),
        ("# %% points=1", 1, "points belong to"),
        (SOLUTION.replace("t1", "t1 points=1"), 1, "points belong to"),
        ("# %% readonly=", 1, "must be a name"),
        ("# %% readonly=a.b", 1, "must be a name"),
        ("# %% task=t1 points=1", 1, "task= cannot be code"),
        ("# %% [markdown] test=t1 points=1", 1, "test= cannot be markdown"),
        (SOLUTION + SOLUTION, 5, "'t1' is taken by the cell in line 9"),
        (SOLUTION + "# %% test=t1 points=1", 5, "'t1' is taken"),
        ("# %% solution=t1\nx = 1", 1, "needs a region: ### BEGIN SOLUTION"),
        ("# %% [markdown] answer=t1 points=1\n# x", 1, "needs a region"),
        ("# %%\n### BEGIN SOLUTION\n### END SOLUTION", 2, "into a cell with solution= or answer="),
        ("# %%\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", 2, "into a cell with test="),
        (SOLUTION.replace("SOLUTION", "HIDDEN TESTS"), 2, "into a cell with test="),
        ("# %% [markdown]\n# ### BEGIN MARK SCHEME\n# ### END MARK SCHEME", 2, "with task="),
        ("# %% solution=t1\nx\n### BEGIN SOLUTION\nx", 3, "never closed: add `### END SOLUTION`"),
        ("# %% solution=t1\n### END SOLUTION", 2, "no SOLUTION region begins"),
        (SOLUTION.replace("x = 1", "### BEGIN SOLUTION"), 3, "of line 10 has not ended"),
        ("# %% test=t1 points=1\n### BEGIN HIDDEN TEST\nx\n### END HIDDEN TEST", 2, "nearly"),
        ("# %% test=t1 points=1\n### begin hidden tests\nx\n### end hidden tests", 2, "nearly"),
        ("# %%\nx = 1  # ### BEGIN SOLUTION", 2, "nearly a region"),
        ("# %%\ndef f():\n    # %%\n    return 1", 3, "would begin a new cell"),
        ("# %%\ndef f():\n# %%\n    return 1", 2, "not Python (expected an indented block"),
        ('# %%\nx = """\n# %%\n"""', 2, "inside a string or a function?"),
        ("# %% [markdown]\n# text\n#%% more", 3, "would begin a new cell"),
        ("# %%\n%matplotlib inline", 2, "not Python"),
        ("x = 1\n# %%", 1, "text before the first cell"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_line(
    tmp_path: Path, cells: str, line: int, words: str
) -> None:
    make_course(tmp_path, HEADER + cells)
    with pytest.raises(LabError) as caught:
        build(tmp_path)
    (error,) = str(caught.value).splitlines()
    header = HEADER.count("\n")
    assert error.startswith(f"{SOURCE}:{header + line}: ")
    assert words in error
    assert not (tmp_path / "notebooks").exists()


def test_a_source_without_header_is_refused(tmp_path: Path) -> None:
    make_course(tmp_path, SAMPLE.removeprefix(HEADER))
    with pytest.raises(LabError, match=f"{SOURCE}:1: no jupytext header"):
        derive(tmp_path)


def test_cell_magics_stay_what_they_are(tmp_path: Path) -> None:
    make_course(tmp_path, f"{HEADER}# %%\n# %%time\n# !ls\nx = 1\n")
    (cell,) = written(derive(tmp_path)[RELEASED])
    assert "".join(cell["source"]) == "%%time\n!ls\nx = 1"


def test_a_source_that_the_course_does_not_list_is_refused(course: Path) -> None:
    write(course / f"solutions/{LAB}/02_second.py", SAMPLE)
    with pytest.raises(LabError, match="02_second.py:1: setup/course.toml lists no such notebook"):
        derive(course)


@pytest.mark.parametrize("name", ["notes.txt", "graphs/answer.dot"])
def test_a_file_that_nbgrader_would_give_away_is_refused(course: Path, name: str) -> None:
    write(course / "solutions" / LAB / name, "the answer")
    with pytest.raises(LabError, match=f"solutions/{LAB}/{name}: nbgrader would give this"):
        derive(course)


@pytest.mark.parametrize("name", ["answer.py", "images/answer.py", ".ipynb_checkpoints/a.ipynb"])
def test_python_files_and_caches_stay_with_us(course: Path, name: str) -> None:
    wanted = derive(course)
    write(course / "solutions" / LAB / name, "the answer")
    assert derive(course) == wanted


def test_every_build_gives_the_same_bytes(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, autograder.authoring.build as b; b.build(pathlib.Path(sys.argv[1]))"
    )
    found = []
    for seed in ("1", "2"):
        course = make_course(tmp_path / f"course {seed}")
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(course)]
        subprocess.run(command, env=environment, cwd=course, check=True, capture_output=True)
        found.append([(course / path).read_bytes() for path in (SOLVED, RELEASED)])
    assert found[0] == found[1]
    assert all(content.endswith(b"}\n") for content in found[0])


def test_an_edit_changes_the_id_of_no_other_cell(course: Path) -> None:
    before = [cell["id"] for cell in json.loads(derive(course)[SOLVED])["cells"]]
    write(course / SOURCE, SAMPLE.replace("# %%\ndoubled(21)", "# %%\n1\n\n# %%\ndoubled(21)"))
    after = [cell["id"] for cell in json.loads(derive(course)[SOLVED])["cells"]]
    assert len(after) == len(before) + 1
    assert [cell_id for cell_id in after if cell_id in before] == before


def test_check_names_what_is_stale(built: Path) -> None:
    assert build(built, check=True) == []
    write(built / SOURCE, SAMPLE.replace("A sample", "Another sample"))
    (built / RELEASED).unlink()
    write(built / "notebooks" / "old" / "09_gone.ipynb", "{}")
    lines = build(built, check=True)
    named = [
        (RELEASED, "missing"),
        ("notebooks/old/09_gone.ipynb", "no source"),
        (SOLVED, "differs"),
    ]
    assert len(lines) == len(named)
    for line, words in zip(lines, named, strict=True):
        assert all(word in line for word in words)


def test_what_has_no_source_any_more_is_removed_and_the_rest_stays(built: Path) -> None:
    write(built / "notebooks" / "README.md", "for students")
    write(built / "notebooks" / LAB / "mine.dot", "digraph {}")
    write(built / "notebooks" / ".ipynb_checkpoints" / "a.ipynb", "{}")
    (built / SOURCE).unlink()
    with pytest.raises(LabError, match=f"{SOURCE} is not there, though setup/course.toml lists"):
        build(built)
    toml = (built / "setup" / "course.toml").read_text()
    write(built / "setup" / "course.toml", re.sub(r"notebooks = .*", "notebooks = []", toml))
    (built / "solutions" / LAB / "images" / "dot.svg").unlink()
    build(built)
    left = {path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file()}
    assert {path for path in left if path.startswith(("solutions", "notebooks"))} == {
        "notebooks/README.md",
        "notebooks/.ipynb_checkpoints/a.ipynb",
        f"notebooks/{LAB}/mine.dot",
    }


def test_building_runs_nothing_and_leaves_no_gradebook(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    cells = f"# %% test=t1 points=1\nopen({str(ran)!r}, 'w')\n# AUTOTEST 1 + 1\n"
    course = make_course(tmp_path / "course", HEADER + cells)
    build(course)
    assert not ran.exists()
    assert not list(course.rglob("*.db"))


def test_a_gradebook_learns_the_hidden_tests_and_the_release_stays(built: Path) -> None:
    wanted = derive(built)
    db_url = f"sqlite:///{built}/other.db"
    register(LAB, built, db_url)
    with Gradebook(db_url) as gradebook:
        assert "20.5" in gradebook.find_source_cell("t11_test", NOTEBOOK, LAB).source
        assert gradebook.find_assignment(LAB).max_score == 7
    assert not stale(built, wanted)


def test_nbgrader_itself_makes_the_same_release(built: Path) -> None:
    wanted = derive(built)
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", LAB, "--force"]
    subprocess.run(command, cwd=built, check=True, capture_output=True)
    assert not stale(built, wanted)


def test_stock_autograde_gives_the_same_points_whatever_saved_the_notebook(built: Path) -> None:
    released = folder_of(built / "notebooks", LAB)[NOTEBOOK]
    solved = folder_of(built / "solutions", LAB)[NOTEBOOK]
    half = fill(
        released,
        {"t11": "doubled = lambda x: 2 * x", "t12": "root_of = {4: 2, 100: 10}.get"},
    )
    # A student's edit of a test counts for nothing.
    half = fill(half, {"t11_test": "assert True"})
    wanted = {
        "solved": (solved, 2.0, 3.0),
        "half": (half, 2.0, 1.5),
        "unfilled": (released, 0.0, 0.0),
    }
    dialects = {"jupyter": lambda notebook: notebook, "colab": as_colab, "vscode": as_vscode}
    for student, (notebook, *_) in wanted.items():
        for dialect, save in dialects.items():
            submit(built, LAB, f"{student}-{dialect}", {NOTEBOOK: save(notebook)})
    found = {
        student: (grades[f"{NOTEBOOK}/t11_test"], grades[f"{NOTEBOOK}/t12_test"])
        for student, grades in autograde(built, LAB).items()
    }
    assert found == {
        f"{student}-{dialect}": tuple(points)
        for student, (_, *points) in wanted.items()
        for dialect in dialects
    }


def sources_of(lab: Assignment) -> list[str]:
    names = [f"{notebook.source}.py" for notebook in lab.notebooks]
    return [(ROOT / "solutions" / name).read_text(encoding="utf-8") for name in names]


def test_built_files_are_up_to_date() -> None:
    assert not stale(ROOT, derived()), "run make notebooks"


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.id)
def test_cases_and_pictures_are_up_to_date(lab: Assignment) -> None:
    assert not write_or_check(derived_files([lab.id]), check=True), "run make notebooks"


def test_students_get_what_is_built_and_nothing_else() -> None:
    released = {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in (ROOT / "notebooks").rglob("*")
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }
    assert (
        released.keys() - {"notebooks/README.md", f"notebooks/{START}"}
        == below_notebooks(derived()).keys()
    )
    assert not [text for text in texts(released) if "autograder" in text.lower()]


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.id)
def test_nothing_of_a_lab_leaks(lab: Assignment) -> None:
    released = below_notebooks(derived())
    for source in sources_of(lab):
        # Each against all notebooks of the lab: an answer to 01 must not stand in 02 either.
        assert not leaks([source], {p: c for p, c in released.items() if f"/{lab.id}/" in p})
        assert not leaks([source], released, TELLING_FAR)


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.id)
def test_notebooks_of_a_lab_are_sound(lab: Assignment) -> None:
    files = derived()
    for step in ("solutions", "notebooks"):
        for wanted in lab.notebooks:
            text = files[f"{step}/{lab.id}/{wanted.name}.ipynb"].decode()
            notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
            nbformat.validate(notebook)
            gradings = [c.metadata["nbgrader"] for c in notebook.cells if "nbgrader" in c.metadata]
            graded = [grading for grading in gradings if grading["grade"] or grading["task"]]
            worth = wanted.points + wanted.bonus
            assert sum(grading["points"] for grading in graded) == worth, wanted.name
            assert all(grading["locked"] or grading["solution"] for grading in graded)
            ids = [grading["grade_id"] for grading in gradings]
            assert len(set(ids)) == len(ids)
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    assert not cell.outputs
                    assert cell.execution_count is None
                    ast.parse(re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.M))


@pytest.mark.parametrize(
    ("lab", "dialect"),
    # Front ends make no difference between labs; the others are graded in test_project.py.
    [(LABS[0], dialect) for dialect in DIALECTS],
    ids=lambda value: getattr(value, "id", value),
)
def test_solved_gets_full_marks_and_unfilled_none(
    lab: Assignment, dialect: str, tmp_path: Path
) -> None:
    """Through nbgrader's own autograde, as each front end saves the notebooks."""
    saved = {"jupyter": lambda notebook: notebook, "colab": as_colab, "vscode": as_vscode}[dialect]
    course = copy_course(tmp_path)
    build(course)
    solved = folder_of(course / "solutions", lab.id)
    unfilled = folder_of(course / "notebooks", lab.id)
    submit(course, lab.id, "solved", {name: saved(nb) for name, nb in solved.items()})
    submit(course, lab.id, "unfilled", {name: saved(nb) for name, nb in unfilled.items()})
    wanted = full_marks(solved)
    assert wanted
    grades = {
        student: {name: scores[name] for name in wanted}
        for student, scores in autograde(course, lab.id).items()
    }
    assert grades["solved"] == wanted, "\n".join(troubles(course, lab.id, "solved"))
    assert grades["unfilled"] == dict.fromkeys(wanted, 0)
