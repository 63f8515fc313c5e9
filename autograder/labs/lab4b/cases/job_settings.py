"""Networks, models and strategies on which notebook 2 is tried: public ones, and hidden ones."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple

from lab_utils.instruments.network.dims import FULLY_CONNECTED, RING, SWITCH, Dim, System
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.shapes import Transformer
from lab_utils.labs.lab4b.systems import GPT_175B, JOB, LLAMA_70B, SYSTEM_1, SYSTEM_2

GIB, NS = 2**30, 1e-9
MIB = 2**20


def _dim(kind: str, size: int, bandwidth: float, latency: float, ways: int = 1) -> Dim:
    """Bandwidth in 2³⁰ bytes a second, latency in nanoseconds."""
    return Dim(kind, size, bandwidth * GIB, latency * NS, ways)


def _system(name: str, rate: float, memory: float, *dims: Dim) -> System:
    """Rate in 10¹² operations a second, memory in 10⁹ bytes a second."""
    rates = {"bf16": rate * 1e12}
    return System(name, dims, Machine(name, rates, memory * 1e9, 80e9, 1e9))


class Files(NamedTuple):
    """A machine as AstraSim's two files describe it."""

    network: str
    system: str


def _files(rate: float, memory: float, *dims: tuple[str, int, float, float, str]) -> Files:
    """Rate in 10¹² operations a second, memory in GB/s; kind, size, GB/s, ns and algorithm."""
    kinds, sizes, bandwidths, latencies, algorithms = zip(*dims, strict=True)
    lists = {"topology": kinds, "npus_count": sizes, "bandwidth": bandwidths, "latency": latencies}
    network = "".join(f"{key}: [ {', '.join(map(str, told))} ]\n" for key, told in lists.items())
    both = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
    system = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 10,
        "active-chunks-per-dimension": 4,
        "preferred-dataset-splits": 10,
        **{f"{what}-implementation": list(algorithms) for what in both},
        "local-mem-bw": memory,
        "peak-perf": rate,
    }
    return Files(network, json.dumps(system))


_DIRECT, _HALVING, _RING = "direct", "halvingDoubling", "ring"
BOXES_OF_EIGHT = _files(450, 3000, (FULLY_CONNECTED, 8, 128.5714, 20, _DIRECT),
                        (SWITCH, 8, 25, 300, _HALVING))  # fmt: skip
BOXES_OF_FOUR = _files(400, 2000, (FULLY_CONNECTED, 4, 200, 20, _DIRECT), (RING, 8, 5, 900, _RING))
ONE_SWITCH = _files(300, 1500, (SWITCH, 32, 50, 1500, _HALVING))
TWO_RINGS = _files(200, 1200, (RING, 8, 60, 200, _RING), (RING, 4, 60, 200, _RING))
FAR_APART = _files(600, 3000, (SWITCH, 8, 100, 300, _HALVING), (RING, 2, 2, 20_000, _RING))
RINGS_IN_A_SWITCH = _files(900, 3000, (FULLY_CONNECTED, 8, 128.5714, 20, _DIRECT),
                           (SWITCH, 2, 25, 100, _RING))  # fmt: skip
TWO_LAYERS = Transformer("two layers", 2, 8192, 64, 64, 128, 28672, False, 32000, 1024)
MANY, LONG, FEW = Job(1024, 256, 1, "bf16"), Job(4096, 32, 1, "bf16"), Job(512, 64, 1, "bf16")

TINY = Transformer("tiny", 2, 16, 4, 4, 4, 24, False, 40, 8)
SHARED = Transformer("shared keys", 3, 24, 4, 2, 6, 40, True, 50, 8)
WIDE = Transformer("wide", 4, 32, 8, 8, 4, 80, False, 77, 16)
GATED = Transformer("gated", 5, 48, 8, 4, 6, 112, True, 101, 24)
FOUR_GATED = Transformer("gated", 4, 48, 8, 4, 6, 112, True, 101, 24)
NARROW = Transformer("narrow", 2, 40, 8, 8, 5, 64, True, 90, 12)

