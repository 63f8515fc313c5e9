"""Draw the pictures at the head of each notebook: ``python -m solutions.pictures``.

They are derived from the models and the reference engine; the same bytes every time.
"""

from __future__ import annotations

from pathlib import Path

import torch

from autograder.engine.rewrite import block_activations, rewrite
from lab_utils.memory import MemoryLine, live_bytes
from lab_utils.models import llm_mlp
from lab_utils.pictures.boxes import fold
from lab_utils.pictures.drawing import lanes_svg
from lab_utils.pictures.plots import plot_memory
from lab_utils.schedule import as_soon_as_possible, program_order
from lab_utils.trace.step import trace_workload

FOLDER = Path(__file__).parent / "lab4a" / "images"


def pictures() -> dict[str, str]:
    """The text of every picture, by file name."""
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
        "clones.svg": lanes_svg(fold(clones)),
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


def main() -> None:
    """Write the pictures that the notebooks show."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"written: {FOLDER.relative_to(FOLDER.parents[2]) / name}")


if __name__ == "__main__":
    main()
