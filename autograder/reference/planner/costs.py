"""Run times of operators: measured on this machine, or estimated from their shapes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx, nn

from lab_utils.steps import estimate as costs
from lab_utils.steps.graph import placeholders
from lab_utils.steps.schedule import runnable
from lab_utils.steps.storage import is_operation, overwritten_memory, storages


def measured_seconds(
    graph: fx.Graph, values: Mapping[str, torch.Tensor], repeat: int = 5
) -> dict[str, float]:
    """CPU seconds of each node by name: the median of ``repeat`` runs after one to warm up.

    ``values`` are the placeholders' tensors by name; they are not changed. Views take no
    time, by definition.
    """
    changed = {storage.owner for storage in overwritten_memory(graph, storages(graph))}
    runs = []
    for _ in range(repeat + 1):
        watch = _Stopwatch(nn.Module(), graph=graph)
        given = [values[n.name].detach() for n in placeholders(graph)]
        pairs = zip(placeholders(graph), given, strict=True)
        with torch.no_grad():
            watch.run(*(value.clone() if node in changed else value for node, value in pairs))
        runs.append(watch.seconds)
    return {
        node.name: statistics.median(run[node.name] for run in runs[1:])
        if is_operation(node)
        else 0.0
        for node in runnable(graph)
    }


class _Stopwatch(fx.Interpreter):
    """Runs a graph in program order and times every node."""

    def __init__(self, module: nn.Module, graph: fx.Graph) -> None:
        super().__init__(module, graph=graph)
        self.seconds: dict[str, float] = {}

    def run_node(self, n: fx.Node) -> Any:
        start = time.process_time()
        result = super().run_node(n)
        self.seconds[n.name] = time.process_time() - start
        return result


def estimated_seconds(graph: fx.Graph) -> dict[str, float]:
    """Seconds of each node by name, from floating-point operations and bytes moved.

    For a model that is too large to run here.
    """
    seconds = costs.estimated_seconds(graph)
    return {node.name: seconds[node] for node in runnable(graph)}
