"""Grading a submission: the judge's points are those of stock nbgrader, and cannot be forged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from autograder.grading.grader import MISSING, Graded, Grader, load_graded
from autograder.grading.plan import keyed_cells, read_plan
from autograder.grading.sandbox import Limits
from autograder.grading.submission import Submission, read_submission
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from tests.labs.lab4a.catalogue import RIGHT, WRONG, Change
from tests.labs.lab4a.class_of_four import LAB, ROOT, STOCK, solved, with_change
from tests.labs.lab4a.solved import FUNCTION_OF, functions
from tests.support import judged
from tests.support.sample_course import autograde, copy_course, submit, write

pytestmark = [pytest.mark.xdist_group("sandboxes"), pytest.mark.slow, pytest.mark.needs_bwrap]

UNFILLED = ROOT / "notebooks" / LAB


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    limits = Limits(cell_seconds=30, question_seconds=20, grace_seconds=2)
    with Grader(read_plan(LAB, ROOT / "solutions" / LAB), jobs=2, limits=limits) as grader:
        yield grader


def alone(books: dict[str, NotebookNode], name: str) -> dict[str, NotebookNode]:
    return {name: books[name]}


def points(graded: Graded) -> dict[str, float]:
    return {task.id: task.points for task in graded.verdict.tasks}


def notebook_of(function: str) -> str:
    return next(
        name
        for name, book in solved().items()
        if any(f" {function}(" in cell.source for cell in book.cells if is_solution(cell))
    )


def is_solution(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def oracle(change: Change, notebook: str) -> dict[str, float]:
    """The points of each function of the notebook, asked and judged in this process."""
    space = functions({change.function: (change.old, change.new)})
    tasks = {t: f for t, f in FUNCTION_OF.items() if f"{int(t[0]):02}" == notebook[:2]}
    return {task: judged.points_of(LAB, task, space[function]) for task, function in tasks.items()}


#: One wrong and one right hand-in for most of the tasks; lending is among them.
_LENDING = next(change for change in WRONG if change.function == "recompute_set")
SOME = (_LENDING, *WRONG[::9], *RIGHT[::6])


def test_what_one_task_does_to_the_graph_costs_no_other(grader: Grader) -> None:
    """Notes in meta, over ours: right, although the notebook's own graph has them then."""
    notes = next(change for change in RIGHT if change.name == "notes in meta")
    notebook = notebook_of(notes.function)
    graded = grader.grade(Submission("notes", alone(with_change(notes), notebook), {}))
    own = [task for task in graded.verdict.tasks if task.notebook == notebook]
    assert {task.id for task in own} >= {"1.1", "1.2", "1.3", "1.4", "1.5"}
    assert {task.id: task.points for task in own} == {task.id: task.max_points for task in own}


def test_points_are_those_of_the_same_halves_in_one_process(
    grader: Grader, capsys: pytest.CaptureFixture[str]
) -> None:
    submissions = []
    for change in SOME:
        notebook = notebook_of(change.function)
        submissions.append(Submission(change.name, alone(with_change(change), notebook), {}))
    found = {graded.verdict.student: graded for graded in grader.map(submissions)}
    for change in SOME:
        notebook = notebook_of(change.function)
        mine = points(found[change.name])
        wanted = oracle(change, notebook)
        assert {task: mine[task] for task in wanted} == wanted, change.name
        kinds = {remark.kind for remark in found[change.name].verdict.remarks}
        assert kinds == {MISSING}, change.name  # the other notebooks were not handed in


def test_stock_nbgrader_alone_grades_by_the_public_checks(tmp_path: Path) -> None:
    """Through nbgrader's own kernels, without our step: what a student sees is what counts."""
    course = copy_course(tmp_path)
    for name in ("solutions", "notebooks"):
        for path in (ROOT / name / LAB).glob("*.ipynb"):
            write(course / name / LAB / path.name, path.read_text())
    settings = course / "autograder" / "nbgrader_config.py"
    write(settings, settings.read_text() + STOCK)
    wrong = next(change for change in WRONG if change.loses == "3.1")
    submit(course, LAB, "right", alone(solved(), "03_backward"))
    submit(course, LAB, "wrong", alone(with_change(wrong), "03_backward"))
    stock = autograde(course, LAB)
    assert stock["right"]["03_backward/t31_check"] == 2
    assert stock["wrong"]["03_backward/t31_check"] == 0


# ---- forged scores -------------------------------------------------------------------------

