"""The machine of Lab 2B: an array with two levels of buffers for inputs and for weights."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.instruments.systolic.designs import Conv, Gemm

WORD = 2
"""Bytes of a number: bf16."""
LINE = 16
"""Numbers in a line: what moves, moves in lines."""
STREAMED = 16
"""Rows that stream through the array in one stage."""
NEAR, FAR = 1, 4
"""Cycles of a line from the second level to the first, and from memory to the second."""

LENET = (
    Conv("conv1", 40, 40, 3, 3, 3, 16),
    Conv("conv2", 20, 20, 3, 3, 16, 4),
    Gemm("gemm1", 1, 32, 80),
    Gemm("gemm2", 1, 80, 120),
    Gemm("gemm3", 1, 120, 10),
)
"""The network of Lab 2A."""

LAWS = ("macs", "compulsory", "asked", "no second level", "all fits")
"""Names of the laws that task 2.4 is about."""


class Stage(NamedTuple):
    """A part of a layer: what is computed while the lines of the next part come.

    Attributes:
        cycles: cycles that it takes when all it needs is there.
        ifmap: lines of the input that it asks for, by number.
        filter: lines of the weights that it asks for.
    """

    cycles: int
    ifmap: list[int]
    filter: list[int]


class Point(NamedTuple):
    """A design, and what it was found to do on the whole network.

    Attributes:
        height: rows of the array.
        width: columns of the array.
        dataflow: ``os``, ``ws`` or ``is``.
        ifmap: kB of the first level for inputs; the second level has twice as much.
        filter: kB of the first level for weights; the second level has twice as much.
        efficiency: mean mapping efficiency of all layers, in per cent.
        cycles: of all layers, stalls included.
    """

    height: int
    width: int
    dataflow: str
    ifmap: int
    filter: int
    efficiency: float
    cycles: int


class Claim(NamedTuple):
    """What somebody says that a design does on a layer.

    Attributes:
        macs: multiply-accumulates of the layer.
        pes: processing elements; each does one multiply-accumulate a cycle.
        cycles: that the layer is said to take.
        lines: different lines that the layer asks for.
        l2: lines that the second level holds.
        first: lines that are said to miss in the first level.
        second: lines that are said to miss in the second level too, and so come from memory.
    """

    macs: int
    pes: int
    cycles: int
    lines: int
    l2: int
    first: int
    second: int
