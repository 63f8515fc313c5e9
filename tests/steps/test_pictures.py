"""Pictures: what is drawn is what was measured, and every form of it is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.kit.ask import attempt
from lab_utils.kit.charts.axes import scale_for
from lab_utils.kit.charts.colors import NEEDLESS, WRONG
from lab_utils.kit.charts.drawn import drawing_of
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab4a import LAB, open_graph, public_cases
from lab_utils.labs.lab4a.show import SHOW
from lab_utils.labs.project.records import Plan
from lab_utils.steps.compare.diff import Differs, diff
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.draw import drawing
from lab_utils.steps.draw.boxes import fold
from lab_utils.steps.draw.lanes import lanes_svg
from lab_utils.steps.draw.memory_svg import Panel, height_of, memory_svg
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.graph import Kind, add_control_dependency, copy_graph
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.profile import Profile
from lab_utils.steps.run import example_values
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.labs.lab4a.solved import FUNCTION_OF, functions

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    return root


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def areas(root: ElementTree.Element) -> dict[str, str]:
    """Kind -> path of its area, in a picture of one panel."""
    found = {}
    for path in root.iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None and ": at most" in (title.text or ""):
            found[str(title.text).partition(":")[0]] = path.get("d", "")
    return found


@settings(max_examples=20)
@given(
    st.integers(1, 500).flatmap(
        lambda steps: st.dictionaries(
            st.sampled_from(list(Kind)),
            st.lists(st.integers(0, 10**9), min_size=steps, max_size=steps),
            min_size=1,
        )
    )
)
def test_areas_are_stacked_to_the_bytes_that_are_held(by_kind: dict[Kind, list[int]]) -> None:
    panel = Panel("any", by_kind)
    root = parsed(memory_svg([panel]))
    drawn = areas(root)
    assert drawn.keys() == {kind for kind, held in by_kind.items() if any(held)}
    peak = max(panel.total)
    if peak:
        highest = min(float(y) for d in drawn.values() for y in re.findall(r"V([\d.]+)", d))
        assert highest == pytest.approx(height_of(peak, scale_for(peak)), abs=0.06)


def test_a_memory_line_has_units_peak_budget_and_kinds() -> None:
    graph = open_graph("llm_mlp")
    line = live_bytes(graph, program_order(graph))
    panels = [Panel("mine", line.by_kind), Panel("theirs", line.by_kind)]
    root = parsed(memory_svg(panels, 5_000_000, line.total))
    said = texts(root)
    assert {"held (MB)", "step", "mine", "theirs", "budget 5.00 MB"} <= set(said)
    assert said.count(f"peak {line.peak / 1e6:.2f} MB") == 2
    assert {"A ACTIVATION", "W WEIGHT", "gw GRAD_WEIGHT"} <= set(said)
    assert f"peak {line.peak / 1e6:.2f} MB" in root.get("aria-label", "")


@pytest.mark.parametrize(("held", "end"), [((9, 9, 9, 1, 1, 1), True), ((1, 1, 1, 9, 9, 9), False)])
def test_the_budget_is_named_where_the_line_does_not_run(held: tuple[int, ...], end: bool) -> None:
    root = parsed(memory_svg([Panel("mine", {Kind.ACTIVATION: held})], 5))
    (label,) = [t for t in root.iter(f"{SVG}text") if "".join(t.itertext()).startswith("budget")]
    assert (label.get("text-anchor") == "end") is end


def test_ids_of_two_pictures_in_one_page_do_not_clash() -> None:
    graph = open_graph("llm_mlp")
    one = memory_svg([Panel("a", live_bytes(graph, program_order(graph)).by_kind)])
    two = memory_svg([Panel("a", live_bytes(graph, as_soon_as_possible(graph)).by_kind)])
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert all(ids)
    assert not ids[0] & ids[1]
    assert set(re.findall(r"url\(#([^)]+)\)", one)) <= ids[0]


def test_a_line_of_ten_thousand_steps_stays_small() -> None:
    held = [step % 97 for step in range(10_000)]
    held[7_777] = 1_000
    svg = memory_svg([Panel("long", {Kind.ACTIVATION: held})])
    assert len(svg) < 30_000
    assert "peak 1.00 KB" in texts(parsed(svg))


def test_a_plot_has_a_form_for_every_reader() -> None:
    graph = open_graph("llm_mlp")
    line = live_bytes(graph, program_order(graph))
    for value in (line, line.schedule, plot_memory({"mine": line})):
        bundle = value._repr_mimebundle_()
        parsed(bundle["image/svg+xml"])
        assert "currentColor" in bundle["text/html"]
        assert f"{line.peak / 1e6:.2f} MB" in bundle["text/plain"]
        assert len(repr(value)) < 400


def test_a_drawing_without_shapes_counts_values() -> None:
    text = """digraph {
        x [label="x: INPUT", fillcolor=lightblue]; a [label="a: RELU", fillcolor=yellow];
        b [label="b: TANH", fillcolor=yellow]; x -> a; a -> b;
    }"""
    graph = read_dot(text)
    line = live_bytes(graph, program_order(graph))
    bundle = line._repr_mimebundle_()
    assert {"held (values)", "peak 3 values"} <= set(texts(parsed(bundle["image/svg+xml"])))
    assert "peak 3 values" in drawing_of(graph).words
    assert "bytes" not in "".join(bundle.values()).lower()


def test_a_diff_is_drawn_with_its_edges() -> None:
    wanted, mine = open_graph("llm_mlp.rewired"), open_graph("llm_mlp.injected")
    found = diff(wanted, mine)
    bundle = found._repr_mimebundle_()
    root = parsed(bundle["image/svg+xml"])
    titles = [element.text or "" for element in root.iter(f"{SVG}title")]
    reader = next(one for one in found if one.kind is Differs.READS)
    assert any(t.startswith(f"missing: {reader.node} reads ") for t in titles)
    assert f"needless: {reader.node} reads {reader.other}" in titles
    marked = {
        p.get("stroke"): p for p in root.iter(f"{SVG}path") if p.find(f"{SVG}title") is not None
    }
    assert marked[WRONG].get("stroke-dasharray")
    assert not marked[NEEDLESS].get("stroke-dasharray")
    assert bundle["text/plain"] == found.summary()
    assert "equal" in diff(wanted, wanted)._repr_mimebundle_()["text/html"]


def test_what_is_missing_lies_over_nothing_else() -> None:
    """A reader of the original beside its clone: one edge passes below, the other is drawn last."""
    wanted, mine = open_graph("llm_mlp.rewired"), open_graph("llm_mlp.rewired")
    named = {node.name: node for node in mine.nodes}
    original, clone = named["l0_gate_up_proj"], named["l0_gate_up_proj_recomp"]
    for reader in [n for n in clone.users if n.name.startswith("d_")]:
        reader.replace_input_with(clone, original)
    root = parsed(diff(wanted, mine)._repr_mimebundle_()["image/svg+xml"])
    edges = {
        str(title.text).partition(":")[0]: path.get("d", "")
        for path in root.iter(f"{SVG}path")
        if (title := path.find(f"{SVG}title")) is not None
    }
    assert list(edges)[-1] == "missing"
    assert "L" in edges["missing"]
    assert "H" in edges["needless"], "it goes round the clone"


def test_missing_and_needless_waits_are_drawn() -> None:
    graph = open_graph("llm_mlp.rewired")
    waiting, _ = copy_graph(graph)
    named = {node.name: node for node in waiting.nodes}
    add_control_dependency(named["l0_gate_proj_recomp"], named["d_l1_add"])
    for a, b, mark in ((graph, waiting, "needless"), (waiting, graph, "missing")):
        html = diff(a, b)._repr_mimebundle_()["text/html"]
        assert f"{mark}: l0_gate_proj_recomp waits for" in html


def test_a_wait_for_a_view_is_drawn_at_the_value_that_it_looks_at() -> None:
    """The most common mistake, a forgotten control edge, has its edge in the picture."""
    graph = trace_workload(llm_mlp(layers=2))
    drop = block_activations(graph)
    waiting, eager = (rewrite(graph, drop, control=on).graph for on in (True, False))
    for a, b, mark in ((waiting, eager, "missing"), (eager, waiting, "needless")):
        found = diff(a, b)
        assert {one.other for one in found} == {"d_l0_add_t", "d_l1_add_t"}, "views"
        root = parsed(found._repr_mimebundle_()["image/svg+xml"])
        titles = {element.text for element in root.iter(f"{SVG}title")}
        for one in found:
            value = str(one.other).removesuffix("_t")
            assert f"{mark}: {one.node} waits for {value}" in titles


FILES = {"1.5": "llm_mlp.dot", "4.2": "llm_mlp_ar.dot"}


@pytest.mark.parametrize("task_id", [task.id for task in LAB.tasks])
def test_every_check_draws_the_answer_beside_what_is_wanted(task_id: str) -> None:
    task, ask = LAB.task_called(task_id), LAB.ask(task_id)
    show: Any = SHOW[task_id]
    reference = ROOT / "autograder" / "reference"
    asked = reference / FILES[task_id] if task_id in FILES else functions()[FUNCTION_OF[task_id]]
    for case in public_cases(task_id):
        shown = show(case, attempt(task, ask, asked, case.given)["answer"])
        parsed(shown.svg)
        assert shown.words
        assert "red and dashed" not in shown.html.lower()


def test_a_forgotten_reader_is_drawn_red_and_dashed() -> None:
    given = public_cases("3.1")[0]
    task, ask = LAB.task_called("3.1"), LAB.ask("3.1")
    answer = attempt(task, ask, lambda graph, clones: None, given.given)["answer"]
    show: Any = SHOW["3.1"]
    html = show(given, answer).html
    assert "Red and dashed: missing" in html
    assert "missing: d_l3_down_proj_w reads l3_gate_up_proj_recomp" in html
    assert "needless: d_l3_down_proj_w reads l3_gate_up_proj" in html


def test_a_bare_graph_in_a_cell_is_a_picture() -> None:
    """In a fresh interpreter, as a kernel is: nothing but ``import lab_utils`` is needed."""
    code = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("import lab_utils; from lab_utils.labs.lab4a import open_graph")
shown, _ = shell.display_formatter.format(shell.ev("open_graph('llm_mlp')"))
assert "<svg" in shown["text/html"] and "<svg" in shown["image/svg+xml"], shown.keys()
assert "layers.0" in shown["text/plain"]
import torch.fx
foreign, _ = shell.display_formatter.format(torch.fx.Graph())
assert "text/html" not in foreign
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_values_do_not_know_their_pictures() -> None:
    """In a fresh interpreter: drawing is loaded by the first value that is shown."""
    code = """
