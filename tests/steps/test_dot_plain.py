"""Files as we write them are read by a shorter way: it gives what the whole language gives."""

from __future__ import annotations

import random
import re

import pytest

from autograder.grading.hidden import hidden_of
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import lab_of
from lab_utils.steps.dot import plain
from lab_utils.steps.dot.drawing import DotError, Drawing
from lab_utils.steps.dot.read import read_dot, read_own
from lab_utils.steps.dot.syntax import parse_any
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp

ODD = (
    *('"', "\\", "[", "]", "{", "}", ";", ",", "=", "->", "--", " ", "\n", "\r", "\t", "+", "#"),
    *("//", "/*", "*/", "<b>", "a=b", ', a="b"', "node", "Graph", "subgraph", "strict", "1", "é"),
    *("a [b=c]; d", "a -> b", '"a" -> "b c"', "x:n", "[]", ", ", "; ", '"a" + "b"', "}\n}"),
)


def whole(text: str) -> Drawing | None:
    """What the parser of the whole language makes of a text; None: nothing."""
    drawing = Drawing("<text>", text)
    try:
        parse_any(drawing)
    except DotError:
        return None
    return drawing


def told(drawing: Drawing) -> object:
    """All that a drawing says, as text."""
    nodes = [
        (n.name, n.position, n.defaults, n.attributes, n.defined) for n in drawing.nodes.values()
    ]
    return drawing.attributes, nodes, drawing.edges


@pytest.fixture(scope="module")
def text() -> str:
    return write_dot(trace_workload(llm_mlp(layers=1, width=4, hidden=8, batch=2)))


def test_what_we_write_goes_the_shorter_way(text: str) -> None:
    drawing, other = Drawing("<text>", text), whole(text)
    assert plain.read_plain(drawing)
    assert other is not None
    assert told(drawing) == told(other)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_changed_both_ways_agree(text: str, seed: int) -> None:
    chance = random.Random(seed)
    agreed = 0
    for _ in range(250):
        at = chance.choice([m.start() for m in re.finditer(r"\b|\W", text)])
        cut = chance.choice([0, 0, 1, 2, 7])
        changed = text[:at] + chance.choice(ODD) + text[at + cut :]
        drawing = Drawing("<text>", changed)
        if plain.read_plain(drawing):
            other = whole(changed)
            assert other is not None, changed[at - 40 : at + 40]
            assert told(drawing) == told(other)
            agreed += 1
        else:
            assert told(drawing) == told(Drawing("<text>", changed)), "something was filled in"
    assert agreed > 5, "no change left the short way open: nothing was compared"


def test_graphs_of_cases_are_what_their_reader_trusts_them_to_be() -> None:
    """Asking reads them without working their values out; here they are worked out."""
    texts: set[str] = {
        text
        for lab in read_course().labs
        if (known := lab_of(lab))
        for task in known.tasks
        for case in hidden_of(lab).graded_cases(task.id)
        if (text := str(case.given.get("graph"))).startswith(plain.HEAD)
    }
    assert len(texts) > 20
    for one in sorted(texts):
        assert write_dot(read_dot(one)) == write_dot(read_own(one)())
