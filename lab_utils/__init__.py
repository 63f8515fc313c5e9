"""Helpers for notebooks about graphs: trace, account, schedule, run, read, write, compare, draw.

Names are loaded on first use, so that ``import lab_utils`` costs nothing that is not
needed.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

# Before anything that an older Python does not understand; an exit is one line, also in a cell.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "FAIL  the lab needs Python 3.11 or newer, and this is {}.{} ({})\n"
        "      cure: choose the lab's kernel, or make one with a newer Python: make setup "
        "PYTHON=python3.12".format(*sys.version_info[:2], sys.executable)
    )

if TYPE_CHECKING:
    from lab_utils.kit.errors import LabError
    from lab_utils.steps.compare.diff import diff
    from lab_utils.steps.dot.read import read_dot
    from lab_utils.steps.dot.write import write_dot
    from lab_utils.steps.draw.budget import budget_slider, simulator
    from lab_utils.steps.draw.drawing import draw, to_svg
    from lab_utils.steps.draw.explorer import explore
    from lab_utils.steps.draw.film import film
    from lab_utils.steps.draw.plots import plot_memory
    from lab_utils.steps.graph import (
        Kind,
        Phase,
        add_control_dependency,
        check_acyclic,
        control_dependencies,
        copy_graph,
        kind,
        mark_recomputed,
        outputs,
        phase,
        placeholders,
    )
    from lab_utils.steps.memory import live_bytes
    from lab_utils.steps.profile import Profile
    from lab_utils.steps.run import example_values, measured_peak, run, step_values
    from lab_utils.steps.schedule import Schedule, as_soon_as_possible, program_order, random_order
    from lab_utils.steps.storage import dependencies, nbytes, storages
    from lab_utils.steps.summary import measure
    from lab_utils.steps.trace.step import trace_training_step, trace_workload
    from lab_utils.steps.workloads import Workload, attention, gelu_mlp, llm_mlp

_HOME = {
    "kit.errors": ("LabError",),
    "steps.compare.diff": ("diff",),
    "steps.dot.read": ("read_dot",),
    "steps.dot.write": ("write_dot",),
    "steps.draw.budget": ("budget_slider", "simulator"),
    "steps.draw.drawing": ("draw", "to_svg"),
    "steps.draw.explorer": ("explore",),
    "steps.draw.film": ("film",),
    "steps.draw.plots": ("plot_memory",),
    "steps.storage": ("dependencies", "nbytes", "storages"),
    "steps.run": ("example_values", "measured_peak", "run", "step_values"),
    "steps.graph": (
        "Kind",
        "Phase",
        "add_control_dependency",
        "check_acyclic",
        "control_dependencies",
        "copy_graph",
        "kind",
        "mark_recomputed",
        "outputs",
        "phase",
        "placeholders",
    ),
    "steps.summary": ("measure",),
    "steps.memory": ("live_bytes",),
    "steps.workloads": ("Workload", "attention", "gelu_mlp", "llm_mlp"),
    "steps.profile": ("Profile",),
    "steps.schedule": ("Schedule", "as_soon_as_possible", "program_order", "random_order"),
    "steps.trace.step": ("trace_training_step", "trace_workload"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'lab_utils' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"lab_utils.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _draw_bare_graphs() -> None:
    """In a notebook a graph that stands alone in a cell is a picture, as our own values are."""
    if (ipython := sys.modules.get("IPython.core.getipython")) is None:
        return
    if (shell := ipython.get_ipython()) is not None:
        bundles = shell.display_formatter.mimebundle_formatter
        bundles.for_type_by_name("torch.fx.graph", "Graph", _graph_bundle)


def _graph_bundle(graph: Any, include: Any = None, exclude: Any = None) -> dict[str, str]:
    from lab_utils.steps.draw.values import graph_bundle  # and torch, once there is a graph

    return graph_bundle(graph)


_draw_bare_graphs()
