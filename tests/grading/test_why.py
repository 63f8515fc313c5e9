"""Why a notebook lacks what a task asks for."""

from __future__ import annotations

import pytest

from autograder.grading.judge.why import blame
from autograder.grading.sandbox import CellResult


def failed(key: str, error: str, words: str) -> CellResult:
    output = {"output_type": "error", "ename": error, "evalue": words, "traceback": []}
    return CellResult(key, [output], failed=True)


@pytest.mark.parametrize(
    ("source", "error", "words", "yours", "look"),
    [
        (
            "# mine\nclass Profiler:\n    def run(self:\n        pass",
            "SyntaxError",
            "'(' was never closed (3284.py, line 3)",
            "there is no Profiler: the cell that begins with `# mine` ended in SyntaxError: '('"
            " was never closed",
            "Python cannot read line 3 of that cell: def run(self:",
        ),
        (
            "import tidy\nProfiler = tidy.Profiler",
            "ModuleNotFoundError",
            "No module named 'tidy'",
            "ended in ModuleNotFoundError: No module named 'tidy'",
            "only what the lab asks for is installed",
        ),
        (
            "class Profiler:\n    1 / 0",
            "ZeroDivisionError",
            "",
            "ended in ZeroDivisionError",
            "Mend",
        ),
        (
            "Profiler = None",
            "NotImplementedError",
            "write it",
            "nothing yet",
            "still to be written",
        ),
    ],
)
def test_the_cell_that_should_make_it_is_to_blame(
    source: str, error: str, words: str, yours: str, look: str
) -> None:
    told = blame("Profiler", [("t", source)], {"t": failed("t", error, words)})
    assert told
    assert told.error == error
    assert yours in told.yours
    assert look in told.look


def test_a_cell_that_lacks_a_name_is_not_to_blame_for_it() -> None:
    cells = [("a", "import tidy"), ("b", "class Profiler(tidy.Base):\n    pass")]
    ran = {
        "a": failed("a", "ModuleNotFoundError", "No module named 'tidy'"),
        "b": failed("b", "NameError", "name 'tidy' is not defined"),
    }
    told = blame("Profiler", cells, ran)
    assert told
    assert told.error == "ModuleNotFoundError"
    assert "`import tidy`" in told.yours
    circle = [("a", "x = y"), ("b", "y = x")]
    lost = {key: failed(key, "NameError", f"name '{n}' is not defined") for key, n in ("ay", "bx")}
    assert blame("x", circle, lost)


def test_nobody_is_blamed_for_nothing() -> None:
    assert blame("Profiler", [("a", "class Profiler: pass")], {"a": CellResult("a")}) is None
    assert blame("Profiler", [("a", "x = 1")], {"a": failed("a", "ValueError", "")}) is None


def test_a_file_is_made_by_the_cell_that_names_it() -> None:
    told = blame("b.csv", [("a", "open('b.csv')")], {"a": failed("a", "OSError", "full")})
    assert told
    assert told.yours.startswith("there is no file b.csv: the cell")


def test_the_hole_of_the_task_is_to_blame_if_no_cell_names_the_file() -> None:
    cells = [("t1", "raise NotImplementedError"), ("t2", "x = 1")]
    ran = {"t1": failed("t1", "NotImplementedError", "still to be written")}
    assert blame("b.csv", cells, ran) is None
    told = blame("b.csv", cells, ran, hole="t1")
    assert told
    assert told.yours == "nothing yet"