RING_8 = _dim(RING, 8, 50, 500)
SWITCH_8 = _dim(SWITCH, 8, 50, 500)
FULL_8 = _dim(FULLY_CONNECTED, 8, 50, 500)
BOTH_WAYS = _dim(RING, 4, 100, 50, 2)
DGX = (_dim(FULLY_CONNECTED, 8, 128.5714, 20), _dim(SWITCH, 8, 25, 300))
POD = (_dim(RING, 4, 90, 60, 2), _dim(RING, 6, 45, 70, 1), _dim(SWITCH, 4, 30, 1900))

SLOW_SPINE = _system("eight by eight", 900, 3000, *DGX)
FLAT = _system("one switch", 300, 2000, _dim(SWITCH, 64, 12.5, 2000))
THIRD = _system("rings, fast inside", 200, 1500, *(
    _dim(RING, 4, bandwidth, 80, 2) for bandwidth in (800, 200, 20)
))  # fmt: skip
SYSTEMS = {one.name: one for one in (SYSTEM_1, SYSTEM_2, SLOW_SPINE, FLAT, THIRD)}
SMALLER = replace(GPT_175B, layers=32, name="a third of GPT-175B")


def _job(compute: float, waits: float, behind: float = 0.0, cover: float = 0.0) -> dict[str, float]:
    return {"compute": compute, "waits": waits, "behind": behind, "cover": cover}


Settings = dict[str, dict[str, list[tuple[Any, ...]]]]
"""By task and case, the arguments of its parts."""

PUBLIC: Settings = {
    "2.1": {"two ranks": [(2,)], "four ranks": [(4,)], "five ranks": [(5,)]},
    "2.2": {"two ranks": [(2,)], "four ranks": [(4,)], "eight ranks": [(8,)]},
    "2.3": {"2 x 2": [(2, 2)], "4 x 2": [(4, 2)], "2 x 3": [(2, 3)]},
    "2.4": {
        "AstraSim's ring": [("all_reduce", MIB, RING_8)],
        "AstraSim's switch": [("all_reduce", MIB, SWITCH_8)],
        "AstraSim's eight, fully connected": [("all_reduce", MIB, FULL_8)],
        "AstraSim's ring of rings": [
            ("all_reduce", MIB, _dim(RING, 4, 50, 500), _dim(RING, 2, 50, 500))
        ],
        "a ring both ways, half an all-reduce": [("reduce_scatter", 2**20, BOTH_WAYS)],
        "no dimension": [("all_gather", 4096)],
    },
    "2.5": {
        "one device": [(TINY, Job(8, 4, 1, "bf16"), Strategy())],
        "tensor parallel": [(TINY, Job(8, 4, 1, "bf16"), Strategy(tp=2))],
        "sequence parallel": [(TINY, Job(8, 4, 1, "bf16"), Strategy(sp=2))],
        "data parallel": [(TINY, Job(8, 4, 1, "bf16"), Strategy(dp=4))],
        "all three, recomputed": [(TINY, Job(8, 4, 1, "bf16"), Strategy(2, 2, 2, 1, True))],
        "shared keys, a gate": [(SHARED, Job(8, 4, 2, "fp32"), Strategy(1, 2, 4))],
    },
    "2.6": {
        "one device": [(TINY, Job(8, 4, 1, "bf16"), Strategy(), 16)],
        "tensor parallel": [(TINY, Job(8, 4, 1, "bf16"), Strategy(tp=2), 16)],
        "all three": [(TINY, Job(8, 4, 1, "fp32"), Strategy(2, 2, 2), 16)],
        "recomputed": [(TINY, Job(8, 4, 1, "bf16"), Strategy(1, 2, 2, 1, True), 16)],
        "shared keys, a gate": [(SHARED, Job(8, 4, 2, "bf16"), Strategy(1, 2, 1, 1, True), 2)],
    },
    "2.7": {"four ranks": [(4,)], "six ranks": [(6,)], "64 ranks": [(64,)]},
    "2.8": {
        "System 1, endless memory": [(SYSTEM_1.name, LLAMA_70B, JOB, 16, None)],
        "System 1, 80 GB": [(SYSTEM_1.name, LLAMA_70B, JOB, 16, 80)],
        "System 2, 80 GB": [(SYSTEM_2.name, LLAMA_70B, JOB, 16, 80)],
        "System 1, 10 GB": [(SYSTEM_1.name, LLAMA_70B, JOB, 16, 10)],
    },
    "2.9": {
        "twice as much to wait for": [(_job(2, 1), _job(1, 2))],
        "never": [(_job(1, 1), _job(2, 3))],
        "something behind the compute": [(_job(3, 0.5), _job(1, 0.5, 8, 2))],
    },
    "2.10": {
        "one ring": [(_dim(RING, 4, 100, 50),)],
        "two dimensions": [(_dim(FULLY_CONNECTED, 8, 128.5714, 20), _dim(SWITCH, 2, 25, 100))],
    },
    "2.11": {
        "boxes of eight, endless memory": [(BOXES_OF_EIGHT, TWO_LAYERS, MANY, None)],
        "boxes of eight, 5 GB": [(BOXES_OF_EIGHT, TWO_LAYERS, MANY, 5)],
        "boxes of eight, little to do": [(BOXES_OF_EIGHT, TWO_LAYERS, FEW, None, 2)],
        "one switch": [(ONE_SWITCH, TWO_LAYERS, MANY, 10, 2)],
    },
    "2.12": {
        "no pipeline": [(TINY, Job(8, 4, 1, "bf16"), Strategy(), 0, 16)],
        "two stages": [
            (TINY, Job(8, 8, 4, "bf16"), Strategy(pp=2), stage, 16) for stage in range(2)
        ],
        "four stages, the second": [(WIDE, Job(16, 8, 8, "bf16"), Strategy(pp=4), 1, 16)],
        "two stages, recomputed": [
            (WIDE, Job(16, 8, 4, "bf16"), Strategy(1, 2, 2, 2, True), 0, 16)
        ],
    },
}

