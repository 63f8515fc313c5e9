"""Drawings of the older form, as they were handed in to the lab that this one grew from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.labs.lab4a.pair_verdict import PairVerdict
from autograder.labs.lab4a.two_files import judge_pair
from lab_utils.steps.dot.read import read_dot

COLOUR = {
    "lightblue": "x target",
    "lightgreen": "gate_proj_w up_proj_w down_proj_w",
    "yellow": "gate_proj gate_proj_act up_proj gate_up_proj down_proj loss",
    "lightpink": "d_down_proj d_gate_up_proj d_gate_proj_act d_up_proj d_gate_proj"
    " d_x_gate d_x_up d_x",
    "lightcoral": "d_down_proj_w d_gate_proj_w d_up_proj_w",
}
OPERATOR = {
    "MM": "gate_proj up_proj down_proj d_gate_up_proj d_x_gate d_x_up"
    " d_down_proj_w d_gate_proj_w d_up_proj_w",
    "SILU": "gate_proj_act",
    "MUL": "gate_up_proj d_gate_proj_act d_up_proj",
    "MSE": "loss",
    "MSE_BACKWARD": "d_down_proj",
    "SILU_BACKWARD": "d_gate_proj",
    "ADD": "d_x",
}
DATA = """
    x gate_proj_w > gate_proj;  gate_proj > gate_proj_act;  x up_proj_w > up_proj
    gate_proj_act up_proj > gate_up_proj;  gate_up_proj down_proj_w > down_proj
    down_proj target > loss;  down_proj target > d_down_proj
    d_down_proj down_proj_w > d_gate_up_proj;  d_gate_up_proj up_proj > d_gate_proj_act
    d_gate_up_proj gate_proj_act > d_up_proj;  d_gate_proj_act gate_proj > d_gate_proj
    d_down_proj gate_up_proj > d_down_proj_w;  d_gate_proj x > d_gate_proj_w
    d_up_proj x > d_up_proj_w;  d_gate_proj gate_proj_w > d_x_gate
    d_up_proj up_proj_w > d_x_up;  d_x_gate d_x_up > d_x
"""
CLONES = """
    x gate_proj_w > gate_proj_recomp;  gate_proj_recomp > gate_proj_act_recomp
    x up_proj_w > up_proj_recomp;  gate_proj_act_recomp up_proj_recomp > gate_up_proj_recomp
"""
REWIRED = DATA
for _reader, _read in (
    ("d_gate_proj_act", "up_proj"),
    ("d_up_proj", "gate_proj_act"),
    ("d_gate_proj", "gate_proj"),
    ("d_down_proj_w", "gate_up_proj"),
):
    REWIRED = REWIRED.replace(f"{_read} > {_reader}", f"{_read}_recomp > {_reader}")

NAMES = ("gate_proj", "gate_proj_act", "up_proj", "gate_up_proj")
#: What the real hand-in did: each clone waits for the end of its own block's forward pass.
HANDED_IN = {f"{name}_recomp": "down_proj" for name in NAMES}
RIGHT = {f"{name}_recomp": "d_down_proj" for name in NAMES}


def dot(data: str, waits: dict[str, str] | None = None, last: str = "") -> str:
    """A file as students drew it."""
    lines = ["digraph G {", '  rankdir="TB";', "  node [style=filled, shape=box];"]
    operator = {name: op for op, names in OPERATOR.items() for name in names.split()}
    for colour, names in COLOUR.items():
        for name in names.split():
            what = operator.get(name, "INPUT" if colour == "lightblue" else "WEIGHT")
            lines.append(f'  {name} [label="{name}: {what}", fillcolor={colour}];')
    if "_recomp" in data:
        for name in NAMES:
            label = f"{name}_recomp: {operator[name]}"
            lines.append(f'  {name}_recomp [label="{label}", fillcolor=orange];')
    for entry in data.replace("\n", ";").split(";"):
        if entry.strip():
            reads, reader = entry.split(">")
            lines += [f"  {read} -> {reader.strip()};" for read in reads.split()]
    for clone, other in (waits or {}).items():
        lines.append(f"  {other} -> {clone} [style=dashed, color=red];")
    return "\n".join([*lines, last, "}", ""])


BASE = dot(DATA)


def judged(data: str, waits: dict[str, str], last: str = "", base: str = DATA) -> PairVerdict:
    rewritten = read_dot(dot(CLONES + data, waits, last), circles=True)
    return judge_pair(read_dot(dot(base)), rewritten)


def failed(verdict: PairVerdict) -> list[str]:
    return [part for part, found in verdict.findings.items() if found]


def test_a_right_drawing() -> None:
    verdict = judged(REWIRED, RIGHT)
    assert verdict.passed, verdict
    assert not verdict.differences
    assert not verdict.hints


@pytest.mark.parametrize("seed", ["down_proj target > d_down_proj", ""], ids=["loss", "outside"])
def test_the_real_hand_in_waits_for_its_own_forward(seed: str) -> None:
    """The gradient may come out of the drawing's own loss, or from outside."""
    data, base = (text.replace("down_proj target > d_down_proj", seed) for text in (REWIRED, DATA))
    verdict = judged(data, HANDED_IN, base=base)
    assert failed(verdict) == ["A-3"], verdict
    text = str(verdict)
    assert "gate_proj_recomp" in text
    assert "waits for d_down_proj" in text
    assert judged(data, RIGHT, base=base).passed


