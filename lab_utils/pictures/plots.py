"""The memory line: bytes held at each step, stacked by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lab_utils.graph import Kind, LabError
from lab_utils.memory import MemoryLine
from lab_utils.pictures.colors import FILL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MB = 1e6


def plot_memory(
    lines: Mapping[str, MemoryLine],
    budget: int | None = None,
    wanted: Sequence[int] | None = None,
) -> Figure:
    """Memory lines side by side on one scale, with the peak of each marked.

    Args:
        lines: what to draw, by title.
        budget: bytes that must not be exceeded, drawn as a dashed line.
        wanted: the bytes of each step that a good result reaches, drawn over the last.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise LabError("plots need matplotlib: install it with 'pip install matplotlib'") from None
    figure, axes = pyplot.subplots(
        1, len(lines), figsize=(5.2 * len(lines), 3.4), sharey=True, squeeze=False
    )
    for axis, (title, line) in zip(axes[0], lines.items(), strict=True):
        _draw_line(axis, title, line)
        if budget is not None:
            axis.axhline(budget / _MB, color="black", linestyle="--", linewidth=1)
            axis.text(0, budget / _MB, " budget", va="bottom", fontsize=8)
    if wanted is not None:
        _draw_wanted(axes[0][-1], wanted, len(list(lines.values())[-1].total))
    axes[0][0].set_ylabel("bytes held (MB)")
    shown = {label: handle for axis in axes[0] for handle, label in _legend(axis)}
    figure.legend(shown.values(), shown.keys(), loc="outside right upper", fontsize=8)
    figure.set_layout_engine("constrained")
    pyplot.close(figure)  # a notebook shows what is returned, and would show it twice
    return figure


def _draw_wanted(axis: Axes, wanted: Sequence[int], steps: int) -> None:
    """Step by step, or only its peak where the steps are not the same ones."""
    held = [b / _MB for b in wanted] if len(wanted) == steps else [max(wanted) / _MB] * steps
    axis.plot(range(steps), held, color="black", linestyle=":", label="wanted")


def _draw_line(axis: Axes, title: str, line: MemoryLine) -> None:
    steps = range(len(line.total))
    kinds = [kind for kind in Kind if any(line.by_kind[kind])]
    axis.stackplot(
        steps,
        [[held / _MB for held in line.by_kind[kind]] for kind in kinds],
        colors=[FILL[kind] for kind in kinds],
        labels=[str(kind) for kind in kinds],
        step="mid",
        edgecolor="#777777",
        linewidth=0.3,
    )
    axis.plot(line.peak_step, line.peak / _MB, "v", color="crimson", markersize=6)
    axis.annotate(
        f"{line.peak / _MB:.2f} MB",
        (line.peak_step, line.peak / _MB),
        textcoords="offset points",
        xytext=(0, 7),
        ha="center",
        fontsize=8,
    )
    axis.set_title(f"{title}\n({line.schedule.name})", fontsize=10)
    axis.set_xlabel("step")
    axis.margins(x=0, y=0.15)


def _legend(axis: Axes) -> list[tuple[Any, Any]]:
    return list(zip(*axis.get_legend_handles_labels(), strict=True))
