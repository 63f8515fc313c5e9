"""Pictures of the project's checks: yours beside what is wanted, never in the verdict's way."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import IPython.display
import pytest

from lab_utils.kit import show
from lab_utils.kit.ask import attempt
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case
from lab_utils.labs import lab4a
from lab_utils.labs.lab4a.show import SHOW as LAB4A_SHOW
from lab_utils.labs.project import LAB, public_cases
from lab_utils.labs.project.judge import JUDGE, result_problems
from lab_utils.labs.project.show import SHOW
from tests.labs.lab4a.solved import PROJECT_FUNCTION_OF, functions
from tests.labs.project.catalogue import WRONG
from tests.support.judged import verdict_of

TEXTS = re.compile(r"<text[^>]*>([^<]*)</text>")


def drawn(task_id: str, case: Case, answer: Any) -> Drawing:
    drawing: Drawing = SHOW[task_id](case, answer)
    root = ElementTree.fromstring(drawing.svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert drawing.words
    return drawing


def test_every_check_has_a_picture() -> None:
    assert {task.id for task in lab4a.LAB.tasks} == LAB4A_SHOW.keys()
    assert {task.id for task in LAB.tasks} == SHOW.keys()


@pytest.mark.parametrize("task_id", PROJECT_FUNCTION_OF)
def test_a_right_answer_is_drawn_without_a_mark(task_id: str) -> None:
    task = LAB.task_called(task_id)
    own = functions(lab="project")[PROJECT_FUNCTION_OF[task_id]]
    for case in public_cases(task_id):
        html = drawn(task_id, case, attempt(task, LAB.ask(task_id), own, case.given)["answer"]).html
        said = TEXTS.findall(html)
        assert not any("✗" in one or "forgotten" in one for one in said)
        assert 'stroke-dasharray="5 3"' not in html


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.name)
def test_what_is_wrong_can_be_seen(change: Any) -> None:
    """On the case that the check shows: the first one that is wrong."""
    task = LAB.task_called(change.loses)
    space = functions({change.function: (change.old, change.new)}, lab="project")
    for case in public_cases(change.loses):
        reply = attempt(task, LAB.ask(task.id), space[change.function], case.given)
        if "answer" in reply and JUDGE[task.id](case, reply["answer"]):
            break
    else:
        return  # wrong on hidden graphs only, or no answer at all: nothing is shown
    drawing = drawn(task.id, case, reply["answer"])
    if task.id in ("5.5", "5.6"):
        assert "yours" in drawing.words
        assert "wanted" in drawing.words
    elif task.id == "6.3":
        assert {"before your change", "after it"} <= set(TEXTS.findall(drawing.html))
    else:
        assert any("✗" in one or "forgotten" in one for one in TEXTS.findall(drawing.html))


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a check shows in a notebook."""
    shown: list[Any] = []
    monkeypatch.setattr(show, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "display", shown.append)
    return shown


@pytest.mark.parametrize("result", [None, 7, [1], {"a": 1}, {"l0_act": -1}, ([], -5), ("x", "y")])
def test_an_answer_beyond_drawing_has_its_verdict(notebook: list[Any], result: Any) -> None:
    for task_id in PROJECT_FUNCTION_OF:
        verdict = verdict_of("project", task_id, lambda *_, r=result: r, public_cases(task_id)[:1])
        if task_id != "5.4":  # changes what it is given, and returns nothing
            assert not verdict.passed
        assert "yours" in str(verdict) or verdict.passed


def test_a_check_shows_a_picture(notebook: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    LAB.check("5.1", functions(lab="project")["candidates"])
    (drawing,) = notebook
    assert isinstance(drawing, Drawing)
    assert "passed on" in capsys.readouterr().out


def memory_csv(**changes: str) -> dict[str, str]:
    """A file of the small experiments; ``changes``: other text for a row, by its place."""
    rows = []
    for model, unit in (("tiny BERT", 100), ("tiny ResNet", 70)):
        rows += [f"{model},none,{batch},{unit * batch},,50" for batch in (2, 4, 8)]
        rows += [f"{model},recomputed,{b},{unit * b - 9},{unit}" for b in (2, 4, 8)]
    for place, text in changes.items():
        rows[int(place[1:])] = text
    text = "\n".join(["model,method,batch,peak_bytes,dropped_bytes,static_bytes", *rows])
    return {"file": "memory.csv", "text": text}


@pytest.mark.parametrize(
    ("task_id", "changes", "marks"),
    [
        ("6.2", {}, []),
        ("6.2", {"r1": ""}, ["tiny BERT, batch 4: missing"]),
        ("6.2", {"r2": "tiny BERT,none,8,1,,50"}, ["tiny BERT, batch 8: wanted: at least 400"]),
        ("6.2", {"r0": "tiny BERT,none,2,1,,50"}, ["tiny BERT, batch 2: wanted: 200"]),
        ("6.4", {}, []),
        (
            "6.4",
            {"r0": "", "r10": ""},
            ["tiny BERT, batch 2: none: missing", "tiny ResNet, batch 4: missing"],
        ),
        (
            "6.4",
            {"r5": "tiny BERT,recomputed,8,900,5", "r11": "tiny ResNet,recomputed,8,280,5"},
            [
                "tiny BERT, batch 8: wanted: less than 800",
                "tiny ResNet, batch 8: wanted: at least 555",
            ],
        ),
    ],
)
def test_rows_that_are_missing_or_wrong_are_marked(
    task_id: str, changes: dict[str, str], marks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROJECT_SIZE", "small")
    peaks = {"tiny BERT": 200, "tiny ResNet": 140}
    monkeypatch.setattr(result_problems, "traced_peak", lambda model, _: peaks[model])
    monkeypatch.setattr(result_problems, "traced_static", lambda _model, _batch: 50)
    case, answer = public_cases(task_id)[0], memory_csv(**changes)
    said = TEXTS.findall(drawn(task_id, case, answer).html)
    marked = [f"{said[i - 1]}: {one[2:]}" for i, one in enumerate(said) if one.startswith("✗")]
    assert marked == marks
    assert bool(JUDGE[task_id](case, answer)) == bool(marks)


def test_times_are_drawn_from_the_shortest_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROJECT_SIZE", "small")
    row = "tiniest BERT,{},{},0.002,0.001,{},3"
    most = {"none": 0.004, "recomputed": 0.005}
    rows = [row.format(method, batch, most[method]) for method in most for batch in (2, 4)]
    head = "model,method,batch,median,min,max,repeats"
    case = public_cases("6.5")[0]
    for kept, mark in ((rows, ""), (rows[:-1], "✗ recomputed: missing")):
        answer = {"file": "latency.csv", "text": "\n".join([head, *kept])}
        drawing = drawn("6.5", case, answer)
        assert "nothing recomputed yours 1 ms to 4 ms" in drawing.words
        assert (mark in TEXTS.findall(drawing.html)) == bool(mark)
        assert bool(JUDGE["6.5"](case, answer)) == bool(mark)
    empty = {"file": "latency.csv", "text": ""}
    assert drawn("6.5", case, empty).html.count("✗ none: missing") == 2
    monkeypatch.setenv("PROJECT_SIZE", "full")
    older = {"file": "latency.csv", "text": "\n".join([head, *rows])}
    assert drawn("6.5", case, older).html.count("✗ none: missing; recomputed: missing") == 6
