"""The numbers that describe a graph: nodes, work, and peak memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import fx

from lab_utils.kit.charts.drawn import DrawsItself
from lab_utils.steps.graph import Phase, is_opaque, phase
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import is_operation


@dataclass(frozen=True)
class Measures(DrawsItself):
    """What ``measure`` found. ``unit`` is ``bytes``, or ``values`` for a drawing."""

    nodes: int
    operators: int
    recomputed: int
    program_order: MemoryLine
    as_soon_as_possible: MemoryLine
    unit: str

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers under stable names, for JSON."""
        lines = {
            "program_order": self.program_order,
            "as_soon_as_possible": self.as_soon_as_possible,
        }
        return {
            "nodes": self.nodes,
            "operators_run": self.operators,
            "recomputed_operators": self.recomputed,
            "unit": self.unit,
            "peak": {name: line.peak for name, line in lines.items()},
            "breakdown": {
                name: {str(kind): held for kind, held in line.breakdown.items()}
                for name, line in lines.items()
            },
        }

    def __str__(self) -> str:
        lines = [
            f"nodes                {self.nodes:>14,}",
            f"operators run        {self.operators:>14,}",
            f"recomputed operators {self.recomputed:>14,}",
        ]
        for line in (self.program_order, self.as_soon_as_possible):
            lines.append(f"peak, {line.schedule.name}: {line.peak:,} {self.unit}")
            lines += [f"    {kind:<14}{held:>17,}" for kind, held in line.breakdown.items()]
        return "\n".join(lines)


def measure(graph: fx.Graph, workers: int | None = None) -> Measures:
    """Count the nodes and operators of ``graph``, and find its peaks.

    ``workers`` bounds the as-soon-as-possible scheduler (None: no bound).
    """
    operators = [node for node in graph.nodes if is_operation(node)]
    return Measures(
        nodes=sum(node.op != "output" for node in graph.nodes),
        operators=len(operators),
        recomputed=sum(phase(node) is Phase.RECOMPUTE for node in operators),
        program_order=live_bytes(graph, program_order(graph)),
        as_soon_as_possible=live_bytes(graph, as_soon_as_possible(graph, workers)),
        unit="values" if is_opaque(graph) else "bytes",
    )
