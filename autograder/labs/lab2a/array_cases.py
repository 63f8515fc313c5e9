"""Cases of tasks 1.1 to 1.5: PyTorch counts windows, the register-level array counts cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab2a import oracle
from autograder.labs.lab2a.cases import case, numbered
from lab_utils.instruments.systolic.designs import DATAFLOWS, Conv
from lab_utils.labs.lab2a.network import CONVS

_CONVS = {
    "public": {
        "a small image": Conv("small", 5, 4, 2, 3, 2, 3, 1),
        "conv1 of the network": CONVS[0],
        "stride 2": Conv("strided", 9, 7, 3, 3, 4, 5, 2),
    },
    "hidden": {
        "a stride that leaves a rest": Conv("a", 10, 11, 3, 2, 3, 7, 3),
        "a filter that is wider than high": Conv("b", 12, 17, 2, 5, 6, 8, 1),
        "a large stride": Conv("c", 23, 19, 4, 3, 5, 6, 4),
        "a window as large as the image": Conv("d", 6, 7, 6, 7, 9, 11, 1),
        "one channel": Conv("e", 14, 9, 3, 4, 1, 13, 2),
        "a filter of 1 x 1": Conv("f", 8, 13, 1, 1, 24, 10, 2),
        "one filter": Conv("g", 11, 15, 5, 3, 7, 1, 3),
    },
}
_GEMMS = {  # M, N, K
    "public": [(6, 4, 5)],
    "hidden": [(11, 3, 7), (2, 13, 9), (5, 8, 17)],
}
_FOLDS = {  # height, width, steps
    "public": [(4, 4, 5), (3, 5, 8)],
    "hidden": [(7, 3, 20), (2, 9, 6), (1, 6, 11), (12, 5, 1)],
}
_MAPPED = {  # rows and columns of what is mapped, array, cycles of a fold
    "public": [((6, 4), (4, 4), 11), ((1444, 16), (8, 8), 41), ((8, 8), (4, 4), 12)],
    "hidden": [
        ((24, 9), (8, 4), 31),  # mostly something is left over one way, and nothing the other
        ((7, 28), (3, 7), 23),
        ((5, 3), (9, 10), 40),
        ((64, 48), (10, 6), 17),
        ((33, 33), (5, 9), 52),
        ((121, 5), (7, 5), 64),
        ((18, 29), (6, 3), 19),
        ((90, 13), (4, 8), 77),
    ],
}


def array_cases(which: str) -> dict[str, list[CaseData]]:
    """Public or hidden cases, by task."""
    gemms = [
        case(name, {"conv": list(conv)}, gemm=oracle.gemm_by_pytorch(conv))
        for name, conv in _CONVS[which].items()
    ]
    mapped = _for_dataflows(which, _GEMMS[which], _mapped_case)
    folds = _for_dataflows(which, _FOLDS[which], _fold_case)
    cycles, shares = [], []
    for sizes, array, fold in _MAPPED[which]:
        many, percent = oracle.folds_by_running(*sizes, *array)
        name = f"{sizes[0]:,} x {sizes[1]:,} on {array[0]} x {array[1]}"
        given = {"mapped": list(sizes), "array": list(array)}
        cycles.append(case(name, {**given, "fold": fold}, cycles=many * fold - 1))
        shares.append(case(name, given, percent=percent))
    return {
        "1.1": gemms,
        "1.2": numbered(mapped, "product", which),
        "1.3": numbered(folds, "array", which),
        "1.4": numbered(cycles, "product", which),
        "1.5": numbered(shares, "product", which),
    }


_Sizes = tuple[int, int, int]


def _for_dataflows(
    which: str, sizes: Sequence[_Sizes], made: Callable[[str, _Sizes], CaseData]
) -> list[CaseData]:
    """A public case for each dataflow; a hidden one for each two, so that one dataflow that is
    wrong fails two cases of three."""
    if which == "public":
        return [made(flow, size) for size in sizes for flow in DATAFLOWS]
    pairs = list(combinations(DATAFLOWS, 2))
    return [in_parts("", [made(flow, size) for flow in two]) for size in sizes for two in pairs]


def _mapped_case(dataflow: str, gemm: _Sizes) -> CaseData:
    return case(
        f"{dataflow}, M, N, K = {gemm[0]}, {gemm[1]}, {gemm[2]}",
        {"dataflow": dataflow, "gemm": list(gemm)},
        mapped=oracle.mapped_by_running(dataflow, gemm),
    )


def _fold_case(dataflow: str, size: _Sizes) -> CaseData:
    height, width, steps = size
    return case(
        f"{dataflow} on {height} x {width}, {steps} steps",
        {"dataflow": dataflow, "height": height, "width": width, "steps": steps},
        cycles=oracle.fold_by_running(dataflow, height, width, steps),
    )
