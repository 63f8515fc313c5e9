"""Cases of notebook 1, ranks, collectives and tensor parallel.

A case holds sizes and seeds. What is right the judge finds out by itself: it adds up what the
ranks brought, and runs PyTorch's own layers in one process.
"""

from __future__ import annotations

from typing import Any

from autograder.authoring.derived import CaseData

SLOW, FAST, FAR = (50e-6, 1.25e9), (5e-6, 25e9), (2e-3, 1e8)
"""Networks as (latency in seconds, bytes a second): 10 Gbit/s, a fast one, one far away."""


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "1.1": [
            _ring("2 ranks, chunks of 3", [3, 3]),
            _ring("3 ranks, unequal chunks", [2, 2, 1]),
        ],
        "1.2": [
            _ring("2 ranks, chunks of 2", [2, 2]),
            _ring("3 ranks, unequal chunks", [3, 3, 2]),
        ],
        "1.3": [_linear("2 ranks", 2, [3], 4, 6, 11), _linear("3 ranks", 3, [2, 2], 3, 6, 12)],
        "1.4": [_linear("2 ranks", 2, [3], 4, 5, 13), _linear("3 ranks", 3, [2, 2], 6, 3, 14)],
        "1.5": [_shard("4 heads on 2 ranks", 8, 4, 2), _shard("a bias", 6, 2, 2, False)],
        "1.6": [
            _dropout("2 ranks, p = 0.5", 2, [20, 20], 0.5, (1, 2)),
            _dropout("2 ranks, p = 0.1", 2, [400], 0.1, (7, 70)),
        ],
        "1.7": [
            _block("2 ranks, 2 heads", 2, [1, 3], 8, 2, 8, 21),
            _block("2 ranks, 4 heads", 2, [2, 2], 8, 4, 16, 22),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides. A rank is a process, so they are few: three show each mistake."""
    return {
        "1.1": [
            _ring("4 ranks, an empty chunk", [2, 1, 1, 0], link=FAST),
            _ring("whole numbers of 64 bits", [5, 5, 4], dtype="int64", link=FAR),
            _ring("3 ranks, real numbers", [33, 33, 33], dtype="float64", seed=911),
        ],
        "1.2": [
            _ring("4 ranks, an empty chunk", [3, 3, 2, 0], link=FAST),
            _ring("whole numbers of 64 bits", [6, 6, 5], dtype="int64", link=FAR),
            _ring("numbers of 64 bits", [9, 8, 8], dtype="float64"),
        ],
        "1.3": [
            _linear("3 ranks, a batch of sequences", 3, [2, 3], 7, 9, 301),
            _linear("4 ranks, one output each", 4, [3], 5, 4, 303),
            _linear("one token", 2, [1], 12, 6, 305),
        ],
        "1.4": [
            _linear("3 ranks, a batch of sequences", 3, [2, 3], 9, 7, 401),
            _linear("4 ranks, one input each", 4, [3], 4, 5, 403),
            _linear("one token", 2, [1], 6, 12, 405),
        ],
        "1.5": [
            _shard("6 heads on 3 ranks", 24, 6, 3),
            _shard("8 heads on 4 ranks", 32, 8, 4),
            _shard("8 heads on 2 ranks", 16, 8, 2),
            _shard("one head a rank", 20, 5, 5),
            _shard("a bias of 4 heads", 12, 4, 2, False),
            _shard("a bias of 9 heads", 36, 9, 3, False),
        ],
        "1.6": [
            _dropout("3 ranks, large seeds", 3, [1000], 0.4, (10**6, 10**6 + 3)),
            _dropout("2 ranks, few are kept", 2, [900], 0.9, (123, 124)),
            _dropout("2 ranks, a matrix", 2, [25, 40], 0.6, (3, 1)),
        ],
        "1.7": [
            _block("3 ranks, 6 heads", 3, [2, 5], 12, 6, 18, 505),
            _block("4 ranks, one head each", 4, [1, 4], 12, 4, 16, 504),
            _block("2 ranks, one token", 2, [2, 1], 8, 4, 12, 506),
        ],
    }


def _ring(
    name: str,
    sizes: list[int],
    dtype: str = "float32",
    link: tuple[float, float] = SLOW,
    seed: int | None = None,
) -> CaseData:
    given: dict[str, Any] = {"ranks": len(sizes), "sizes": sizes, "dtype": dtype}
    if seed is not None:
        given["seed"] = seed
    return _case(name, {**given, "link": list(link)})


def _linear(
    name: str, ranks: int, tokens: list[int], inputs: int, outputs: int, seed: int
) -> CaseData:
    sizes = {"tokens": tokens, "inputs": inputs, "outputs": outputs}
    return _case(name, {"ranks": ranks, **sizes, "seed": seed, "link": list(SLOW)})


def _shard(name: str, width: int, heads: int, ranks: int, columns: bool = True) -> CaseData:
    return _case(name, {"width": width, "heads": heads, "ranks": ranks, "columns": columns})


def _dropout(name: str, ranks: int, shape: list[int], p: float, seeds: tuple[int, int]) -> CaseData:
    first, second = seeds
    given = {"ranks": ranks, "shape": shape, "p": p, "first": first, "second": second}
    return _case(name, {**given, "seed": 600 + ranks, "link": list(SLOW)})


def _block(
    name: str, ranks: int, tokens: list[int], width: int, heads: int, hidden: int, seed: int
) -> CaseData:
    sizes = {"tokens": tokens, "width": width, "heads": heads, "hidden": hidden}
    return _case(name, {"ranks": ranks, **sizes, "seed": seed, "link": list(SLOW)})


def _case(name: str, given: dict[str, Any]) -> CaseData:
    return {"name": name, "given": given, "wanted": {}}
