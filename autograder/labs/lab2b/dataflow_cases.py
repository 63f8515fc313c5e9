"""Cases of notebook 2: layers, arrays and claims."""

from __future__ import annotations

import random

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab2b.oracles import (
    laws_broken,
    product_of,
    row_stationary_cycles,
    systolic_cycles,
)
from lab_utils.instruments.systolic.designs import DATAFLOWS, Conv
from lab_utils.labs.lab2b.machine import Claim

# Height and width of the input, of the filter, channels, filters, stride.
Shape = tuple[int, int, int, int, int, int, int]
_LAYERS: dict[str, Shape] = {
    "conv1 of the network": (40, 40, 3, 3, 3, 16, 1),
    "a stride of 2": (8, 11, 3, 2, 2, 4, 2),
    "nothing is left over": (5, 9, 1, 5, 4, 2, 1),
}
_HIDDEN_LAYERS: dict[str, Shape] = {
    "a stride of 2, tall": (24, 13, 3, 4, 5, 6, 2),
    "a stride of 3, wide": (12, 34, 4, 2, 3, 7, 3),
    "a stride of 4": (38, 31, 5, 3, 2, 9, 4),
    "a stride beyond the filter": (30, 23, 2, 3, 6, 5, 5),
    "a window as large as the input": (6, 8, 6, 8, 3, 11, 2),
    "many channels": (18, 15, 3, 5, 32, 4, 2),
    "one weight a filter": (17, 12, 1, 1, 7, 12, 3),
    "a stride of 1": (21, 16, 4, 3, 2, 10, 1),
}
# M, N, K, and the height and width of the array.
_PRODUCTS: list[tuple[str, tuple[int, int, int], tuple[int, int]]] = [
    ("os", (3, 2, 4), (2, 2)),
    ("ws", (3, 2, 4), (2, 2)),
    ("is", (3, 2, 4), (2, 2)),
    ("ws", (9, 7, 8), (3, 4)),
    ("is", (2, 5, 3), (4, 3)),
]
_HIDDEN_PRODUCTS: list[tuple[tuple[int, int, int], tuple[int, int]]] = [
    ((23, 17, 9), (5, 3)),
    ((10, 31, 26), (3, 7)),
    ((7, 5, 40), (8, 6)),
    ((23, 17, 11), (4, 6)),
    ((16, 4, 34), (5, 7)),
    ((13, 2, 8), (7, 3)),
    ((19, 22, 4), (6, 5)),
    ((41, 3, 25), (6, 4)),
    ((8, 33, 3), (5, 9)),
]
_ROWS: dict[str, tuple[Shape, tuple[int, int]]] = {
    "a filter as large as the array": ((6, 7, 3, 3, 1, 1, 1), (3, 3)),
    "channels, filters and a stride": ((9, 8, 3, 2, 2, 3, 2), (3, 2)),
    "two sets above each other": ((6, 6, 2, 3, 2, 5, 1), (5, 3)),
    "a filter higher than the array": ((8, 7, 5, 3, 3, 4, 1), (3, 4)),
}
# Each layer on two arrays: one as high as the filter or nearly, one that holds several sets, or
# one that is lower than the filter.
_HIDDEN_ROWS: dict[str, tuple[Shape, tuple[tuple[int, int], tuple[int, int]]]] = {
    "the course's input": ((40, 36, 3, 3, 2, 3, 1), ((3, 3), (7, 5))),
    "a stride of 2": ((18, 15, 3, 4, 3, 5, 2), ((3, 4), (2, 3))),
    "a stride of 3": ((21, 18, 4, 2, 2, 9, 3), ((9, 3), (3, 4))),
    "three sets, a last one empty": ((11, 14, 2, 3, 4, 7, 2), ((7, 4), (1, 3))),
    "two sets, a wide filter": ((10, 16, 3, 5, 3, 5, 2), ((8, 3), (4, 2))),
    "folds of a high filter": ((16, 13, 5, 2, 3, 6, 2), ((2, 4), (6, 3))),
    "a filter that does not divide": ((13, 12, 7, 3, 2, 3, 1), ((4, 3), (15, 2))),
    "more columns than output rows": ((9, 16, 4, 3, 3, 2, 2), ((4, 9), (3, 2))),
    "one row of elements": ((8, 15, 3, 4, 2, 5, 2), ((1, 3), (8, 2))),
    "one column of elements": ((13, 10, 2, 3, 4, 7, 2), ((5, 1), (2, 4))),
}
_CLAIMS: dict[str, Claim] = {
    "an honest one": Claim(12_996, 9, 1_511, 300, 160, 900, 410),
    "the answer that went round": Claim(12_996, 9, 376, 300, 160, 900, 410),
    "nothing in the second level": Claim(5_000, 12, 600, 80, 0, 240, 150),
    "a second level for everything": Claim(5_000, 12, 600, 80, 80, 240, 96),
    "too good a second level": Claim(5_000, 12, 600, 80, 40, 240, 79),
    "three laws at once": Claim(1_000, 9, 111, 80, 40, 70, 90),
}


