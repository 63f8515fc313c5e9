"""In place of tracing, where tracing would answer a task: steps that we ship are found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.graph import Kind, Phase, kind, phase, placeholders


def trace_workload(work: Any, optimizer: Callable[..., Any] = torch.optim.SGD) -> fx.Graph:
    """The shipped graph of this training step.

    Raises:
        LabError: no shipped graph has these parameters; others cannot be traced here.
    """
    wanted = {f"param:{name}": tuple(p.shape) for name, p in work.model.named_parameters()}
    wanted["input:0"] = tuple(getattr(work.inputs, "shape", ()))
    for path in sorted((ROOT / "lab_utils" / "labs").glob("*/cases/*.dot")):
        graph = read_dot(path)
        given = {n.meta.get("source", ""): n.meta["val"] for n in placeholders(graph)}
        found = {name: tuple(v.shape) for name, v in given.items() if _is_told(name)}
        keeps_state = any(kind(node) is Kind.OPT_STATE for node in placeholders(graph))
        clones = any(phase(node) is Phase.RECOMPUTE for node in graph.nodes)
        if found == wanted and keeps_state == (optimizer is not torch.optim.SGD) and not clones:
            return graph
    trace_training_step()


def trace_training_step(*_: Any, **__: Any) -> NoReturn:
    """Refuses.

    Raises:
        LabError: always.
    """
    raise LabError("while a hand-in is graded, only the graphs of the notebook can be traced")


def step_inputs(*_: Any, **__: Any) -> NoReturn:
    """Refuses, as tracing does."""
    trace_training_step()


def _is_told(source: str) -> bool:
    return source.startswith(("param:", "input:"))
