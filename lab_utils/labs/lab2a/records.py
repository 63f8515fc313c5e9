"""SCALE-Sim's own results, recorded once: a row for each design and layer.

They stand in where SCALE-Sim is not installed or would take too long, and are what a learned
model learns from.
"""

from __future__ import annotations

import configparser
import csv
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab_utils.instruments.systolic.designs import DATAFLOWS, Design, design_of
from lab_utils.kit.errors import LabError

RECORDED = Path(__file__).parent / "cases" / "recorded.csv"
STALL_FREE = RECORDED.with_name("stall_free.json")
HEAD = "LayerID, Total Cycles, Stall Cycles, Overall Util %, Mapping Efficiency %,"


class Row(NamedTuple):
    """One layer on one design, in the numbers of COMPUTE_REPORT.csv; shares are per cent."""

    layer: str
    total: int
    stall: int
    overall_util: float
    mapping_efficiency: float


@cache
def recorded() -> dict[Design, list[Row]]:
    """All recorded runs: the five layers of each design."""
    found: dict[Design, list[Row]] = {}
    with RECORDED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            design = design_of((int(line[name]) for name in Design._fields[:-1]), line["dataflow"])
            counts = [int(line[name]) for name in Row._fields[1:3]]
            shares = [float(line[name]) for name in Row._fields[3:]]
            found.setdefault(design, []).append(Row(line["layer"], *counts, *shares))
    return found


def report(rows: list[Row]) -> str:
    """Rows as a COMPUTE_REPORT.csv: names with a space in front, each line ends with a comma.

    SCALE-Sim's last column, the utilisation without stalls, was not recorded and is left out.
    """
    lines = [", ".join(map(str, (number, *row[1:]))) + "," for number, row in enumerate(rows)]
    return "\n".join([HEAD, *lines, ""])


def read_config(text: str) -> Design:
    """The design in the text of a ``system.cfg``.

    Raises:
        LabError: it cannot be read; the message names what is missing.
    """
    parser = configparser.ConfigParser()
    try:
        parser.read_string(text)
        chip = parser["architecture_presets"]
        names = ("ArrayHeight", "ArrayWidth", "IfmapSramSzkB", "FilterSramSzkB", "OfmapSramSzkB")
        design = design_of((int(chip[name]) for name in names), chip["Dataflow"].strip())
    except (configparser.Error, KeyError, ValueError) as error:
        raise LabError(f"this is no system.cfg that SCALE-Sim can read: {error}") from None
    if design.dataflow not in DATAFLOWS:
        raise LabError(f"the dataflow {design.dataflow!r} is none of {', '.join(DATAFLOWS)}")
    return design


@cache
def _stall_free() -> dict[str, int]:
    found: dict[str, int] = json.loads(STALL_FREE.read_text(encoding="utf-8"))
    return found


def stall_free_cycles(design: Design) -> int:
    """Cycles of the whole network if memory were never late: a table of the course's arrays.

    Raises:
        LabError: the array is none of the design space.
    """
    array = f"{design.dataflow} {design.height} {design.width}"
    if array not in _stall_free():
        raise LabError(f"{array}: the table has arrays from 3 x 3 to 10 x 10")
    return _stall_free()[array]
