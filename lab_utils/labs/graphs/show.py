"""The memory line before a rewriting task beside the one after it, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.charts.drawn import Drawing, stacked
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case
from lab_utils.labs.graphs.judge import rewired
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.draw.boxes import fold
from lab_utils.steps.draw.circle import draw_circle
from lab_utils.steps.draw.diff_picture import draw_differences
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.graph import CycleError, check_acyclic
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order


def line_after(case: Case, answer: Mapping[str, Any]) -> tuple[MemoryLine, str]:
    """The memory line of an answer, and the name of the budget that it has to meet.

    Raises:
        LabError: it is no graph that can run.
    """
    if answer["dot"] is None:
        raise LabError("a graph that cannot be written cannot be drawn")
    graph = graph_of(answer["dot"])
    if "eager_budget" in case.wanted:
        return live_bytes(graph, as_soon_as_possible(graph)), "eager_budget"
    if "clones" in answer:
        graph = rewired(graph, answer["clones"])
    return live_bytes(graph, program_order(graph)), "program_budget"


def line_before(case: Case) -> MemoryLine:
    """The memory line of the graph that is given, in the order that the task is about."""
    graph = graph_of(case.given["graph"])
    rule = as_soon_as_possible if "eager_budget" in case.wanted else program_order
    return live_bytes(graph, rule(graph))


def circle_of(answer: Mapping[str, Any]) -> Drawing | None:
    """The circle that the control edges of an answer close; None where there is none."""
    if answer["dot"] is None:
        return None
    try:
        check_acyclic(read_dot(answer["dot"], circles=True))
    except CycleError as error:
        return draw_circle(error)
    return None


def before_and_after(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """The memory line before this task's change beside the one after it, and the wanted one."""
    if circle := circle_of(answer):
        return circle
    mine, budget = line_after(case, answer)
    lines = {"before your change": line_before(case), "after it": mine}
    return plot_memory(lines, case.wanted[budget], case.wanted.get("line"))


def rewired_readers(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """The memory lines, and the reads that are missing or not wanted."""
    lines = before_and_after(case, answer)
    mine = fold(graph_of(answer["dot"]))
    wanted = fold(rewired(graph_of(case.given["graph"]), case.given["clones"]))
    there = {box.name for box in mine.boxes}
    same = {box.name: box.name for box in wanted.boxes if box.name in there}
    differences = draw_differences(wanted, mine, same)
    return stacked(lines, differences) if differences else lines
