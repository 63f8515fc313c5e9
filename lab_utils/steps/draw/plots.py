"""Memory lines of schedules, drawn side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.words import size
from lab_utils.steps.draw.memory_svg import Panel, memory_svg
from lab_utils.steps.graph import is_opaque
from lab_utils.steps.memory import MemoryLine

_BARS = " ▁▂▃▄▅▆▇█"


def plot_memory(
    lines: Mapping[str, MemoryLine],
    budget: int | None = None,
    wanted: Sequence[int] | None = None,
) -> Drawing:
    """Memory lines side by side on one scale, with the peak of each marked.

    Args:
        lines: what to draw, by title.
        budget: bytes that must not be exceeded, drawn as a dashed line.
        wanted: the bytes of each step that a good result reaches, dotted over the last.
    """
    panels = [
        Panel(title, line.by_kind, line.schedule.name, unit_of(line))
        for title, line in lines.items()
    ]
    words = "\n".join(line_in_words(line, title) for title, line in lines.items())
    return drawing(lambda alone: memory_svg(panels, budget, wanted, alone), words)


def unit_of(line: MemoryLine) -> str:
    """In what the line counts: ``bytes``, or the ``values`` of a drawing without shapes."""
    return "values" if any(is_opaque(n.graph) for n in line.schedule.order[:1]) else "bytes"


def line_in_words(line: MemoryLine, title: str = "memory line") -> str:
    """Two lines for a terminal: the peak and what it is, and the shape of the line."""
    unit = unit_of(line)
    largest = sorted(line.breakdown.items(), key=lambda x: -x[1])
    made_of = ", ".join(f"{kind} {size(held, unit)}" for kind, held in largest)
    return (
        f"{title} ({line.schedule.name}): peak {size(line.peak, unit)} at step {line.peak_step} of "
        f"{len(line.total)} ({made_of})\n  {sparkline(line.total)}"
    )


def sparkline(total: Sequence[int], width: int = 60) -> str:
    """The shape of a memory line in ``width`` characters."""
    columns = min(width, len(total))
    edges = [i * len(total) // columns for i in range(columns + 1)] if columns else []
    worst = [max(total[a:b]) for a, b in pairwise(edges)]
    top = max(worst, default=0) or 1
    return "".join(_BARS[round(held / top * (len(_BARS) - 1))] for held in worst)