import pkgutil, sys
from importlib import import_module
import lab_utils.steps
for module in pkgutil.walk_packages(lab_utils.steps.__path__, "lab_utils.steps."):
    if not module.name.startswith("lab_utils.steps.draw"):
        import_module(module.name)
assert not any(name.startswith("lab_utils.steps.draw.") for name in sys.modules)
from lab_utils.labs.lab4a import open_graph
from lab_utils.steps.schedule import program_order
shown = program_order(open_graph("llm_mlp"))._repr_mimebundle_()
assert "<svg" in shown["text/html"], shown
assert "lab_utils.steps.draw.values" in sys.modules
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def stand_in_for_dot(folder: Path, script: str) -> str:
    """A program called dot in ``folder``; the PATH on which it is found first."""
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_graphviz_that_takes_too_long_is_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", stand_in_for_dot(tmp_path, "exec sleep 60"))
    monkeypatch.setattr(drawing, "_GRAPHVIZ_SECONDS", 0.2)
    file = tmp_path / "picture.svg"
    told = drawing.draw(open_graph("llm_mlp"), file)
    assert told == "Graphviz needed more than 0.2 s: this is a plain picture in lanes"
    parsed(file.read_text())
    with pytest.raises(LabError, match="only .svg can be drawn without Graphviz"):
        drawing.draw(open_graph("llm_mlp"), tmp_path / "picture.png")