@pytest.mark.parametrize(
    "waits",
    [
        {},
        {"gate_proj_recomp": "d_down_proj"},
        {"gate_up_proj_recomp": "d_down_proj"},
        {"d_down_proj": "gate_proj_recomp", "d_gate_up_proj": "up_proj_recomp"},
        {"gate_proj_recomp": "x", "up_proj_recomp": "x"},
        {"gate_proj_recomp": "loss", "up_proj_recomp": "loss"},
    ],
    ids=["none", "one root", "only the last", "reversed", "repeats data", "the loss"],
)
def test_waits_that_do_not_help_one_block(waits: dict[str, str]) -> None:
    verdict = judged(REWIRED, waits)
    assert failed(verdict) == ["A-3"], verdict
    assert "_recomp" in str(verdict.findings["A-3"])


@pytest.mark.parametrize(
    "waits",
    [
        {"gate_proj_recomp": "d_down_proj", "up_proj_recomp": "d_down_proj"},
        {"gate_proj_recomp": "d_gate_up_proj", "up_proj_recomp": "d_gate_up_proj"},
        {"gate_proj_recomp": "d_down_proj", "up_proj_recomp": "d_gate_up_proj"},
    ],
    ids=["entering", "of the reader", "each its own"],
)
def test_other_right_waits(waits: dict[str, str]) -> None:
    verdict = judged(REWIRED, waits)
    assert verdict.passed, verdict
    assert not verdict.differences


@pytest.mark.parametrize(
    ("early", "late"), [("x", "gate_proj_recomp"), ("d_down_proj", "d_gate_up_proj")]
)
def test_control_edges_that_repeat_data_edges_are_told(early: str, late: str) -> None:
    verdict = judged(REWIRED, RIGHT, f"  {early} -> {late} [style=dashed];")
    assert verdict.passed, verdict
    assert f"{late} waits for {early}" in str(verdict.hints)


def test_a_right_wait_is_no_difference_beside_a_wrong_one() -> None:
    verdict = judged(REWIRED, {"gate_proj_recomp": "d_down_proj"})
    assert "`up_proj_recomp` does not wait" in verdict.differences
    assert "gate_proj_recomp" not in verdict.differences


def test_a_second_clone_is_named_as_such() -> None:
    second = '  again [label="again: MM", fillcolor=orange]; x -> again; gate_proj_w -> again;'
    wait = "  d_down_proj -> again [style=dashed];"
    data = REWIRED.replace("gate_proj_recomp > d_gate_proj;", "again > d_gate_proj;")
    verdict = judged(data, RIGHT, second + wait)
    assert failed(verdict) == ["A-1"], verdict
    (finding,) = verdict.findings["A-1"]
    assert "gate_proj_recomp" in finding.yours
    assert "again" in finding.yours
    assert "both rebuild gate_proj" in finding.yours


def test_rewiring_that_is_missing() -> None:
    one = REWIRED.replace("up_proj_recomp > d_gate_proj_act", "up_proj > d_gate_proj_act")
    verdict = judged(one, RIGHT)
    assert failed(verdict) == ["A-2"], verdict
    assert "d_gate_proj_act still reads up_proj" in str(verdict)
    verdict = judged(DATA, RIGHT)
    assert failed(verdict) == ["A-2"], verdict
    assert len(verdict.findings["A-2"]) == 4


def test_a_data_edge_drawn_as_control() -> None:
    data = REWIRED.replace("d_gate_up_proj up_proj_recomp >", "d_gate_up_proj >")
    verdict = judged(data, RIGHT, "  up_proj_recomp -> d_gate_proj_act [style=dashed];")
    assert failed(verdict) == ["A-2"], verdict
    assert "d_gate_proj_act does not read up_proj" in str(verdict)
    assert "dashed" in str(verdict)


def test_control_edges_drawn_solid() -> None:
    solid = "  d_down_proj -> gate_proj_recomp; d_down_proj -> up_proj_recomp;"
    verdict = judged(REWIRED, {}, solid)
    assert failed(verdict) == ["A-1"], verdict
    assert "gate_proj_recomp reads d_down_proj" in str(verdict)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("x up_proj_w > up_proj_recomp", "x gate_proj_w > up_proj_recomp", "up_proj_recomp reads"),
        ("x up_proj_w > up_proj_recomp", "x > up_proj_recomp", "does not read up_proj_w"),
        (
            "gate_proj_recomp > gate_proj_act_recomp",
            "gate_proj > gate_proj_act_recomp",
            "gate_proj_act_recomp reads gate_proj, which is dropped",
        ),
    ],
    ids=["weight", "input gone", "stored"],
)
def test_a_mistake_in_one_clone(old: str, new: str, says: str) -> None:
    clones = CLONES.replace(old, new)
    verdict = judge_pair(read_dot(BASE), read_dot(dot(clones + REWIRED, RIGHT)))
    assert failed(verdict) == ["A-1"], verdict
    assert says in str(verdict)
    assert len(verdict.findings["A-1"]) == 1


