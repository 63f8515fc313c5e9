"""Nodes that wait for each other in a circle: told with the edge that closed it, and drawn."""

from __future__ import annotations

import pytest

from lab_utils.kit.charts.colors import RED
from lab_utils.labs.lab4a import open_graph
from lab_utils.steps.draw.circle import draw_circle
from lab_utils.steps.draw.film import film, same_place
from lab_utils.steps.graph import CycleError, add_control_dependency, check_acyclic, phase
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import Schedule, program_order


def _circle() -> CycleError:
    graph = open_graph("llm_mlp.rewired")
    nodes = {node.name: node for node in graph.nodes}
    add_control_dependency(nodes["l0_up_proj_recomp"], nodes["d_l0_down_proj_w"])
    with pytest.raises(CycleError) as raised:
        check_acyclic(graph)
    return raised.value


def test_the_edge_that_closes_the_circle_is_named() -> None:
    error = _circle()
    assert "l0_up_proj_recomp is made to wait for d_l0_down_proj_w" in error.look
    assert len(error.circle) >= 3


def test_the_circle_is_drawn_with_that_edge_in_red() -> None:
    drawing = draw_circle(_circle())
    assert drawing.svg.count(f'stroke="{RED}"') == 1
    for node in _circle().circle:
        assert f">{node.name}<" in drawing.svg


def test_a_long_circle_is_told_short_and_no_name_is_cut() -> None:
    graph = open_graph()
    nodes = [n for n in graph.nodes if n.op == "call_function"]
    for before, node in zip(nodes, (*nodes[1:], nodes[0]), strict=True):
        add_control_dependency(node, before)
    with pytest.raises(CycleError, match=r"\(\d+ more\)") as raised:
        check_acyclic(graph)
    names = {node.name for node in nodes}
    around = str(raised.value).partition("circle: ")[2].split(" -> ")
    assert all(name in names for name in around if "more" not in name)


def test_films_can_be_aligned_by_phase() -> None:
    base, rewired = open_graph("llm_mlp"), open_graph("llm_mlp.rewired")
    both = film({"without": base, "with": rewired})
    first, second = both.takes.values()
    for step in range(0, len(first.total), 7):
        there = same_place(first, step, second)
        mine = phase(first.schedule.steps[step][0])
        assert phase(second.schedule.steps[there][0]) in (mine, "recompute")
    both.align.value = True
    both.step.value = len(first.total) - 1
    assert f"steps {len(first.total) - 1}, {len(second.total) - 1}" in both.mark.value
    assert both.step.max == both.play.max == len(first.total) - 1
    both.align.value = False
    assert both.step.max == both.play.max == len(second.total) - 1


def test_a_phase_that_runs_beside_another_is_met_there() -> None:
    """As soon as possible, the loss may have no step of its own."""
    graph = open_graph()
    own = live_bytes(graph, program_order(graph))
    steps = own.schedule.steps
    first, *_, last = (i for i, step in enumerate(steps) if phase(step[0]) == "loss")
    beside = tuple(node for step in steps[first - 1 : last + 1] for node in step)
    other = MemoryLine(Schedule((*steps[: first - 1], beside, *steps[last + 1 :])), own.lifetimes)
    assert same_place(own, first, other) == same_place(own, last, other) == first - 1
