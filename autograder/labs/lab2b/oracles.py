"""Who knows what is right in Lab 2B: things that run, not formulas."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
import torch

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.show.registers import run
from lab_utils.instruments.systolic.show.rows import RowArray
from lab_utils.labs.lab2b.machine import Claim, Point


def places_missed(trace: Sequence[int], size: int, policy: str) -> list[int]:
    """Places at which Python's own LRU cache, or a queue, has to fetch."""
    fetched: list[int] = []
    if policy == "LRU":
        fetch = lru_cache(maxsize=size)(lambda line: line)
        for place, line in enumerate(trace):
            before = fetch.cache_info().misses
            fetch(line)
            if fetch.cache_info().misses > before:
                fetched.append(place)
        return fetched
    queue: deque[int] = deque(maxlen=size)
    for place, line in enumerate(trace):
        if line not in queue:
            fetched.append(place)
            queue.append(line)
    return fetched


def levels_missed(lines: Sequence[int], first: int, second: int) -> list[int]:
    """Misses of two caches of Python's own, the first of which calls the second."""

    @lru_cache(maxsize=second)
    def from_memory(line: int) -> int:
        return line

    @lru_cache(maxsize=first)
    def from_second(line: int) -> int:
        return from_memory(line)

    for line in lines:
        from_second(line)
    return [from_second.cache_info().misses, from_memory.cache_info().misses]


def best_by_definition(points: Sequence[Point], goal: str) -> list[list[float]]:
    """Score and area of up to ten points, by asking of each point who is better."""

    def size(p: Point) -> Fraction:
        buffers = sum(level * (p.ifmap + p.filter) for level in (1, 2))
        return 525 * p.height * p.width + Fraction("1015.7") * buffers

    def worth(p: Point) -> float:
        exact = Fraction(p.efficiency)
        if goal != "efficiency":
            exact = Fraction(17500, p.cycles) + 15000 / size(p)
        return round(float(exact), 6)

    found = {}
    ranks = [(worth(point), size(point)) for point in points]
    for mine, area in ranks:
        better = {other for other, _ in ranks if other > mine}
        smaller = [other for other, least in ranks if other == mine and least < area]
        if len(better) < 10 and not smaller:
            found[len(better)] = [mine, round(float(area), 1)]
    return [found[place] for place in sorted(found)]


def product_of(conv: Conv) -> list[int]:
    """M, N and K: the sizes that PyTorch's own convolution has."""
    weight = torch.empty(conv.filters, conv.channels, *conv[3:5], device="meta")
    image = torch.empty(1, conv.channels, conv.height, conv.width, device="meta")
    out = torch.nn.functional.conv2d(image, weight, stride=conv.stride)
    return [out[0, 0].numel(), out.shape[1], weight[0].numel()]


def systolic_cycles(product: Sequence[int], dataflow: str, height: int, width: int) -> int:
    """Cycles of the register-level array, whose product must come out right."""
    m, n, k = product
    rng = np.random.default_rng(m + n + k)
    a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
    ran = run(dataflow, a, b, height, width)
    assert np.array_equal(ran.product, a @ b)
    return ran.cycles


def row_stationary_cycles(conv: Conv, height: int, width: int) -> int:
    """Cycles of the register-level array, whose outputs must be those of PyTorch."""
    rng = np.random.default_rng(sum(conv[1:]))
    image = rng.integers(-9, 10, (conv.channels, conv.height, conv.width))
    filters = rng.integers(-9, 10, (conv.filters, conv.channels, *conv[3:5]))
    array = RowArray(image, filters, conv.stride, height, width)
    cycles = sum(1 for _ in array.run())
    theirs = torch.nn.functional.conv2d(
        torch.tensor(image, dtype=torch.float64)[None],
        torch.tensor(filters, dtype=torch.float64),
        stride=conv.stride,
    )[0]
    assert np.array_equal(array.outputs, theirs.numpy())
    return cycles


def laws_broken(claim: Claim) -> list[str]:
    """Names of the laws, by what could happen at best and at worst."""
    found = []
    if Fraction(claim.macs, claim.pes) > claim.cycles:
        found.append("macs")
    if claim.lines > claim.first or claim.lines > claim.second:
        found.append("compulsory")
    if claim.first - claim.second < 0:
        found.append("asked")
    if claim.l2 == 0 and claim.first != claim.second:
        found.append("no second level")
    if claim.l2 >= claim.lines and claim.second != claim.lines:
        found.append("all fits")
    return sorted(found)