_BF16 = "bf16"
HIDDEN: Settings = {
    "2.1": {
        "an odd number of ranks": [(3,), (7,)],
        "more ranks": [(8,), (12,)],
        "nine ranks": [(9,)],
        "many ranks": [(16,)],
    },
    "2.2": {
        "sixteen ranks": [(16,)],
        "four ranks and sixteen": [(4,), (16,)],
        "32 ranks": [(32,)],
        "more and more ranks": [(2,), (4,), (8,), (16,)],
    },
    "2.3": {
        "three dimensions": [(2, 3, 2)],
        "first small, then large": [(2, 4), (3, 5)],
        "first large, then small": [(4, 3), (8, 2)],
        "four dimensions": [(2, 2, 3, 2)],
    },
    "2.4": {
        "fully connected, then a switch": [
            ("all_reduce", 3 * MIB, *DGX),
            ("all_gather", 5 * MIB, *DGX),
        ],
        "rings of both kinds, then a switch": [
            ("reduce_scatter", 7 * MIB, *POD),
            ("all_reduce", 9 * MIB, *POD),
        ],
        "small and far apart": [
            ("all_reduce", 640, *DGX),
            ("all_reduce", 4 * 1024, _dim(RING, 16, 400, 9000, 2), _dim(SWITCH, 2, 3, 4000)),
            ("all_gather", 96, *POD),
        ],
        "each kind for itself": [
            ("all_gather", 3 * MIB, _dim(RING, 5, 21, 33, 2)),
            ("all_reduce", 3 * MIB, _dim(RING, 7, 21, 33)),
            ("all_reduce", 3 * MIB, _dim(SWITCH, 16, 21, 33)),
            ("reduce_scatter", 3 * MIB, _dim(FULLY_CONNECTED, 6, 21, 33)),
        ],
        "dimensions of one": [
            ("all_reduce", 5 * MIB, _dim(RING, 1, 11, 70), _dim(SWITCH, 4, 11, 70)),
            ("all_reduce", 5 * MIB, _dim(FULLY_CONNECTED, 1, 13, 71), _dim(RING, 6, 13, 71, 2)),
            ("all_reduce", 5 * MIB, _dim(FULLY_CONNECTED, 2, 13, 7100), _dim(SWITCH, 1, 13, 71)),
        ],
    },
    "2.5": {
        "tensor and data parallel": [
            (WIDE, Job(16, 8, 1, _BF16), Strategy(2, 4, 1)),
            (GATED, Job(24, 8, 2, _BF16), Strategy(4, 2, 1, 1, True)),
        ],
        "sequence and data parallel": [
            (WIDE, Job(16, 8, 2, _BF16), Strategy(2, 1, 4)),
            (GATED, Job(24, 8, 1, _BF16), Strategy(1, 1, 8, 1, True)),
        ],
        "shared keys": [
            (GATED, Job(24, 4, 2, _BF16), Strategy(1, 4, 2)),
            (GATED, Job(24, 4, 1, _BF16), Strategy(2, 2, 3, 1, True)),
        ],
        "micro-batches": [
            (NARROW, Job(12, 8, 4, "fp32"), Strategy(1, 2, 2)),
            (NARROW, Job(12, 8, 2, "fp32"), Strategy(2, 2, 3, 1, True)),
        ],
        "all three": [
            (GATED, Job(24, 8, 2, "fp32"), Strategy(2, 4, 2)),
            (WIDE, Job(16, 8, 1, _BF16), Strategy(2, 2, 4, 1, True)),
        ],
    },
    "2.6": {
        "tensor parallel": [
            (WIDE, Job(16, 8, 1, _BF16), Strategy(1, 4, 1), 16),
            (WIDE, Job(16, 8, 1, _BF16), Strategy(2, 4, 1, 1, True), 16),
        ],
        "sequence parallel": [
            (WIDE, Job(16, 8, 1, "fp32"), Strategy(1, 1, 4), 16),
            (WIDE, Job(16, 8, 1, _BF16), Strategy(2, 2, 4, 1, True), 18),
        ],
        "shared keys, a gate": [
            (GATED, Job(24, 4, 1, _BF16), Strategy(1, 4, 3), 16),
            (GATED, Job(24, 4, 1, _BF16), Strategy(2, 2, 2, 1, True), 12),
        ],
        "micro-batches": [
            (NARROW, Job(12, 8, 2, "fp32"), Strategy(2, 2, 2), 16),
            (NARROW, Job(12, 8, 4, _BF16), Strategy(2, 2, 3, 1, True), 4),
        ],
        "a large model": [
            (GPT_175B, JOB, Strategy(4, 8, 2), 16),
            (GPT_175B, JOB, Strategy(2, 32, 1, 1, True), 16),
        ],
    },
    "2.7": {
        "one rank": [(1,), (2,)],
        "eight ranks and sixteen": [(8,), (16,)],
        "twelve ranks": [(12,)],
        "96 ranks": [(96,)],
    },
    "2.8": {
        "a third system": [
            (THIRD.name, SMALLER, FEW, 16, None),
            (THIRD.name, SMALLER, FEW, 16, 80),
            (THIRD.name, SMALLER, FEW, 16, "three per cent less"),
        ],
        "eight by eight": [
            (SLOW_SPINE.name, SMALLER, FEW, 16, 100),
            (SLOW_SPINE.name, SMALLER, FEW, 16, 40),
            (SLOW_SPINE.name, SMALLER, FEW, 16, "to the last byte"),
            (SLOW_SPINE.name, SMALLER, FEW, 16, "three per cent less"),
        ],
        "one switch": [
            (FLAT.name, SMALLER, FEW, 16, 80),
            (FLAT.name, SMALLER, FEW, 16, None),
            (FLAT.name, SMALLER, FEW, 16, "to the last byte"),
        ],
        "just enough memory, and too little": [
            (THIRD.name, SMALLER, FEW, 16, "to the last byte"),
            (THIRD.name, SMALLER, FEW, 16, "three per cent less"),
            (THIRD.name, SMALLER, FEW, 16, 3),
        ],
    },
    "2.9": {
        "more traffic, less compute": [
            (_job(9, 2.5), _job(4, 8.5)),
            (_job(4.01, 1), _job(4, 8)),
            (_job(4.01, 1), _job(4, 16)),
        ],
        "slower links": [
            (_job(5, 4), _job(6, 1)),
            (_job(8, 0.5), _job(7.5, 3)),
            (_job(3, 2), _job(4, 7)),
            (_job(2000, 1), _job(1000, 2.4)),
            (_job(2000, 1), _job(1000, 1.8)),
        ],
        "hidden behind the compute": [
            (_job(6, 0, 30, 5), _job(8, 1)),
            (_job(4, 3), _job(3, 1, 90, 4)),
            (_job(6, 1, 5, 5), _job(5, 0.5, 4, 5)),
        ],
        "never, either way": [(_job(2, 1, 4, 1), _job(5, 3, 6, 1)), (_job(9, 5), _job(7, 2))],
    },
    "2.10": {
        "three rings": [tuple(_dim(RING, n, 2000, 50) for n in (4, 2, 8))],
        "all kinds": [POD],
        "fractions": [(_dim(SWITCH, 64, 12.5, 2000.5), _dim(FULLY_CONNECTED, 3, 6.25, 0.5))],
        "four dimensions": [(*DGX, _dim(RING, 4, 25, 700), _dim(RING, 2, 6.25, 1000))],
    },
    "2.11": {
        "boxes of four, far from each other": [
            (BOXES_OF_FOUR, TWO_LAYERS, LONG, None, 10),
            (BOXES_OF_FOUR, TWO_LAYERS, MANY, 8),
        ],
        "little to do": [
            (BOXES_OF_FOUR, TWO_LAYERS, FEW, None, 6),
            (RINGS_IN_A_SWITCH, TWO_LAYERS, FEW, 5),
        ],
        "two rings": [(TWO_RINGS, TWO_LAYERS, FEW, None, 3), (TWO_RINGS, TWO_LAYERS, MANY, 8, 2)],
        "far apart": [(FAR_APART, TWO_LAYERS, MANY, None, 15), (FAR_APART, TWO_LAYERS, FEW, 6)],
        "rings through a switch": [
            (RINGS_IN_A_SWITCH, TWO_LAYERS, LONG, None, 10),
            (RINGS_IN_A_SWITCH, TWO_LAYERS, MANY, 20),
        ],
    },
    "2.12": {
        "first, middle, last": [
            (WIDE, Job(16, 16, 8, _BF16), Strategy(1, 2, 1, 4), stage, 16) for stage in (0, 2, 3)
        ],
        "all degrees": [
            (WIDE, Job(16, 16, 4, "fp32"), Strategy(2, 2, 2, 4), 1, 16),
            (WIDE, Job(16, 16, 4, _BF16), Strategy(2, 1, 2, 2), 1, 18),
        ],
        "recomputed": [
            (FOUR_GATED, Job(24, 12, 6, _BF16), Strategy(1, 2, 3, 2, True), 0, 16),
            (WIDE, Job(16, 16, 8, _BF16), Strategy(2, 1, 1, 4, True), 1, 12),
            (WIDE, Job(16, 16, 8, _BF16), Strategy(1, 2, 1, 4, True), 3, 12),
        ],
        "fewer micro-batches than stages": [
            (WIDE, Job(16, 16, 2, _BF16), Strategy(2, 2, 1, 4), 0, 16),
            (WIDE, Job(16, 16, 2, _BF16), Strategy(1, 1, 2, 4, True), 1, 16),
        ],
        "shared keys, a gate": [
            (FOUR_GATED, Job(24, 8, 4, "fp32"), Strategy(1, 4, 1, 2), 0, 16),
            (FOUR_GATED, Job(24, 8, 4, _BF16), Strategy(2, 2, 1, 4), 3, 4),
            (FOUR_GATED, Job(24, 8, 4, _BF16), Strategy(1, 2, 1, 2, True), 0, 4),
        ],
    },
}
