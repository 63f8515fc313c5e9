"""Plans as pictures: on the memory line, and among all plans that a graph has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import fx

from lab_utils.kit.charts.drawn import Drawing, drawing, drawing_of, drawing_of_words, stacked
from lab_utils.kit.task import Case
from lab_utils.kit.words import listed, size
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.labs.project.records import Plan
from lab_utils.labs.project.show.choices import Choices, choices_svg
from lab_utils.steps.draw.memory_svg import ByKind, Panel, memory_svg
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.graph import Kind
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order


@drawing_of.register
def _(plan: Plan) -> Drawing:
    return draw_plan(plan.drop, plan.nbytes)


def draw_plan(drop: Sequence[fx.Node], nbytes: int) -> Drawing:
    """The step before the rewrite; orange is what the plan drops, the dashed line its peak."""
    values = "value" if len(drop) == 1 else "values"
    words = f"plan: drop {len(drop)} {values} ({listed(tuple(n.name for n in drop))})"
    words += f"; peak {size(nbytes)}"
    if not drop:
        return drawing_of_words(words)
    panel = Panel("orange: what the plan drops", _dropped(drop), "program order")
    return drawing(
        lambda alone: memory_svg([panel], nbytes, alone=alone, dashed="peak of the plan"),
        words,
        words,
    )


def _dropped(drop: Sequence[fx.Node]) -> ByKind:
    """The memory line before the rewrite, with what is dropped in the colour of clones."""
    line = live_bytes(drop[0].graph, program_order(drop[0].graph))
    by_kind = {kind: list(held) for kind, held in line.by_kind.items()}
    for life in line.lifetimes:
        if life.storage.owner in set(drop):
            for step in range(life.first, life.last + 1):
                by_kind[life.kind][step] -= life.nbytes
                by_kind[Kind.RECOMP][step] += life.nbytes
    return by_kind


def simulated(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """The line that was to be simulated, with the peak that was told across it."""
    graph = graph_of(case.given["graph"])
    line = live_bytes(graph, program_order(graph))
    exact = {kind: case.wanted["line"].get(kind, ()) for kind in Kind}
    steps = max(map(len, exact.values()))
    exact = {kind: held or [0] * steps for kind, held in exact.items()}
    mine, count = round(answer["nbytes"]), len(case.given["drop"])
    panels = [
        Panel("nothing dropped", line.by_kind, "program order"),
        Panel(f"{count} dropped", exact, "clones right before their first reader"),
    ]
    words = f"yours: {size(mine)} at {answer['node']}; wanted: {size(case.wanted['nbytes'])}"
    return drawing(
        lambda alone: memory_svg(panels, mine, alone=alone, dashed="yours:"),
        words,
        f"Dashed: the peak that you told, at {answer['node']}. Right: the plan as it runs.",
    )


def chosen(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """Choice by choice among all plans of the graph; and what is dropped, on the memory line."""
    wanted, budget = case.wanted, case.given["budget"]
    names: list[str] = wanted["candidates"]
    points = list(zip(wanted["plans"]["work"], wanted["plans"]["peaks"], strict=True))

    def steps(drop: Sequence[str]) -> list[tuple[float, float]]:
        plans = [0]
        for name in drop:
            if name not in names:  # the verdict says so; its peak nobody knows
                break
            plans.append(plans[-1] | 1 << names.index(name))
        return [points[plan] for plan in plans]

    paths = [
        Choices("wanted", steps(wanted["drop"]), tuple(wanted["drop"])),
        Choices("yours", steps(answer["drop"]), tuple(answer["drop"])),
    ]
    words = "\n".join(f"{p.title}: {listed(p.names)}, peak {size(p.points[-1][1])}" for p in paths)
    among = drawing(
        lambda alone: choices_svg(points, paths, budget, alone),
        f"{words}\nbudget {size(budget)}",
        "Each dot is a plan: its peak, and the work that runs again. Each choice leads on.",
    )
    nodes = {node.name: node for node in graph_of(case.given["graph"]).nodes}
    drop = [nodes[name] for name in answer["drop"] if name in nodes]
    return stacked(among, draw_plan(drop, round(answer["nbytes"])))


def rewritten(case: Case, answer: Mapping[str, Any]) -> Drawing | None:
    """The memory line of task 6.3 before the change beside the one after it, and the wanted one."""
    if answer["dot"] is None:
        return None
    graphs = [graph_of(case.given["graph"]), graph_of(answer["dot"])]
    before, after = (live_bytes(graph, program_order(graph)) for graph in graphs)
    lines = {"before your change": before, "after it": after}
    return plot_memory(lines, case.wanted["nbytes"], case.wanted["line"])
