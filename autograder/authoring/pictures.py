"""Draw the pictures at the head of each notebook: ``python -m autograder.authoring.pictures``.

They are derived from the models and the reference engine; the same bytes every time.
"""

from __future__ import annotations

import io
from pathlib import Path

import torch

from autograder.labs.project import reference
from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.labs.project.tradeoff import plot_tradeoff, recomputed_seconds, tradeoff_graph
from lab_utils.steps.draw.boxes import fold
from lab_utils.steps.draw.drawing import lanes_svg
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.estimate import estimated_seconds
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp

FOLDER = Path(__file__).parent


def pictures() -> dict[str, str]:
    """The text of every picture, by its path below ``solutions/``."""
    lab4a = {f"lab4a/images/{name}": text for name, text in _lab4a().items()}
    return lab4a | {"lab4b/images/tradeoff.svg": _tradeoff()}


def _lab4a() -> dict[str, str]:
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


def _tradeoff() -> str:
    """The plans of the reference beside the optimum, on the graph of notebook 05."""
    import matplotlib

    # Letters as text, a fixed salt and no date: the same bytes on every run.
    matplotlib.rcParams |= {"svg.hashsalt": "lab4b", "svg.fonttype": "none"}
    graph = tradeoff_graph()
    seconds = estimated_seconds(graph)
    peak = reference.simulate(graph, []).nbytes
    points = []
    for share in (1.0, 0.9, 0.8, 0.7, 0.6):
        plan = reference.choose(graph, seconds, round(share * peak))
        points.append((recomputed_seconds(graph, plan.drop, seconds), plan.nbytes))
    text = io.StringIO()
    figure = plot_tradeoff({"the greedy's plans": points})
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def main() -> None:
    """Write the pictures that the notebooks show."""
    for name, text in pictures().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"written: {FOLDER.name}/{name}")


if __name__ == "__main__":
    main()