FORGERIES = {
    "input transformers": "get_ipython().input_transformers_post.append(lambda lines: ['2.0\\n'])",
    "syntax trees": (
        "import ast\nclass Drop(ast.NodeTransformer):\n"
        "    def visit_Expr(self, node):\n        return ast.parse('2.0').body[0]\n"
        "get_ipython().ast_transformers.append(Drop())"
    ),
    "float is shadowed": "import builtins\nfloat = builtins.float = lambda *_: 2.0",
    "display hooks": (
        "import sys\nsys.displayhook = lambda value: print('2.0')\n"
        "get_ipython().display_formatter.format = lambda *_, **__: ({'text/plain': '2.0'}, {})"
    ),
    "the checks are patched": (
        "import lab_utils.kit.ask as ask, lab_utils.labs.lab4a as lab\n"
        "ask._where = lambda *_: ()\n"
        "import lab_utils.kit.judge as judge  # which is not there\n"
        "judge.outcome = lambda *_: ()\n"
        "judge.Verdict.points = property(lambda self: self.task.points)\n"
        "lab.check = lambda *_: 2.0"
    ),
    "a score is printed for a test cell": (
        "from IPython.display import display\n"
        "display({'text/plain': '2.0'}, raw=True, display_id='t22_check')"
    ),
}
PLANTED = {
    "autograder/labs/lab4a/hidden.py": b"check = lambda *_: 2.0",
    "autograder/__init__.py": b"",
    "sitecustomize.py": b"print('planted')",
    "lab_utils/labs/lab4a/__init__.py": b"check = lambda *_: 2.0",
}


def forged(cell: str) -> NotebookNode:
    book = nbformat.read(UNFILLED / "02_recomputation.ipynb", as_version=4)
    book.cells.insert(1, nbformat.v4.new_code_cell(cell))
    return book


def test_no_forgery_gains_a_point(grader: Grader) -> None:
    books = {name: forged(cell) for name, cell in FORGERIES.items()}
    copy = forged("pass")
    test = next(cell for key, cell in keyed_cells(copy) if key == "t22_check")
    copy.cells += [nbformat.from_dict({**test, "source": "2.0"})]
    books["a test cell is there twice"] = copy
    honest = Submission("honest", alone(solved(), "02_recomputation"), {})
    submissions = [Submission(name, {"02_recomputation": book}, {}) for name, book in books.items()]
    planted = Submission("planted", {"02_recomputation": forged("pass")}, PLANTED)
    found = {
        graded.verdict.student: graded for graded in grader.map([*submissions, planted, honest])
    }
    assert points(found.pop("honest")) == {
        task: {"2.1": 1.0, "2.2": 2.0}.get(task, 0.0) for task in points(found["planted"])
    }
    for name, graded in found.items():
        assert graded.verdict.points == 0, name
        shown = graded.cells["02_recomputation"]["t22_check"]["outputs"]
        assert shown[-1]["data"]["text/plain"] == "0.0", name
    patched = found["the checks are patched"].verdict.remarks
    assert any(r.kind == "tampered" and "lab_utils" in r.text for r in patched)
    assert any(r.kind == "tampered" for r in found["planted"].verdict.remarks)


def test_another_students_answers_are_not_mine(grader: Grader) -> None:
    """Outputs that came along in the notebook count for nothing."""
    book = nbformat.read(UNFILLED / "02_recomputation.ipynb", as_version=4)
    for _, cell in keyed_cells(book):
        data = {"text/plain": "2.0"}
        cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    assert grader.grade(Submission("copied", {"02_recomputation": book}, {})).verdict.points == 0


def test_malformed_answers_get_no_points_and_a_remark(grader: Grader) -> None:
    bad = ["None", "{'dot': 5, 'reads': [], 'clones': 3}", "[[[]]] * 1000", "'digraph {'"]
    cells = f"import inside.answers\nanswers = iter([{', '.join(bad)}] * 9)\n"
    cells += "inside.answers.attempt = lambda *_: {'answer': next(answers)}\n"
    cells += "recompute_set = inject_recomputation = print"
    book = forged("pass")
    book.cells.append(nbformat.v4.new_code_cell(cells))
    for _, cell in keyed_cells(book):
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = cells
    verdict = grader.grade(Submission("forger", {"02_recomputation": book}, {})).verdict
    assert verdict.points == 0
    assert {"tampered", "forged"} <= {remark.kind for remark in verdict.remarks}


# ---- what else is told ---------------------------------------------------------------------


