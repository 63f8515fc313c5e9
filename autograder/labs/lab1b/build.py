"""Makes the cases and the pictures of Lab 1B; ``make notebooks`` writes them.

What is right comes from running and from searching: a model run by demand, every set of fusions,
an interpreter of loop nests, every tile that fits, PyTorch's own counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.authoring.derived import CaseData, Files, case_files
from autograder.labs.lab1b import fusion_cases as fusion
from autograder.labs.lab1b.numbers import (
    DTYPES,
    best_tiles,
    counted_bytes,
    counted_flops,
    quantized_by_search,
)
from autograder.labs.lab1b.orders import Place, least, least_of_staying, staying
from autograder.labs.lab1b.pictures import pictures
from lab_utils.instruments.roofline import A100, H100, ORIN_NANO, Machine
from lab_utils.instruments.tiles.show.walk import count

_STAYING: dict[str, list[tuple[Place, Place]]] = {  # shape, numbers of tiles
    "public": [((8, 12, 6), (4, 3, 2)), ((4096, 1536, 4096), (4, 3, 2))],
    "hidden": [
        ((4096, 1024, 6144), (4, 2, 3)),
        ((70, 55, 36), (2, 5, 3)),
        ((26, 44, 96), (2, 4, 6)),
        ((39, 63, 50), (3, 7, 5)),
    ],
}
_GRIDS: dict[str, list[Place]] = {
    "2.2": [(3, 4, 5), (2, 5, 3), (5, 2, 2), (4, 4, 4), (2, 3, 6), (3, 3, 2), (1, 4, 3), (5, 3, 4)],
    "2.3": [(3, 4, 2), (2, 5, 4), (5, 3, 3), (4, 2, 5), (3, 3, 3), (4, 5, 1), (1, 5, 3), (6, 1, 2)],
}
_BUDGETS: dict[str, list[tuple[Place, int]]] = {
    "public": [((8, 8, 8), 24), ((12, 8, 10), 50)],
    "hidden": [
        ((24, 18, 20), 60),
        ((16, 40, 12), 50),
        ((36, 12, 30), 60),
        ((30, 30, 24), 300),
        ((48, 10, 16), 75),
        ((42, 20, 28), 90),
        ((40, 24, 18), 100),
    ],
}
_PRODUCTS: dict[str, list[tuple[Place, str, str, Machine]]] = {
    "public": [
        ((1024, 128, 512), "bf16", "bf16", A100),
        ((1024, 128, 512), "int8", "bf16", A100),
        ((128, 256, 128), "fp32", "tf32", A100),
    ],
    "hidden": [
        ((1024, 512, 256), "int8", "int8", A100),
        ((1024, 512, 256), "fp64", "fp64", A100),
        ((640, 96, 2048), "int8", "bf16", H100),
        ((48, 7168, 320), "fp32", "bf16", H100),
        ((1536, 24, 896), "bf16", "fp32", ORIN_NANO),
        ((352, 608, 160), "int8", "fp32", ORIN_NANO),
        ((2304, 40, 72), "fp32", "tf32", H100),
        ((200, 1120, 88), "bf16", "fp64", A100),
    ],
}


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {
        "1.1": fusion.traffic_cases(fusion.PUBLIC),
        "1.2": fusion.public_times(),
        "1.3": fusion.public_fusions(),
        "2.1": _staying_cases("public")[:4],
        "2.2": [_order_case(tiles) for tiles in ((2, 2, 2), (4, 3, 2))],
        "2.3": [_order_case(tiles) for tiles in ((2, 2, 2), (4, 3, 2))],
        "2.4": [_budget_case(*one) for one in _BUDGETS["public"]],
        "2.5": [_product_case(*one) for one in _PRODUCTS["public"]],
        "2.6": [_weight_case(name, weight) for name, weight in _public_weights().items()],
    }
    hidden = {
        "1.1": fusion.traffic_cases(fusion.HIDDEN),
        "1.2": fusion.hidden_times(),
        "1.3": fusion.hidden_fusions(),
        "2.1": _staying_cases("hidden"),
        **{
            task: _nameless([_order_case(tiles) for tiles in grids], "grid")
            for task, grids in _GRIDS.items()
        },
        "2.4": _nameless([_budget_case(*one) for one in _BUDGETS["hidden"]], "product"),
        "2.5": [_product_case(*one) for one in _PRODUCTS["hidden"]],
        "2.6": [_weight_case(name, weight) for name, weight in _hidden_weights().items()],
    }
    return {**case_files("lab1b", public, hidden), **pictures()}


def _nameless(cases: list[CaseData], what: str) -> list[CaseData]:
    """Hidden cases under names that do not tell their sizes: feedback shows names."""
    many = len(cases)
    return [{**case, "name": f"{what} {n} of {many}"} for n, case in enumerate(cases, 1)]


def elements(keep: str, shape: Place, tiles: Place) -> list[int]:
    """A read, B read, C read, C written, in elements: the interpreter's tiles times their size."""
    m, n, k = (whole // many for whole, many in zip(shape, tiles, strict=True))
    moved = count(staying(keep, tiles))
    parts = {"A": m * k, "B": k * n, "C": m * n}
    reads = [moved.reads[name] * parts[name] for name in "ABC"]
    return [*reads, moved.writes["C"] * parts["C"]]


def _staying_cases(which: str) -> list[CaseData]:
    made: list[CaseData] = []
    for shape, tiles in _STAYING[which]:
        for keep in "ABC":
            m, n, k = shape
            given = {"keep": keep, "shape": list(shape), "tiles": list(tiles)}
            wanted = {"elements": elements(keep, shape, tiles)}
            where = f"{m} x {k} times {k} x {n}" if which == "public" else _product_name(shape)
            made.append({"name": f"{keep} stays, {where}", "given": given, "wanted": wanted})
    return made


def _product_name(shape: Place) -> str:
    """What a hidden product is like, without its sizes."""
    m, n, k = shape
    if max(shape) > 1000:
        return "the product that the course hands in"
    return {m: "a tall product", n: "a wide product", k: "a deep product"}[max(shape)]


def _order_case(tiles: Place) -> CaseData:
    tm, tn, tk = tiles
    wanted = {"stationary": least_of_staying(tiles), "best": least(tiles)}
    return {
        "name": f"Tm, Tn, Tk = {tm}, {tn}, {tk}",
        "given": {"tiles": list(tiles)},
        "wanted": wanted,
    }


def _budget_case(shape: Place, budget: int) -> CaseData:
    moved, sizes = best_tiles(shape, budget)
    m, n, k = shape
    given = {"shape": list(shape), "budget": budget}
    name = f"{m} x {k} times {k} x {n}, {budget} elements on chip"
    # Of tiles that move equally little, the one that is shortest along K.
    example = min(sizes, key=lambda one: one[2])
    wanted = {"elements": moved, "sizes": list(example)}
    return {"name": name, "given": given, "wanted": wanted}


def _product_case(shape: Place, stored: str, computed: str, machine: Machine) -> CaseData:
    given: dict[str, Any] = {
        "shape": list(shape),
        "stored": stored,
        "computed": computed,
        "rates": dict(machine.rates),
        "bandwidth": machine.bandwidth,
    }
    compute = counted_flops(shape) / machine.rates[computed]
    memory = counted_bytes(shape, stored) / machine.bandwidth
    sizes = {name: dtype.itemsize for name, dtype in DTYPES.items()}
    name = f"stored in {stored}, computed in {computed}, on {machine.name}"
    return {"name": name, "given": given, "wanted": {"seconds": [compute, memory], "bytes": sizes}}


def _public_weights() -> dict[str, list[list[float]]]:
    return {
        "two rows, one small": [[1.27, -0.5, 0.333, 0.004], [0.0254, 0.011, -0.002, 0.0087]],
        "the largest is negative": [[0.3, -2.54, 1.111], [-0.8, 0.2, 0.75]],
    }


def _hidden_weights() -> dict[str, list[list[float]]]:
    rng = np.random.default_rng(1)

    def noise(rows: int, columns: int, spread: float = 1.0) -> Any:
        sizes = np.exp(spread * rng.standard_normal((rows, 1)))
        return (sizes * rng.standard_normal((rows, columns))).round(5)

    with_zeros = noise(4, 6)
    with_zeros[2] = 0
    negative = -np.abs(noise(3, 7))
    positive = np.abs(noise(3, 5))
    weights = {
        "rows of like size": noise(5, 8, 0.1),
        "rows of very different size": noise(6, 9, 3),
        "a row of zeros": with_zeros,
        "nothing but negative weights": negative,
        "nothing but positive weights": positive,
        "a single column": noise(5, 1),
        "more rows than columns": noise(11, 3),
        "an outlier in one row": np.vstack([noise(3, 8), 40 * noise(1, 8)]),
    }
    return {name: np.asarray(weight).tolist() for name, weight in weights.items()}


def _weight_case(name: str, weight: list[list[float]]) -> CaseData:
    _whole, scales = quantized_by_search(np.array(weight))
    return {"name": name, "given": {"weight": weight}, "wanted": {"scales": scales}}