def _claims(rng: random.Random) -> list[Claim]:
    """One claim for each mistake that is made with the laws, in an order that stays."""
    lines, pes = rng.randint(40, 400), rng.randint(5, 60)
    first, cycles = lines * 2 + rng.randint(1, 90), rng.randint(200, 2_000)
    second, l2 = first - rng.randint(9, lines // 3), rng.randint(9, lines - 9)
    macs = cycles * pes
    honest = Claim(macs, pes, cycles, lines, l2, first, second)
    edges = [honest._replace(l2=0, second=first), honest._replace(second=first)]
    edges.append(honest._replace(l2=1))
    return [
        honest._replace(macs=macs + rng.randint(1, pes - 1)),  # a division with a rest
        honest._replace(first=lines - 1, second=lines + 5),  # the first level, and asked
        honest._replace(second=lines - rng.randint(1, 9)),  # the second level
        honest._replace(second=first + rng.randint(1, 9)),
        honest._replace(l2=0),  # too few
        honest._replace(l2=0, second=first + 1),  # too many
        honest._replace(l2=lines, second=lines + rng.randint(1, 9)),  # they just fit
        honest._replace(l2=lines + 9, second=lines - 1, cycles=cycles // 2),  # three laws
        # Right at the edge: every element works in every cycle, every line misses just once.
        rng.choice(edges),
        honest._replace(l2=rng.choice((1, lines)), first=lines, second=lines),
    ]


def _hidden_claims() -> dict[str, list[Claim]]:
    """Five claims a case: each sort of them is in half of the cases."""
    rng = random.Random(4)
    sorts = range(10)
    return {
        f"claims {n + 1}": [_claims(rng)[(n + sort) % 10] for sort in (0, 1, 3, 4, 7)]
        for n in sorts
    }


def public() -> dict[str, list[CaseData]]:
    """By task."""
    products = [
        _latency_case(
            f"{dataflow}, {m} x {k} times {k} x {n} on {h} x {w}", dataflow, (m, n, k), (h, w)
        )
        for dataflow, (m, n, k), (h, w) in _PRODUCTS
    ]
    return {
        "2.1": _layers(_LAYERS),
        "2.2": products,
        "2.3": [_rows_case(name, *one) for name, one in _ROWS.items()],
        "2.4": [_claim_case(name, claim) for name, claim in _CLAIMS.items()],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task: a product in all dataflows, a layer on two arrays, and several claims at once."""
    products = [
        (f"product {place}", [_latency_case("", dataflow, *one) for dataflow in DATAFLOWS])
        for place, one in enumerate(_HIDDEN_PRODUCTS, 1)
    ]
    rows = [
        (name, [_rows_case("", shape, array) for array in arrays])
        for name, (shape, arrays) in _HIDDEN_ROWS.items()
    ]
    claims = [
        (name, [_claim_case("", claim) for claim in told])
        for name, told in _hidden_claims().items()
    ]
    return {
        "2.1": _layers(_HIDDEN_LAYERS),
        "2.2": [in_parts(*one) for one in products],
        "2.3": [in_parts(*one) for one in rows],
        "2.4": [in_parts(*one) for one in claims],
    }


def _layers(layers: dict[str, Shape]) -> list[CaseData]:
    return [
        {
            "name": name,
            "given": {"conv": list(shape)},
            "wanted": {"product": product_of(Conv("", *shape))},
        }
        for name, shape in layers.items()
    ]


def _claim_case(name: str, claim: Claim) -> CaseData:
    given, wanted = {"claim": list(claim)}, {"broken": laws_broken(claim)}
    return {"name": name, "given": given, "wanted": wanted}


def _latency_case(
    name: str, dataflow: str, product: tuple[int, int, int], array: tuple[int, int]
) -> CaseData:
    m, n, k = product
    given = {"product": [m, n, k], "dataflow": dataflow, "height": array[0], "width": array[1]}
    wanted = {"cycles": systolic_cycles(product, dataflow, *array), "macs": m * n * k}
    return {"name": name, "given": given, "wanted": wanted}


def _rows_case(name: str, shape: Shape, array: tuple[int, int]) -> CaseData:
    conv = Conv("", *shape)
    m, n, k = product_of(conv)
    given = {"conv": list(shape), "height": array[0], "width": array[1]}
    wanted = {"cycles": row_stationary_cycles(conv, *array), "macs": m * n * k}
    return {"name": name, "given": given, "wanted": wanted}
