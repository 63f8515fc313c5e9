"""Cases of notebook 2, the ring and the data-parallel step.

Most cases hold sizes and seeds. What is right the judge finds out by itself: it adds up what the
ranks brought, and runs one process on all images. What a ring costs, the virtual clock says.
"""

from __future__ import annotations

from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from lab_utils.instruments.ranks import Link
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.ring import ring_diaries

SLOW, FAST, FAR = (50e-6, 1.25e9), (5e-6, 25e9), (2e-3, 1e8)
"""Networks as (latency in seconds, bytes a second): 10 Gbit/s, a fast one, one far away."""


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "2.1": [
            _ring("2 ranks, 12 numbers", 2, [12]),
            _ring("3 ranks, 12 numbers", 3, [12]),
            _ring("4 ranks, 10 numbers", 4, [10]),
            _ring("4 ranks, 3 numbers", 4, [3]),
            _ring("2 ranks, a matrix, column by column", 2, [3, 4], layout="columns"),
        ],
        "2.2": [
            _seconds("2 ranks", 1_000_000, 2, SLOW),
            _seconds("4 ranks", 4000, 4, SLOW),
        ],
        "2.3": [
            _step("2 ranks, one bucket", 2, 2, 3, [2, 2], [[0, 1, 2, 3]]),
            _step("2 ranks, two buckets, unequal shares", 2, 3, 4, [1, 5], [[5, 4], [3, 2, 1, 0]]),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return {
        "2.1": [
            _ring("5 ranks", 5, [10, 4], layout="columns", link=FAST),
            _ring("8 ranks", 8, [16, 4], layout="columns"),
            _ring("3 ranks, 1003 numbers", 3, [1003], link=FAR),
            _ring("7 ranks, fewer numbers than ranks", 7, [2, 3], layout="columns"),
            _ring("one number", 3, [1]),
            _ring("no numbers", 2, [0]),
            _ring("a matrix, column by column", 4, [5, 7], layout="columns"),
            _ring("a large matrix, column by column", 3, [14, 15], layout="columns"),
            _ring("a tensor with gaps", 4, [3, 5], layout="gaps"),
            _ring("whole numbers of 64 bits", 6, [5, 6], dtype="int64", layout="columns"),
            _ring("numbers of 64 bits, with gaps", 2, [33], dtype="float64", layout="gaps"),
            _ring("real numbers", 4, [10, 5], layout="columns", seed=77),
        ],
        "2.2": [
            in_parts(
                name,
                [_seconds("", nbytes, ranks, link) for nbytes, ranks in sizes for link in links],
            )
            for name, sizes, links in (
                ("two ranks", [(2_000_000, 2), (16, 2)], (SLOW, FAST)),
                ("many ranks", [(8_000_000, 8), (720_720, 16)], (FAST,)),
                ("far away", [(6000, 3), (10**9, 5)], (FAR,)),
                ("a thousand ranks", [(44_695_848 * 1000, 1000)], (SLOW,)),
                ("one rank, and two", [(4096, 1), (4096, 2)], (FAST, FAR)),
                ("hardly any bytes", [(28, 7), (12, 6)], (SLOW,)),
            )
        ],
        "2.3": [
            _step("3 ranks", 3, 4, 3, [2, 2, 2], [[7, 6], [5, 4], [3, 2], [1, 0]], seed=41),
            _step("10 and 54 images", 2, 3, 4, [10, 54], [[5, 4, 3], [2, 1, 0]], seed=42),
            _step(
                "4 ranks, unequal shares", 4, 3, 3, [1, 2, 3, 6], [[5, 4, 3, 2], [1, 0]], seed=43
            ),
            _step("a bucket each", 2, 3, 5, [3, 4], [[p] for p in range(5, -1, -1)], seed=44),
            _step("one bucket", 3, 3, 4, [4, 1, 1], [[0, 1, 2, 3, 4, 5]], seed=45, link=FAST),
            _step("a slow network", 2, 5, 3, [2, 7], [[9, 8, 7], [6, 5], [4, 3, 2, 1, 0]], FAR, 46),
        ],
    }


def _ring(
    name: str,
    ranks: int,
    shape: list[int],
    dtype: str = "float32",
    layout: str = "plain",
    link: tuple[float, float] = SLOW,
    seed: int | None = None,
) -> CaseData:
    given: dict[str, Any] = {"ranks": ranks, "shape": shape, "dtype": dtype, "layout": layout}
    if seed is not None:
        given["seed"] = seed
    return {"name": name, "given": {**given, "link": list(link)}, "wanted": {}}


def _seconds(name: str, nbytes: int, ranks: int, link: tuple[float, float]) -> CaseData:
    """What the virtual clock says of ranks that pass chunks around; few of them stand for many."""
    latency, bandwidth = link
    few = min(ranks, 12)
    end = replay(ring_diaries(few, nbytes // ranks), Link(latency, bandwidth)).end
    steps = 2 * (ranks - 1)
    seconds = float(end * steps / (2 * (few - 1))) if few > 1 else 0.0
    given = {"nbytes": nbytes, "ranks": ranks, "latency": latency, "bandwidth": bandwidth}
    return {"name": name, "given": given, "wanted": {"seconds": seconds}}


def _step(
    name: str,
    ranks: int,
    layers: int,
    width: int,
    rows: list[int],
    buckets: list[list[int]],
    link: tuple[float, float] = SLOW,
    seed: int = 5,
) -> CaseData:
    given = {"ranks": ranks, "layers": layers, "width": width, "rows": rows, "seed": seed}
    return {
        "name": name,
        "given": {**given, "seconds": 1e-4, "buckets": buckets, "link": list(link)},
        "wanted": {},
    }