def test_graphviz_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", stand_in_for_dot(tmp_path, "echo no fonts >&2; exit 3"))
    with pytest.raises(LabError, match="^Graphviz failed: no fonts$"):
        drawing.to_svg(open_graph("llm_mlp"))


def test_what_graphviz_should_not_lay_out_is_drawn_in_lanes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    graph, file = open_graph("llm_mlp"), tmp_path / "picture.svg"
    monkeypatch.setitem(sys.modules, "graphviz", None)
    assert "-m pip install graphviz" in str(drawing.draw(graph, file))
    monkeypatch.undo()
    monkeypatch.setattr(drawing, "GRAPHVIZ_LIMIT", 5)
    assert "nodes are too many for Graphviz" in str(drawing.draw(graph, file))
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert drawing.draw(graph, file) == drawing.NO_GRAPHVIZ
    assert drawing.to_svg(graph) == file.read_text() == lanes_svg(fold(graph))


def test_a_plan_is_drawn_on_the_memory_line() -> None:
    graph = open_graph("llm_mlp")
    named = {node.name: node for node in graph.nodes}
    drop = [named["l0_gate_proj"], named["l1_gate_proj"]]
    bundle = Plan(drop, 9_000_000)._repr_mimebundle_()
    assert "R RECOMP" in texts(parsed(bundle["image/svg+xml"]))
    assert "peak of the plan 9.00 MB" in bundle["text/html"]
    assert bundle["text/plain"].startswith("plan: drop 2 values (l0_gate_proj, l1_gate_proj)")
    assert "drop 0 values" in Plan([], 5)._repr_mimebundle_()["text/plain"]


def test_a_profile_is_drawn_operator_by_operator() -> None:
    graph = open_graph("llm_mlp")
    table = functions()["GraphProfiler"](graph).profile(example_values(graph), 0, 1)
    bundle = Profile(table)._repr_mimebundle_()
    said = texts(parsed(bundle["image/svg+xml"]))
    assert {"time (µs)", "allocated (KB)", "forward", "backward"} <= set(said)
    assert bundle["text/plain"].startswith(f"profile: {len(table)} operators")
    assert bundle["text/html"].count("<title>l0_gate_proj: ") == 2, "its time and its bytes"
    with pytest.raises(LabError, match="the column 'seconds'"):
        Profile(table.drop(columns="seconds"))
    with pytest.raises(LabError, match="task 1.3"):
        Profile(None)
    assert "0 operators" in Profile(table.head(0))._repr_mimebundle_()["text/plain"]
    long = pd.concat([table] * 50)
    assert Profile(long)._repr_mimebundle_()["text/html"].count("<rect") < 1_000
