"""Run SCALE-Sim on designs spread over the space; each result is added to recorded.csv as it comes.

``python -m autograder.labs.lab2a.record`` goes on where it stopped. A design takes 2 to 8 CPU
seconds; 256 of them some 15 CPU minutes.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lab_utils.instruments.systolic.designs import (
    DATAFLOWS,
    Conv,
    Design,
    Gemm,
    design_of,
    design_space,
)
from lab_utils.instruments.systolic.show.peer import WANTED, compute_report, installed
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab2a.network import BANDWIDTH, CONVS, GEMMS

RECORDED = Path(__file__).with_name("recorded.csv")
COLUMNS = [*Design._fields, "layer", "total", "stall", "overall_util", "mapping_efficiency"]
_BLOCKS = 4
_SEED = 2


def chosen(blocks: int = _BLOCKS) -> list[Design]:
    """Designs spread over the space: each 64 in a row have every array and every set of SRAMs.

    The dataflows take turns, and start with another one in each block.
    """
    rng = np.random.default_rng(_SEED)
    space = design_space()
    arrays = sorted({(one.height, one.width) for one in space})
    srams = sorted({(one.ifmap_kb, one.filter_kb, one.ofmap_kb) for one in space})
    designs = []
    for block in range(blocks):
        pairs = zip(rng.permutation(len(arrays)), rng.permutation(len(srams)), strict=True)
        for number, (array, sram) in enumerate(pairs):
            dataflow = DATAFLOWS[(number + block) % len(DATAFLOWS)]
            designs.append(design_of((*arrays[array], *srams[sram]), dataflow))
    return designs


def config_text(design: Design, bandwidth: int = BANDWIDTH) -> str:
    """A ``system.cfg`` as SCALE-Sim reads it."""
    return "\n".join(
        [
            "[general]",
            "run_name = lenet",
            "[architecture_presets]",
            f"ArrayHeight = {design.height}",
            f"ArrayWidth = {design.width}",
            f"IfmapSramSzkB = {design.ifmap_kb}",
            f"FilterSramSzkB = {design.filter_kb}",
            f"OfmapSramSzkB = {design.ofmap_kb}",
            "IfmapOffset = 0",
            "FilterOffset = 10000000",
            "OfmapOffset = 20000000",
            f"Dataflow = {design.dataflow}",
            f"Bandwidth = {bandwidth}",
            "[run_presets]",
            "InterfaceBandwidth = USER",
            "",
        ]
    )


def topology_text(layers: tuple[Conv, ...] | tuple[Gemm, ...]) -> str:
    """A topology file: a header, a row a layer; every row ends with a comma."""
    head = "Layer name, M, N, K,"
    if isinstance(layers[0], Conv):
        head = (
            "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
            "Channels, Num Filter, Strides,"
        )
    rows = [", ".join(map(str, layer)) + "," for layer in layers]
    return "\n".join([head, *rows, ""])


def rows_of(design: Design, bandwidth: int = BANDWIDTH) -> Iterator[list[str]]:
    """Run one design; a row for each of the five layers."""
    config = config_text(design, bandwidth)
    networks: tuple[tuple[Conv, ...] | tuple[Gemm, ...], ...] = (CONVS, GEMMS)
    for layers in networks:
        report = compute_report(config, topology_text(layers), layers is GEMMS)
        lines = list(csv.reader(report.splitlines()))[1:]
        for name, line in zip([layer.name for layer in layers], lines, strict=True):
            _layer, total, stall, overall, mapping, _compute, *_rest = (
                part.strip() for part in line
            )
            yield [*map(str, design), name, total, stall, overall, mapping]


def recorded(path: Path = RECORDED) -> dict[Design, list[dict[str, str]]]:
    """What is in the table: the rows of each whole design, in the order of the file."""
    found: dict[Design, list[dict[str, str]]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                sizes = (int(row[name]) for name in Design._fields[:-1])
                design = design_of(sizes, row["dataflow"])
                found.setdefault(design, []).append(row)
    return found


def main() -> None:
    """Record what is not in the table yet."""
    if not installed():
        raise LabError(f"scalesim=={WANTED} is not installed")
    done = recorded()
    if not RECORDED.exists():
        RECORDED.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    for number, design in enumerate(chosen(), 1):
        if design in done:
            continue
        rows = list(rows_of(design))
        with RECORDED.open("a", encoding="utf-8", newline="") as file:  # all five rows or none
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{number} of {_BLOCKS * 64}: {design}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
