"""What AstraSim said, and others published: to hold our simulator against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab_utils.instruments.network.strategy import Strategy


class Point(NamedTuple):
    """One run of AstraSim: seconds, and GB at the peak."""

    strategy: Strategy
    wall: float
    gpu: float
    comm: float
    peak: float


_TABLE = """
32_1_2_1_0  3.21  3.19  0.58 144
16_2_2_1_0  3.27  3.16  0.58 116
8_2_4_1_0   3.36  3.18  0.83 117
8_1_8_1_0   3.43  3.25  1.33 144
4_2_8_1_0   3.53  3.23  1.27 117
8_8_1_1_0   3.86  3.13  1.68  96
8_1_8_1_1   4.10  3.92  1.44  67
2_2_16_1_0  4.14  3.31  2.12 117
2_8_4_1_0   4.18  3.16  2.03  96
1_8_8_1_0   4.46  3.21  2.45  97
2_8_4_1_1   5.04  3.82  2.49  19
2_2_16_1_1  5.24  3.99  2.40  41
1_16_4_1_0  5.38  3.16  3.87  95
1_8_8_1_1   5.56  3.87  2.98  20
2_1_32_1_0  5.88  3.51  3.89 146
4_16_1_1_1  6.51  3.78  4.45  18
1_1_64_1_0  8.15  3.86  6.06 148
2_32_1_1_0  8.57  3.13  7.31  96
1_32_2_1_1 10.49  3.79  9.29  18
1_64_1_1_0 13.80  3.30 12.46 102
"""


def _strategy(key: str) -> Strategy:
    dp, tp, sp, pp, again = map(int, key.split("_"))
    return Strategy(dp, tp, sp, pp, bool(again))


#: Llama-70B on System 1, a batch of 512 sequences of 1024 tokens.
PUBLISHED: tuple[Point, ...] = tuple(
    Point(_strategy(key), *map(float, rest))
    for key, *rest in (line.split() for line in _TABLE.strip().splitlines())
)

#: An all-reduce of 1 MiB on 8 ranks at 50 GB/s and 500 ns: kind of each dimension, its size, ns.
ASTRASIM: tuple[tuple[tuple[tuple[str, int], ...], int], ...] = (
    ((("Ring", 8),), 43_025),
    ((("Switch", 8),), 40_978),
    ((("FullyConnected", 8),), 6_155),
    ((("Ring", 4), ("Ring", 2)), 39_994),
)

#: The same on the ring, with the data cut into 4 parts, of which one is under way: parts, ns.
ASTRASIM_IN_PARTS = (4, 64_440)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: 1 if both put all in the same order, -1 if in the opposite one."""
    ranks = [_ranks(values) for values in (one, other)]
    middle = (len(one) + 1) / 2
    away = [[rank - middle for rank in each] for each in ranks]
    both = sum(a * b for a, b in zip(*away, strict=True))
    lengths = [sum(a * a for a in each) for each in away]
    return float(both / (lengths[0] * lengths[1]) ** 0.5)


def _ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in their order; equal ones share the middle of their places."""
    ordered = sorted(values)
    return [(2 * ordered.index(value) + ordered.count(value) + 1) / 2 for value in values]
