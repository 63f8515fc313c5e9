"""What each value of a training step looks like in a notebook cell: our picture book.

A new kind of value draws itself when it is derived from ``DrawsItself`` and has a function
here that is registered with ``drawing_of``.
"""

from __future__ import annotations

from dataclasses import replace

from torch import fx

from lab_utils.kit.charts.drawn import Drawing, drawing_of, drawing_of_words
from lab_utils.steps.compare.differences import Diff
from lab_utils.steps.draw.diff_picture import draw_diff
from lab_utils.steps.draw.graph_picture import draw_graph
from lab_utils.steps.draw.plots import line_in_words, plot_memory, unit_of
from lab_utils.steps.draw.profile_picture import draw_profile
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.profile import Profile
from lab_utils.steps.schedule import Schedule
from lab_utils.steps.summary import Measures


@drawing_of.register
def _(line: MemoryLine) -> Drawing:
    return plot_memory({f"{unit_of(line)} held at each step": line})


@drawing_of.register
def _(schedule: Schedule) -> Drawing:
    """By its memory line: what runs when shows in what is held when."""
    if not schedule.order:
        return drawing_of_words(f"{schedule.name}: nothing runs")
    line = live_bytes(schedule.order[0].graph, schedule)
    shown = plot_memory({f"{len(schedule.order)} nodes in {len(schedule)} steps": line})
    return replace(shown, words=f"{schedule!r}\n{line_in_words(line)}")


@drawing_of.register
def _(graph: fx.Graph) -> Drawing:
    return draw_graph(graph)


def graph_bundle(graph: fx.Graph) -> dict[str, str]:
    """What a notebook shows of a bare graph, which is not our class: words for foreign ones."""
    inside = (node for node in graph.nodes if node.op != "output")
    if not all({"kind", "phase"} <= node.meta.keys() for node in inside):
        return {"text/plain": str(graph)}
    return draw_graph(graph)._repr_mimebundle_()


@drawing_of.register
def _(diff: Diff) -> Drawing:
    return draw_diff(diff)


@drawing_of.register
def _(profile: Profile) -> Drawing:
    return draw_profile(profile)


@drawing_of.register
def _(measures: Measures) -> Drawing:
    shown = plot_memory(
        {
            f"{measures.operators} operators": measures.program_order,
            "the same": measures.as_soon_as_possible,
        }
    )
    return replace(shown, words=str(measures))
