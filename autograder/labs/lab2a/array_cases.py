"""Cases of tasks 1.1 to 1.5: PyTorch counts windows, the register-level array counts cycles."""

from __future__ import annotations

from autograder.authoring.derived import CaseData
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
_GEMMS = {  # dataflow, (M, N, K): mostly those that are easily confused
    "public": [(flow, (6, 4, 5)) for flow in DATAFLOWS],
    "hidden": [
        ("os", (11, 3, 7)),
        ("ws", (11, 3, 7)),
        ("is", (11, 3, 7)),
        ("is", (2, 13, 9)),
        ("ws", (5, 8, 17)),
        ("is", (5, 8, 17)),
        ("os", (9, 14, 2)),
        ("is", (15, 6, 4)),
    ],
}
_FOLDS = {  # height, width, steps
    "public": [(4, 4, 5), (3, 5, 8)],
    "hidden": [(7, 3, 20), (2, 9, 6), (1, 6, 11), (12, 5, 1)],
}
_MAPPED = {  # rows and columns of what is mapped, array, cycles of a fold
    "public": [((6, 4), (4, 4), 11), ((1444, 16), (8, 8), 41), ((8, 8), (4, 4), 12)],
    "hidden": [
        ((25, 9), (8, 4), 31),
        ((7, 30), (3, 7), 23),
        ((5, 3), (9, 10), 40),
        ((64, 49), (10, 6), 17),
        ((33, 33), (5, 9), 52),
        ((121, 2), (7, 5), 64),
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
    mapped = [
        case(
            f"{dataflow}, M, N, K = {gemm[0]}, {gemm[1]}, {gemm[2]}",
            {"dataflow": dataflow, "gemm": list(gemm)},
            mapped=oracle.mapped_by_running(dataflow, gemm),
        )
        for dataflow, gemm in _GEMMS[which]
    ]
    folds = [
        case(
            f"{dataflow} on {height} x {width}, {steps} steps",
            {"dataflow": dataflow, "height": height, "width": width, "steps": steps},
            cycles=oracle.fold_by_running(dataflow, height, width, steps),
        )
        for height, width, steps in _FOLDS[which]
        for dataflow in DATAFLOWS
    ]
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
