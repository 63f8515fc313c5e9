"""The pictures at the heads of Lab 4A's notebooks; the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import torch

from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.steps.draw.boxes import fold, in_run_order
from lab_utils.steps.draw.drawing import lanes_svg
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp

FOLDER = Path("solutions/lab4a/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    return {FOLDER / name: text for name, text in _pictures().items()}


def _pictures() -> dict[str, str]:
    torch.manual_seed(0)
    graph = trace_workload(llm_mlp(layers=4, width=64, hidden=256, batch=512))
    drop = block_activations(graph)
    free = rewrite(graph, drop, control=False).graph
    waiting = rewrite(graph, drop).graph
    small = trace_workload(llm_mlp(layers=1, width=64, hidden=256, batch=512))
    clones = rewrite(small, block_activations(small), control=False).graph
    plain = live_bytes(graph, program_order(graph))
    return {
        "memory_line.svg": _svg({"one training step of llm_mlp": plain}),
        "clones.svg": lanes_svg(in_run_order(fold(clones))),
        "rewired.svg": _svg(
            {
                "activations are kept": plain,
                "activations are recomputed": live_bytes(free, program_order(free)),
            }
        ),
        "control.svg": _svg(
            {
                "no control dependencies": live_bytes(free, as_soon_as_possible(free)),
                "with control dependencies": live_bytes(waiting, as_soon_as_possible(waiting)),
            }
        ),
    }


def _svg(lines: dict[str, MemoryLine]) -> str:
    return plot_memory(lines).svg
