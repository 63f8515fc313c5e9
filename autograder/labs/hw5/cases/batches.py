"""Cases of notebook 3, large batches and what the ranks must agree on.

Samplers and batch norms are judged beside PyTorch's own; what is on the wire is recorded from
PyTorch's own ``DistributedDataParallel``.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from torch import nn

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.hw5 import nets
from lab_utils.labs.hw5.wire_log import bytes_of, record_ddp

LINK = [50e-6, 1.25e9]


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "3.1": [
            _rates("k = 4, a warm-up of 4 steps", 0.1, 32, 128, 4, [0, 1, 2, 3, 4, 5, 100]),
            _rates("no warm-up", 0.1, 32, 64, 0, [0, 1, 10]),
        ],
        "3.2": [{"name": "batches.csv", "given": {}, "wanted": {}}],
        "3.4": [
            _shard("10 images on 4 ranks", 10, 4, [0, 1]),
            _shard("10 images on 4 ranks, drop_last", 10, 4, [0, 1], drop_last=True),
            _shard("8 images on 2 ranks", 8, 2, [0, 3], seed=5),
        ],
        "3.6": [
            _wire("with batch norm", nets.with_norm, [2, 1, 8, 8]),
            _wire("without batch norm", nets.plain, [2, 12]),
        ],
        "3.8": [
            _norm("2 ranks, equal shares", [3, 3], [2]),
            _norm("2 ranks, unequal shares", [2, 5], [2, 2, 2], seed=31),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return {
        "3.1": [
            in_parts("k = 8", [_rates("", 0.05, 32, 256, 10, [0, 1, 5, 9, 10, 11, 999])]),
            in_parts("k = 16", [_rates("", 0.1, 256, 4096, 25, [0, 3, 24, 25, 26, 4000])]),
            in_parts(
                "warm-ups of 0 and 1",
                [
                    _rates("", 0.2, 64, 192, 0, [0, 1, 2, 50]),
                    _rates("", 0.2, 64, 192, 1, [0, 1, 2, 50]),
                ],
            ),
            in_parts("k is no whole number", [_rates("", 0.3, 100, 250, 7, [0, 1, 4, 6, 7, 8])]),
            in_parts("a long warm-up", [_rates("", 0.01, 128, 8192, 500, [0, 1, 250, 499, 501])]),
            in_parts("a smaller batch", [_rates("", 0.4, 512, 128, 4, [0, 1, 3, 4, 5])]),
        ],
        "3.4": [
            in_parts(
                name,
                [
                    _shard("", images, ranks, epochs, seed, drop_last)
                    for images, ranks, epochs, drop_last in shares
                ],
            )
            for name, seed, shares in _SHARES
        ],
        "3.6": [in_parts(name, [_wire("", **log) for log in logs]) for name, logs in _LOGS],
        "3.8": [
            _norm("4 ranks, unequal shares", [1, 4, 2, 3], [3, 4, 4], seed=301, offset=2000.0),
            _norm("10 and 54 images", [10, 54], [5], seed=302),
            _norm(
                "channels last", [3, 2, 4], [4, 3, 3], seed=303, offset=1500.0, channels_last=True
            ),
            _norm("a large mean", [4, 6], [2, 5, 5], seed=304, offset=1000.0),
            _norm("a rank without images", [5, 0, 3], [2, 2, 2], seed=305),
            _norm("numbers of 64 bits, a large eps", [3, 7], [4], 306, eps=0.5, dtype="float64"),
        ],
    }


_SHARES: list[tuple[str, int, list[tuple[int, int, list[int], bool]]]] = [
    ("a hundred images on 8 ranks", 3, [(100, 8, [0, 1, 7], False), (100, 8, [2], True)]),
    (
        "23 images on 5 ranks",
        11,
        [(23, 5, [0, 2], False), (23, 5, [1, 2], True), (7, 5, [3], False)],
    ),
    (
        "17 images on 3 ranks",
        7,
        [(17, 3, [4, 5], True), (16, 3, [0, 1], False), (5, 3, [0], False)],
    ),
    ("fewer images than ranks", 1, [(3, 7, [0, 4], False), (5, 2, [0, 4], True)]),
    ("an even share", 9, [(36, 6, [0, 1], True), (36, 6, [2, 3], False)]),
    ("one rank", 2, [(9, 1, [0, 5], False), (9, 2, [0, 5], True), (9, 2, [0, 5], False)]),
]
"""Name, seed, and images, ranks, epochs, drop_last of each part: nearly all cases pad and cut."""

_LOGS: list[tuple[str, list[dict[str, Any]]]] = [
    ("two batch norms", [{"make": nets.two_norms, "shape": [2, 3, 8, 8], "steps": 4}]),
    ("a frozen parameter", [{"make": nets.frozen, "shape": [3, 12], "steps": 2}]),
    (
        "a frozen parameter and batch norm",
        [{"make": nets.frozen_norm, "shape": [2, 1, 8, 8], "steps": 3}],
    ),
    (
        "tied weights",
        [
            {"make": nets.tied, "shape": [4, 6], "steps": 5},
            {"make": nets.frozen, "shape": [2, 12], "steps": 4},
        ],
    ),
    (
        "buffers stay local",
        [
            {"make": nets.two_norms, "shape": [2, 3, 8, 8], "broadcast_buffers": False},
            {"make": nets.frozen_norm, "shape": [3, 1, 8, 8], "broadcast_buffers": False},
        ],
    ),
    (
        "gradients of two steps together",
        [{"make": nets.two_norms, "shape": [4, 3, 8, 8], "steps": 6, "accumulate": 3}],
    ),
    (
        "an unused parameter",
        [{"make": nets.unused, "shape": [2, 12], "find_unused_parameters": True}],
    ),
    (
        "numbers of 64 bits",
        [
            {"make": nets.wide, "shape": [5, 7], "steps": 3},
            {"make": nets.frozen_norm, "shape": [2, 1, 8, 8], "steps": 2},
        ],
    ),
]


def _rates(
    name: str, rate: float, base: int, batch: int, warmup: int, steps: list[int]
) -> CaseData:
    """Increment after increment, as the paper says it, in fractions."""
    start = Fraction(str(rate))
    target = start * batch / base
    rates, current = {}, start if warmup else target
    for step in range(max(steps) + 1):
        rates[step] = current
        if step < warmup:
            current += (target - start) / warmup
    given = {"rate": rate, "base": base, "batch": batch, "warmup": warmup, "steps": steps}
    wanted = {"rates": [float(rates[step]) for step in steps]}
    return {"name": name, "given": given, "wanted": wanted}


def _shard(
    name: str, images: int, ranks: int, epochs: list[int], seed: int = 0, drop_last: bool = False
) -> CaseData:
    given = {"images": images, "ranks": ranks, "epochs": epochs, "seed": seed}
    return {"name": name, "given": {**given, "drop_last": drop_last}, "wanted": {}}


def _wire(
    name: str,
    make: Callable[[], nn.Module],
    shape: list[int],
    steps: int = 3,
    accumulate: int = 1,
    **options: Any,
) -> CaseData:
    """A recorded log. What is in it follows from the model; what is left over are notes."""
    log = record_ddp(make, shape, steps, accumulate, **options)
    model = bytes_of(make())
    together = steps // accumulate
    sends = options.get("broadcast_buffers", True)
    told = {
        "parameters": model.parameters,
        "buffers": model.buffers * (1 + together) * sends,
        "gradients": model.trained * together,
    }
    told["metadata"] = sum(message.nbytes for message in log) - sum(told.values())
    summed = sum(m.nbytes for m in log if m.what == "all_reduce" and m.dtype != "int32")
    assert summed == told["gradients"], name
    assert 0 < told["metadata"] < 2000, name
    given = {"log": [list(message) for message in log], "model": list(model)}
    return {"name": name, "given": given, "wanted": {"bytes": told}}


def _norm(
    name: str,
    images: list[int],
    shape: list[int],
    seed: int = 30,
    offset: float = 1.0,
    eps: float = 1e-5,
    dtype: str = "float32",
    channels_last: bool = False,
) -> CaseData:
    given = {"ranks": len(images), "images": images, "shape": shape, "seed": seed, "eps": eps}
    more = {"offset": offset, "dtype": dtype, "channels_last": channels_last, "link": LINK}
    return {"name": name, "given": {**given, **more}, "wanted": {}}
