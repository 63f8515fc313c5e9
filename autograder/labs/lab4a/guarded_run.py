"""Graphs from files that others wrote: sizes are added up before anything runs."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_leaves

from lab_utils.kit.errors import LabError
from lab_utils.kit.words import size
from lab_utils.steps.run import StepResult, run
from lab_utils.steps.schedule import runnable
from lab_utils.steps.storage import extent

#: Bytes of all values of a graph that is run, views included: a hundred times those of the lab.
MOST_BYTES = 4_000_000_000


def check_size(graph: fx.Graph, name: str) -> None:
    """Refuse what has nothing to judge, and what a machine could not run."""
    if not runnable(graph):
        raise LabError(f"{name}: it has no operators, only placeholders: there is nothing to judge")
    told = {node: _bytes_told(node) for node in graph.nodes}
    if sum(told.values()) > MOST_BYTES:
        largest = max(told, key=told.__getitem__)
        raise LabError(
            f"{name}: its values take {size(sum(told.values()))} together, the largest of them "
            f"(node {largest.name}) {size(told[largest])}: at most {size(MOST_BYTES)} are run"
        )


def _bytes_told(node: fx.Node) -> int:
    """Bytes of all elements, and of the gaps between them: an expanded view counts in full."""
    vals = [val for val in tree_leaves(node.meta.get("val")) if isinstance(val, torch.Tensor)]
    return sum(max(val.numel() * val.element_size(), extent(val)) for val in vals)


def seeded_run(graph: fx.Graph, values: dict[str, torch.Tensor], name: str) -> StepResult:
    """``run`` with the seed that every run here has: dropout draws the same mask in both graphs."""
    torch.manual_seed(0)
    try:
        return run(graph, values)
    except LabError:
        raise
    except Exception as error:  # whatever a kernel raises, the file is what is wrong
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise LabError(f"{name}: it cannot be run: {reason[:300]}") from None


def alike(wanted: list[Any], given: list[Any]) -> bool:
    """Whether the values are the same but for rounding."""
    rights, yours = tree_leaves(wanted), tree_leaves(given)
    return len(rights) == len(yours) and all(
        right.shape == mine.shape
        and torch.allclose(right.double(), mine.double(), rtol=1e-4, atol=1e-6, equal_nan=True)
        if isinstance(right, torch.Tensor) and isinstance(mine, torch.Tensor)
        else right is mine
        for right, mine in zip(rights, yours, strict=True)
    )
