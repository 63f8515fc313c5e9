"""Cases of tasks 2.1 to 2.3: networks, designs, and reports in SCALE-Sim's form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from autograder.authoring.derived import CaseData
from autograder.labs.lab2a.cases import case, numbered
from autograder.labs.lab2a.record import recorded
from lab_utils.instruments.systolic.designs import Conv, Design, Gemm
from lab_utils.labs.lab2a.network import BANDWIDTH, CONVS, GEMMS


def file_cases(which: str) -> dict[str, list[CaseData]]:
    """Public or hidden cases, by task."""
    if which == "public":
        networks: list[Sequence[Conv] | Sequence[Gemm]] = [CONVS, GEMMS]
        designs = [(Design(5, 4, 1, 2, 1, "ws"), BANDWIDTH), (Design(8, 3, 4, 2, 3, "os"), 10)]
    else:
        networks = [
            [Conv("stem", 33, 35, 7, 5, 3, 24, 2), Conv("next", 14, 15, 3, 2, 24, 8, 1)],
            [Conv("only", 9, 8, 2, 4, 6, 12, 3)],
            [Gemm("q", 31, 64, 48), Gemm("k", 30, 65, 47)],
            [Gemm("head", 2, 1000, 512)],
            [Conv(f"c{n}", 20 + n, 21 + n, 3, 4, 2 + n, 5 + n, 1 + n % 2) for n in range(4)],
            [Gemm(f"g{n}", 3 + n, 50 + n, 9 * n + 1) for n in range(5)],
        ]
        designs = [
            (Design(10, 3, 2, 4, 1, "is"), 20),
            (Design(4, 9, 3, 1, 2, "os"), 50),
            (Design(7, 8, 1, 4, 3, "ws"), 5),
            (Design(12, 6, 16, 8, 32, "is"), 64),
            (Design(3, 5, 4, 2, 1, "ws"), 1),
            (Design(9, 7, 2, 3, 4, "os"), 33),
        ]
    topologies = [
        case(
            " and ".join(layer.name for layer in layers[:2]),
            {
                "kind": "gemm" if isinstance(layers[0], Gemm) else "conv",
                "layers": [list(layer) for layer in layers],
            },
        )
        for layers in networks
    ]
    configs = [
        case(str(design), {"design": list(design), "bandwidth": width}) for design, width in designs
    ]
    return {
        "2.1": numbered(topologies, "network", which),
        "2.2": numbered(configs, "design", which),
        "2.3": numbered(_report_cases(which), "network", which),
    }


def _report_cases(which: str) -> Iterable[CaseData]:
    """Reports of random small networks, in SCALE-Sim's form; the first public one is real."""
    rng = np.random.default_rng(3 if which == "public" else 4)
    sizes = (
        [(2, 3), (1, 2)] if which == "public" else [(2, 3), (1, 4), (3, 1), (5, 2), (4, 6), (2, 1)]
    )
    for place, (convs, gemms) in enumerate(sizes):
        name = f"{convs} convolutions, {gemms} products"
        rows = [_random_row(rng) for _ in range(convs + gemms)]
        if which == "public" and not place:
            name, rows = "a recorded run of the network", _recorded_rows()
        texts = [_report_text(part) for part in (rows[:convs], rows[convs:])]
        totals = [sum(row[0] for row in rows), sum(row[1] for row in rows)]
        means = [float(np.mean([row[3] for row in part])) for part in (rows[:convs], rows[convs:])]
        yield case(
            name,
            {"conv": texts[0], "gemm": texts[1]},
            totals=[*totals, float(np.mean([row[3] for row in rows]))],
            means=means,
            parts=[sum(row[place] for row in rows[:convs]) for place in (0, 1)],
            overall=float(np.mean([row[2] for row in rows])),
        )


Numbers = tuple[int, int, float, float, float]


def _random_row(rng: np.random.Generator) -> Numbers:
    total = int(rng.integers(300, 90_000))
    shares = [float(one) for one in np.sort(rng.uniform(3, 100, 3))]
    return total, int(rng.integers(1, total)), shares[0], shares[2], shares[1]


def _recorded_rows() -> list[Numbers]:
    rows = next(
        rows for design, rows in recorded().items() if any(int(row["stall"]) for row in rows)
    )
    made: list[Numbers] = []
    for row in rows:
        total, stall = int(row["total"]), int(row["stall"])
        overall = float(row["overall_util"])
        made.append(
            (
                total,
                stall,
                overall,
                float(row["mapping_efficiency"]),
                overall * total / (total - stall + 1),
            )
        )
    return made


def _report_text(rows: Sequence[Numbers]) -> str:
    head = (
        "LayerID, Total Cycles, Stall Cycles, Overall Util %, Mapping Efficiency %, Compute Util %,"
    )
    lines = [f"{place}, {', '.join(map(str, row))}," for place, row in enumerate(rows)]
    return "\n".join([head, *lines, ""])
