"""A systolic accelerator as plain data: the array, its three memories, the dataflow; layers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

DATAFLOWS = ("os", "ws", "is")
"""Output-, weight- and input-stationary: which operand stays in the array."""


class Design(NamedTuple):
    """One point of the design space.

    Attributes:
        height: rows of processing elements.
        width: columns of processing elements.
        ifmap_kb: SRAM for inputs in kB of 1024 bytes; a word is one byte.
        filter_kb: SRAM for weights.
        ofmap_kb: SRAM for outputs.
        dataflow: one of ``DATAFLOWS``.
    """

    height: int
    width: int
    ifmap_kb: int
    filter_kb: int
    ofmap_kb: int
    dataflow: str

    def __str__(self) -> str:
        srams = f"{self.ifmap_kb}+{self.filter_kb}+{self.ofmap_kb} kB"
        return f"{self.height} x {self.width} {self.dataflow}, {srams}"


class Conv(NamedTuple):
    """A convolution without padding, in the order of a topology file."""

    name: str
    height: int
    width: int
    filter_height: int
    filter_width: int
    channels: int
    filters: int
    stride: int = 1


class Gemm(NamedTuple):
    """A product of an M x K matrix and a K x N matrix, in the order of a topology file."""

    name: str
    m: int
    n: int
    k: int


def design_of(sizes: Iterable[int], dataflow: str) -> Design:
    """A design from height, width and three sizes in kB, in this order, and its dataflow."""
    height, width, ifmap_kb, filter_kb, ofmap_kb = sizes
    return Design(height, width, ifmap_kb, filter_kb, ofmap_kb, dataflow)


def design_space() -> list[Design]:
    """The 12,288 designs of the course: 8 x 8 arrays, 4 x 4 x 4 memories, 3 dataflows."""
    side, memory = range(3, 11), range(1, 5)
    return [Design(*one) for one in product(side, side, memory, memory, memory, DATAFLOWS)]
