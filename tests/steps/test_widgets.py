"""Explorer, film and budget slider without a browser: what their controls change."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import IPython.display
import pytest
import torch
from torch import fx

from autograder.labs.project.reference import describe
from lab_utils.kit.charts.drawn import drawing_of
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in.widget import show
from lab_utils.labs.lab4a import open_graph, public_cases
from lab_utils.labs.project.swap_slider import swap_slider
from lab_utils.labs.project.tradeoff import tradeoff_graph
from lab_utils.steps.draw.blocks import MOST, PAGE, Block, as_blocks, module_paths, parts, split
from lab_utils.steps.draw.boxes import fold
from lab_utils.steps.draw.budget import Point, budget_slider, simulator
from lab_utils.steps.draw.explorer import ALL, NOBODY, explore
from lab_utils.steps.draw.film import EAGER, film
from lab_utils.steps.estimate import estimated_seconds
from lab_utils.steps.graph import Kind, Phase, add_control_dependency, copy_graph
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import is_operation
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.labs.lab4a.solved import functions


@pytest.fixture(scope="module")
def plain() -> fx.Graph:
    return open_graph("llm_mlp")


@pytest.fixture(scope="module")
def rewired() -> fx.Graph:
    return open_graph("llm_mlp.rewired")


@pytest.fixture(scope="module")
def long() -> fx.Graph:
    return trace_workload(llm_mlp(layers=40, width=4, hidden=8, batch=2))


def nodes_in(svg: str) -> set[str]:
    return set(re.findall(r'data-node="([^"]+)"', svg))


@pytest.mark.parametrize("name", ["llm_mlp", "llm_mlp.rewired", "attention", "long"])
def test_every_box_is_in_exactly_one_block(name: str, long: fx.Graph) -> None:
    graph = long if name == "long" else open_graph(name)
    picture = fold(graph)
    blocks = split(picture.boxes, module_paths(graph))
    inside = [box.name for block in blocks for box in block.boxes]
    assert sorted(inside) == sorted(box.name for box in picture.boxes)
    assert 1 < len(blocks) <= MOST
    assert len({block.label for block in blocks}) == len(blocks)
    folded = as_blocks(picture, blocks)
    assert sum(box.count for box in folded.boxes) == len(picture.boxes)


def test_forward_backward_and_clones_of_a_module_share_a_block(rewired: fx.Graph) -> None:
    paths = module_paths(rewired)
    projection = re.compile(r"(?:^|_)l(\d)_(gate|up|down|gate_up)_proj(_w|_recomp|_act)?")
    told = {n: block[1] for n in paths if "_via_" not in n and (block := projection.search(n))}
    assert len(told) > 60
    assert {n: path.split(".")[1] for n, path in paths.items() if n in told} == told


def test_a_large_graph_is_a_small_picture(long: fx.Graph) -> None:
    drawing = drawing_of(long)
    assert len(drawing.svg) < 60_000
    assert len(drawing.html) < 600_000
    assert "operators" in drawing.html
    assert "<details>" in drawing.html
    assert "layers.0" in drawing.words


def test_a_drawing_without_shapes_and_a_circle_are_drawn_too(plain: fx.Graph) -> None:
    copy, _ = copy_graph(plain)
    first, *_, last = (n for n in copy.nodes if is_operation(n))
    add_control_dependency(first, last)  # no legal order any more
    assert nodes_in(drawing_of(copy).svg)


@pytest.mark.parametrize("given", [0, 2])
def test_a_graph_where_nothing_runs_is_shown(given: int) -> None:
    graph = fx.Graph()
    role = {"phase": Phase.FORWARD, "kind": Kind.WEIGHT, "module": ""}
    for place in range(given):
        graph.placeholder(f"x{place}").meta = role | {"val": torch.empty(4, 8, device="meta")}
    graph.output({}).meta = role
    names = {f"x{place}" for place in range(given)}
    assert nodes_in(drawing_of(graph).svg) == names
    shown = film({"before": graph, "after": graph}, EAGER)
    assert shown.step.max == 0
    assert shown.alive.value.count(f"step 0: {128 * given} bytes") == 2
    explorer = explore(graph)
    assert set(explorer.node.options) == {NOBODY} | names
    explorer.control.value = False
    assert len(nodes_in(explorer.lanes.value)) == bool(given), "one block of given values"
    for name in names:
        explorer.select(name)
        assert name in nodes_in(explorer.lanes.value)


def test_explorer_follows_a_value_from_birth_to_death(rewired: fx.Graph) -> None:
    explorer = explore(rewired)
    explorer.select("l1_gate_proj_act_recomp")
    line = live_bytes(rewired, program_order(rewired))
    (life,) = [x for x in line.lifetimes if x.name == "l1_gate_proj_act_recomp"]
    said = explorer.about.value
    for words in ("SILU", "512 x 256, float32", "524.29 KB", f"steps {life.first} to {life.last}"):
        assert words in said
    assert "d_l1_up_proj" in said
    assert "d_l1_up_proj" in nodes_in(explorer.lanes.value)
    with pytest.raises(LabError, match="views are folded"):
        explorer.select("l0_gate_proj_w_t")


def test_a_large_block_opens_in_parts(long: fx.Graph) -> None:
    explorer = explore(long)
    large = next(label for label, found in explorer.parts.items() if len(found) > 1)
    explorer.block.value = large
    assert len(nodes_in(explorer.lanes.value)) <= 2 * MOST, "its parts, with counts"
    assert "operators" in explorer.lanes.value
    explorer.part.value = explorer.part.options[1]
    assert 1 < len(nodes_in(explorer.lanes.value)) <= PAGE
    assert nodes_in(explorer.lanes.value) <= set(explorer.node.options)
    explorer.select("l7_gate_up_proj")
    assert "l7_gate_up_proj" in nodes_in(explorer.lanes.value)
    assert "<b>l7_gate_up_proj</b>" in explorer.about.value
    explorer.block.value = ALL
    assert explorer.part.layout.display == "none"


def test_a_block_of_one_module_opens_in_pages(long: fx.Graph) -> None:
    boxes = fold(long).boxes
    pages = parts(Block("flat", boxes), dict.fromkeys((box.name for box in boxes), "flat"))
    assert [box for page in pages for box in page.boxes] == list(boxes)
    assert max(len(page.boxes) for page in pages) <= PAGE
    assert pages[0].label == f"flat (1 of {len(pages)})"


def test_explorer_filters_kinds_and_control_edges(rewired: fx.Graph) -> None:
    graph, _ = copy_graph(rewired)
    named = {node.name: node for node in graph.nodes}
    add_control_dependency(named["l0_gate_proj_recomp"], named["d_l0_add"])
    explorer = explore(graph)
    explorer.block.value = "layers.0"
    assert not re.search(r'data-node="l0_add" opacity', explorer.lanes.value)
    explorer.kinds[Kind.ACTIVATION].value = False
    assert re.search(r'data-node="l0_add" opacity', explorer.lanes.value)
    explorer.block.value = ALL
    assert "waits for" in explorer.lanes.value
    explorer.control.value = False
    assert "waits for" not in explorer.lanes.value


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_film_shows_what_is_alive_under_the_chosen_schedule(
    plain: fx.Graph, rewired: fx.Graph, workers: int
) -> None:
    shown = film({"before": plain, "after": rewired})
    shown.rule.value = EAGER
    shown.workers.value = workers
    line = live_bytes(rewired, as_soon_as_possible(rewired, workers or None))
    picture = shown.line.value
    for step in (0, line.peak_step, len(line.total) - 1):
        shown.step.value = step
        assert shown.line.value is picture, "only the marker moves"
        total = f"step {step}: {line.total[step] / 1e6:.2f} MB"
        assert total in shown.alive.value
        assert line.alive(step)[0].name in shown.alive.value
        running = [n for n in line.schedule.steps[step] if is_operation(n)]
        assert all(n.name in shown.running.value for n in running[:5])
    assert "before" in shown.static.svg
    with pytest.raises(LabError, match="rule must be"):
        film(plain, "backwards")


def test_film_stands_still_while_many_operators_run() -> None:
    shown = film(open_graph("attention"), EAGER)
    heights = set()
    for step in range(shown.step.max + 1):
        shown.step.value = step
        heights.add(tuple(re.findall(r"min-height:(\d+)px", shown.running.value)))
        assert shown.running.value.count("title=") <= 10
    assert len(heights) == 1
    shown.step.value = 0
    assert re.search(r"and \d+ more", shown.running.value)
    assert shown.running.value.count("display:inline-block") == shown.running.value.count("title=")


def test_budget_slider_runs_the_students_own_rewrite(plain: fx.Graph) -> None:
    own = functions()

    def rewrite(graph: fx.Graph, drop: list[fx.Node]) -> None:
        own["rewire_backward"](graph, own["inject_recomputation"](graph, drop))

    names = public_cases("2.2")[0].given["drop"]
    slider = budget_slider(simulator(plain, rewrite), names, yours=names[:3])
    assert slider.yours == slider.curve[3]
    assert "yours" in slider.static.svg
    base = live_bytes(plain, program_order(plain)).peak
    assert slider.curve[0] == Point((), base, 0)
    assert slider.curve[-1].peak < base / 2
    slider.budget.value = 6_000_000
    assert slider.chosen.peak <= 6_000_000
    assert slider.drop.value == slider.chosen.drop
    slider.drop.value = tuple(names[:4])
    assert slider.chosen.recomputed == 4
    assert f"peak {slider.chosen.peak / 1e6:.2f} MB" in slider.told.value


def test_budget_slider_takes_points_that_were_computed_before() -> None:
    names = ["a", "b", "c"]
    points = [
        Point(drop, 100 - 10 * len(drop), 2 * len(drop))
        for count in range(4)
        for drop in combinations(names, count)
    ]
    slider = budget_slider(points[:-1], yours=Point(("a",), 95, 1))
    slider.budget.value = 80
    assert slider.chosen.peak == 80
    assert "yours" in slider.picture.value
    slider.drop.value = ("a", "b", "c")
    assert "nobody has computed" in slider.told.value


def test_swap_slider_shows_what_the_link_allows() -> None:
    graph = tradeoff_graph()
    seconds = estimated_seconds(graph)
    slider = swap_slider(graph, describe(graph, seconds), seconds)
    assert {"all kept", "1 GB/s", "100 GB/s"} <= set(
        re.findall(r">([^<>]+)</text>", slider.static.svg)
    )
    fast = slider.picture.value
    slider.link.value = 0.1
    assert slider.picture.value != fast
    assert "0.1 GB/s: peak" in slider.told.value
    assert int(re.findall(r"waits (\d+)%", slider.told.value)[0]) > 100


def test_the_packer_leaves_words_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", lambda one, **_: shown.append(one))
    show(read_course().labs["lab4a"], tmp_path)
    (packer,) = shown
    packer._ipython_display_()
    assert "python -m lab_utils pack" in shown[1]["text/html"]
