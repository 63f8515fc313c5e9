"""What is right in Lab 2A, from running and counting: no formula that a task asks for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import torch

from lab_utils.instruments.systolic.designs import Conv, Design
from lab_utils.instruments.systolic.show.registers import run


def gemm_by_pytorch(conv: Conv) -> list[int]:
    """M, N, K: PyTorch cuts the input into windows, and convolves it."""
    image = torch.empty(1, conv.channels, conv.height, conv.width, device="meta")
    kernel = torch.empty(
        conv.filters, conv.channels, conv.filter_height, conv.filter_width, device="meta"
    )
    windows = torch.nn.functional.unfold(image, tuple(kernel.shape[2:]), stride=conv.stride)
    result = torch.nn.functional.conv2d(image, kernel, stride=conv.stride)
    assert windows.shape[2] == result.shape[2] * result.shape[3]
    return [windows.shape[2], result.shape[1], windows.shape[1]]


def mapped_by_running(dataflow: str, gemm: Sequence[int]) -> list[int]:
    """Rows and columns of a large enough array that are ever busy, and the steps."""
    m, n, k = gemm
    side = max(gemm)
    ran = run(dataflow, np.ones((m, k)), np.ones((k, n)), side, side)
    _cycles, rows, columns = np.nonzero(ran.busy)
    return [len(set(rows)), len(set(columns)), int(ran.steps.max()) + 1]


def fold_by_running(dataflow: str, height: int, width: int, steps: int) -> int:
    """Cycles of a product that fills the array exactly once."""
    shapes = {
        "os": ((height, steps), (steps, width)),
        "ws": ((steps, height), (height, width)),
        "is": ((width, height), (height, steps)),
    }
    a, b = shapes[dataflow]
    ran = run(dataflow, np.ones(a), np.ones(b), height, width)
    assert not ran.folds.any()
    return ran.cycles


def folds_by_running(rows: int, columns: int, height: int, width: int) -> tuple[int, float]:
    """How many folds an array needs, and the share of PEs that have work, in per cent."""
    ran = run("os", np.ones((rows, 1)), np.ones((1, columns)), height, width)
    folds = int(ran.folds.max()) + 1
    return folds, 100 * int(ran.busy.sum()) / (folds * height * width)


def stalls_cycle_by_cycle(cycles: Sequence[int], halves: Sequence[int], period: int) -> int:
    """Let the array work, one line of demands after the other, and wait where it must."""
    needs = dict(zip(cycles, halves, strict=True))
    now = 0
    for line in range(max(cycles, default=-1) + 1):
        now += 1  # the line is served in one cycle
        if line in needs:
            arrived, ready = 0, -1
            while arrived < needs[line]:  # halves come one after the other, from the start
                arrived += 1
                ready += period
            while now < ready:
                now += 1
    return now - (max(cycles, default=-1) + 1)


def exact_scores(design: Design, cycles: int, efficiency: float) -> list[float]:
    """Both objectives, in fractions."""
    area = 525 * design.height * design.width + Fraction("1015.7") * (
        design.ifmap_kb + design.filter_kb + design.ofmap_kb
    )
    first = Fraction(80_000, cycles) + 8 * Fraction(efficiency)
    return [float(first), float(Fraction(17_500, cycles) + 15_000 / area)]


def best_by_searching(scores: Sequence[float], many: int = 10) -> list[float]:
    """The highest scores, each once: take the largest, strike out all that equal it, again."""
    left = list(scores)
    found: list[float] = []
    while left and len(found) < many:
        top = max(left)
        found.append(top)
        left = [one for one in left if one != top]
    return found


def front_by_comparing(points: Sequence[tuple[float, float]]) -> list[int]:
    """All against all: who is beaten by nobody."""

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] <= other[0] and one[1] <= other[1] and tuple(one) != tuple(other)

    return [place for place, point in enumerate(points) if not any(beats(o, point) for o in points)]