def test_a_backward_node_that_is_gone() -> None:
    data = REWIRED.replace("d_gate_proj x > d_gate_proj_w\n", "\n")
    text = dot(CLONES + data, RIGHT)
    text = "\n".join(line for line in text.splitlines() if "  d_gate_proj_w [" not in line)
    verdict = judge_pair(read_dot(BASE), read_dot(text))
    assert failed(verdict) == ["A-2"], verdict
    assert "d_gate_proj_w is gone" in str(verdict)


def test_a_circle_costs_the_last_part_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, mine = tmp_path / "base.dot", tmp_path / "mine.dot"
    base.write_text(BASE)
    mine.write_text(dot(CLONES + REWIRED, RIGHT | {"up_proj_recomp": "d_gate_proj_act"}))
    command = ["judge", "--base", str(base), "--rewritten", str(mine)]
    assert main([*command, "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert [part["passed"] for part in verdict["parts"].values()] == [True, True, False]
    (finding,) = verdict["parts"]["A-3"]["findings"]
    assert "circle: " in finding["yours"]
    assert "up_proj_recomp" in finding["yours"]
    mine.write_text(dot(CLONES + REWIRED, RIGHT, "  d_x -> x; d_x -> gate_proj;"))
    assert main(command) == 2
    assert "circle" in capsys.readouterr().err


def test_a_circle_of_solid_edges_is_still_judged() -> None:
    """A wait for too late a gradient, drawn solid: clones and readers are judged all the same."""
    verdict = judged(REWIRED, RIGHT, "  d_gate_proj -> gate_proj_recomp;")
    assert failed(verdict) == ["A-3"], verdict
    assert "circle: " in str(verdict)
    one = REWIRED.replace("up_proj_recomp > d_gate_proj_act", "up_proj > d_gate_proj_act")
    verdict = judged(one, RIGHT, "  d_gate_proj -> gate_proj_recomp;")
    assert failed(verdict) == ["A-2", "A-3"], verdict


CLONED_RESULT = (
    '  down_proj_recomp [label="down_proj_recomp: MM", fillcolor=orange];'
    " gate_up_proj_recomp -> down_proj_recomp; down_proj_w -> down_proj_recomp;"
)


def test_a_dead_clone_of_the_last_result_is_told_and_forgiven() -> None:
    """The loss has the result in hand when backward begins: nobody forgot to rewire."""
    verdict = judged(REWIRED, RIGHT, CLONED_RESULT)
    assert verdict.passed, verdict
    assert "down_proj_recomp" in str(verdict.hints)


def test_a_clone_that_backward_begins_with_has_nothing_to_wait_for() -> None:
    read = REWIRED.replace(
        "down_proj target > d_down_proj", "down_proj_recomp target > d_down_proj"
    )
    verdict = judged(read, RIGHT, CLONED_RESULT)
    assert failed(verdict) == ["A-1"], verdict
    (finding,) = verdict.findings["A-1"]
    assert "down_proj_recomp computes down_proj again" in finding.yours
    assert "d_down_proj" in finding.look


def test_a_clone_that_backward_begins_with_excuses_no_other() -> None:
    """Nothing waits: that every gradient needs the clones makes it no better."""
    read = REWIRED.replace(
        "down_proj target > d_down_proj", "down_proj_recomp target > d_down_proj"
    )
    verdict = judged(read, {}, CLONED_RESULT)
    assert failed(verdict) == ["A-1", "A-3"], verdict
    assert "gate_proj_recomp runs at step 0, in the forward pass" in str(verdict)


@pytest.mark.parametrize("instead", ["gate_proj_recomp", ""], ids=["its input", "nothing"])
def test_a_clone_that_is_left_out_costs_the_first_part_alone(instead: str) -> None:
    """Backward has nothing to read in its place: that is the same mistake."""
    left = "gate_proj_recomp > gate_proj_act_recomp"
    text = (CLONES.replace(left, "") + REWIRED).replace("gate_proj_act_recomp", instead)
    drawn = dot(text, {"gate_proj_recomp": "d_down_proj", "up_proj_recomp": "d_down_proj"})
    drawn = "\n".join(n for n in drawn.splitlines() if "  gate_proj_act_recomp [" not in n)
    verdict = judge_pair(read_dot(BASE), read_dot(drawn))
    assert failed(verdict) == ["A-1"], verdict
    assert "gate_up_proj_recomp" in str(verdict)
    assert "gate_proj_act" in str(verdict)


def test_forward_that_reads_a_clone_costs_the_second_part_alone() -> None:
    data = REWIRED.replace("gate_proj > gate_proj_act;", "gate_proj_recomp > gate_proj_act;")
    verdict = judged(data, RIGHT)
    assert failed(verdict) == ["A-2"], verdict
    assert "gate_proj_act (forward) now reads gate_proj_recomp" in str(verdict)
