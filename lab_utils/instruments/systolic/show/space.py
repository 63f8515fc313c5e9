"""A whole design space at once: cycles, stalls and mapping efficiency of every layer.

Only the array and the dataflow decide what is asked for, and each SRAM misses for itself: so
192 arrays and four sizes for each of two SRAMs stand for all 12,288 designs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from lab_utils.instruments.systolic.designs import Conv, Design, Gemm
from lab_utils.instruments.systolic.show.stalls import Layer
from lab_utils.instruments.systolic.show.traffic import addresses


class Outcome(NamedTuple):
    """What a layer costs on a design; ``efficiency`` is in per cent."""

    compute: int
    stalls: int
    efficiency: float

    @property
    def total(self) -> int:
        """Cycles, as SCALE-Sim reports them."""
        return self.compute + self.stalls


def explore(
    layers: Sequence[Conv | Gemm],
    designs: Iterable[Design],
    bandwidth: int,
    advance: Callable[[], None] = lambda: None,
) -> dict[Design, list[Outcome]]:
    """Outcomes of all layers on all designs; ``advance`` is called after each array."""
    arrays: dict[tuple[str, int, int], list[Design]] = {}
    for design in designs:
        arrays.setdefault((design.dataflow, design.height, design.width), []).append(design)
    found: dict[Design, list[Outcome]] = {}
    for array, alike in arrays.items():
        ready = [(Layer(layer, *array), mapping_efficiency(layer, *array)) for layer in layers]
        for design in alike:
            srams = (design.ifmap_kb, design.filter_kb, design.ofmap_kb)
            found[design] = [
                # SCALE-Sim counts cycles from 0 and reports the number of the last one.
                Outcome(layer.traffic.cycles - 1, layer.stall_cycles(*srams, bandwidth), share)
                for layer, share in ready
            ]
        advance()
    return found


def mapping_efficiency(layer: Conv | Gemm, dataflow: str, height: int, width: int) -> float:
    """Per cent of the PEs that get something to do, over all folds: counted fold by fold."""
    a, b = addresses(layer)
    rows, columns = {"os": (len(a), b.shape[1]), "ws": b.shape, "is": a.T.shape}[dataflow]
    used = [
        min(height, rows - row) * min(width, columns - column)
        for row in range(0, rows, height)
        for column in range(0, columns, width)
    ]
    return 100 * sum(used) / (len(used) * height * width)