def test_stderr_and_warnings_cost_nothing_and_outputs_arrive(grader: Grader) -> None:
    books = alone(solved(), "03_backward")
    loud = "import warnings, sys\nwarnings.warn('loud')\nprint('to stderr', file=sys.stderr)\n"
    for _, cell in keyed_cells(books["03_backward"]):
        if is_solution(cell):
            cell.source = cell.source.replace(
                '    """Make every', '    import warnings; warnings.warn(\'x\')\n    """Make every'
            )
    books["03_backward"].cells.insert(1, nbformat.v4.new_code_cell(loud + "1 / 0"))
    graded = grader.grade(Submission("loud", books, {}))
    assert points(graded)["3.1"] == 2.0
    outputs = graded.cells["03_backward"]["cell 1"]["outputs"]
    assert any("to stderr" in o.get("text", "") for o in outputs)
    assert outputs[-1]["ename"] == "ZeroDivisionError"


def test_hand_edited_files_are_found_and_not_punished(grader: Grader) -> None:
    made = (ROOT / "autograder" / "reference" / "llm_mlp.dot").read_text()
    graph = read_dot(made)
    loss = next(node for node in graph.nodes if node.op == "call_function")
    loss.name = "by_hand"
    same = write_dot(graph).encode()  # other names make no difference
    edited = made.replace("aten.silu.default", "aten.relu.default").encode()
    assert edited != made.encode()
    books = alone(solved(), "01_profiler")
    told = {}
    for name, content in (("same", same), ("edited", edited)):
        verdict = grader.grade(Submission(name, books, {"llm_mlp.dot": content})).verdict
        assert points_of(verdict.tasks, "1.5") == 0.25
        told[name] = [r.text for r in verdict.remarks if "llm_mlp.dot" in r.text]
    assert told["same"] == []
    assert len(told["edited"]) == 1
    unmade = alone(solved(), "01_profiler")
    for _, cell in keyed_cells(unmade["01_profiler"]):
        cell.source = cell.source.replace('write_dot(graph, "llm_mlp.dot")', "pass")
    verdict = grader.grade(Submission("kept", unmade, {"llm_mlp.dot": made.encode()})).verdict
    assert points_of(verdict.tasks, "1.5") == 0.25
    assert any("do not make llm_mlp.dot" in remark.text for remark in verdict.remarks)


def points_of(tasks: tuple, task: str) -> float:
    return next(t.points for t in tasks if t.id == task)


def test_a_verdict_gives_no_hidden_graph_away(grader: Grader) -> None:
    change = next(change for change in WRONG if change.loses == "3.1")
    graded = grader.grade(Submission("x", alone(with_change(change), "03_backward"), {}))
    hidden = json.loads((ROOT / "autograder/labs/lab4a/hidden_cases.json").read_text())["3.1"]
    names = {name for case in hidden for name in case["given"]["clones"].values()}
    public = {case.name for t in graded.verdict.tasks for case in t.cases if not case.hidden}
    text = json.dumps(
        [c.findings for t in graded.verdict.tasks for c in t.cases if c.hidden],
        default=vars,
        ensure_ascii=False,
    )
    assert public
    assert "… still reads …" in text
    assert not {name for name in names if name.startswith("v") and f" {name} " in text}


def test_what_was_graded_is_found_again_until_something_changes(
    grader: Grader, tmp_path: Path
) -> None:
    book = alone(solved(), "03_backward")
    folder = tmp_path / "ada"
    folder.mkdir()
    nbformat.write(book["03_backward"], folder / "03_backward.ipynb")
    submission = read_submission("ada", folder)
    graded = grader.grade(submission)
    graded.save(tmp_path)
    again = load_graded(tmp_path, LAB, "ada", graded.verdict.digest)
    assert again is not None
    assert again.verdict == graded.verdict
    assert again.cells == json.loads(json.dumps(graded.cells))
    assert load_graded(tmp_path, LAB, "ada", "another") is None


def said(graded: Graded, notebook: str, text: str) -> str:
    """What the cell that holds ``text`` shows."""
    key = next(key for key, cell in keyed_cells(solved()[notebook]) if text in cell.source)
    return json.dumps(graded.cells[notebook][key]["outputs"])


def test_what_only_shows_something_runs_if_somebody_needs_it(grader: Grader) -> None:
    name, shown = "01_profiler", "table = GraphProfiler(scratch)"
    books = alone(solved(), name)
    without = grader.grade(Submission("a", books, {}))
    assert "did not run here" in said(without, name, shown)
    books[name].cells.append(nbformat.v4.new_code_cell("print('rows:', len(table))"))
    needed = grader.grade(Submission("b", books, {}))
    assert "did not run here" not in said(needed, name, shown)
    assert "rows: " in json.dumps(needed.cells[name])
    assert points(needed) == points(without)
