"""Helpers of the recomputation lab: trace, account, schedule, run, read, write, compare, draw.

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
    from lab_utils.compare.diff import diff
    from lab_utils.dot.read import read_dot
    from lab_utils.dot.write import write_dot
    from lab_utils.effects import dependencies, nbytes, storages
    from lab_utils.execute import example_values, measured_peak, run, step_values
    from lab_utils.graph import (
        Kind,
        LabError,
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
    from lab_utils.measures import measure
    from lab_utils.memory import live_bytes
    from lab_utils.models import Workload, attention, gelu_mlp, llm_mlp
    from lab_utils.pictures.budget import budget_slider, simulator
    from lab_utils.pictures.drawing import draw, to_svg
    from lab_utils.pictures.explorer import explore
    from lab_utils.pictures.film import film
    from lab_utils.pictures.plots import plot_memory
    from lab_utils.profile import Profile
    from lab_utils.schedule import Schedule, as_soon_as_possible, program_order, random_order
    from lab_utils.trace.step import trace_training_step, trace_workload

_HOME = {
    "compare.diff": ("diff",),
    "dot.read": ("read_dot",),
    "dot.write": ("write_dot",),
    "pictures.budget": ("budget_slider", "simulator"),
    "pictures.drawing": ("draw", "to_svg"),
    "pictures.explorer": ("explore",),
    "pictures.film": ("film",),
    "pictures.plots": ("plot_memory",),
    "effects": ("dependencies", "nbytes", "storages"),
    "execute": ("example_values", "measured_peak", "run", "step_values"),
    "graph": (
        "Kind",
        "LabError",
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
    "measures": ("measure",),
    "memory": ("live_bytes",),
    "models": ("Workload", "attention", "gelu_mlp", "llm_mlp"),
    "profile": ("Profile",),
    "schedule": ("Schedule", "as_soon_as_possible", "program_order", "random_order"),
    "trace.step": ("trace_training_step", "trace_workload"),
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
        from lab_utils.pictures.drawn import graph_bundle

        bundles = shell.display_formatter.mimebundle_formatter
        bundles.for_type_by_name("torch.fx.graph", "Graph", graph_bundle)


_draw_bare_graphs()
