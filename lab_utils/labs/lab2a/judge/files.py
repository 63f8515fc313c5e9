"""Tasks 2.1 to 2.3: files as SCALE-Sim reads and writes them."""

from __future__ import annotations

import configparser
from collections.abc import Sequence

from lab_utils.instruments.systolic.designs import Design
from lab_utils.kit.task import Case, Finding, cut
from lab_utils.labs.lab2a.judge.array import named, same

_KEYS = {
    "ArrayHeight": "height",
    "ArrayWidth": "width",
    "IfmapSramSzkB": "ifmap_kb",
    "FilterSramSzkB": "filter_kb",
    "OfmapSramSzkB": "ofmap_kb",
    "Dataflow": "dataflow",
}
_OFFSETS = ("IfmapOffset", "FilterOffset", "OfmapOffset")


def judge_topology(case: Case, answer: str) -> list[Finding]:
    """Task 2.1: read as SCALE-Sim reads: the first line is skipped, so is what follows a comma."""
    wanted = [[str(part) for part in layer] for layer in case.given["layers"]]
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    rows = [[part.strip() for part in line.split(",")] for line in lines]
    read = [row[:-1] for row in rows[1:]]
    if [[row[0], *map(_whole, row[1:])] if row else [] for row in read] == wanted:
        return []
    mine = f"SCALE-Sim reads {_layers(read)}"
    if not lines:
        look = "The text is empty."
    elif rows and rows[0][: len(wanted[0])] == wanted[0]:
        look = "The first line is a header, and is skipped: here it is your first layer."
    elif [row for row in rows[1:] if row and row[-1]]:
        look = "Every row ends with a comma: what stands behind the last comma is not read."
    elif len(read) != len(wanted):
        look = "One row for each layer, in the order of the list."
    elif [row[:1] for row in read] != [row[:1] for row in wanted]:
        look = "The first entry of a row is the layer's name."
    elif any(sorted(a) == sorted(b) for a, b in zip(read, wanted, strict=True)):
        look = "The numbers are there in another order: keep the order of the header."
    else:
        look = "Each row has the fields of its layer, in their order."
    return [Finding(cut(mine, 300), f"SCALE-Sim reads {_layers(wanted)}", look)]


def _whole(part: str) -> str:
    try:
        return str(int(part))
    except ValueError:
        return part


def _layers(rows: Sequence[Sequence[str]]) -> str:
    return "; ".join(" ".join(row) for row in rows) or "no layer"


def judge_config(case: Case, answer: str) -> list[Finding]:
    """Task 2.2: read as SCALE-Sim reads."""
    design, bandwidth = Design(*case.given["design"]), case.given["bandwidth"]
    wanted = f"{design}, bandwidth {bandwidth}"
    parser = configparser.ConfigParser()
    try:
        parser.read_string(answer)
    except configparser.Error as error:
        look = "Sections in brackets, then lines of the form name = value."
        return [Finding(cut(f"a text that cannot be read: {error}", 200), wanted, look)]
    findings = _missing(parser, wanted)
    if findings:
        return findings[:1]
    chip = parser["architecture_presets"]
    told = {field: chip[key].strip() for key, field in _KEYS.items()}
    for field, mine in told.items():
        right = str(getattr(design, field))
        if mine != right:
            swapped = field in ("height", "width") and told["height"] == str(design.width)
            look = "The height is the number of rows, the width that of columns."
            if not swapped:
                look = "Each of the six entries has a value of the design."
            return [Finding(f"{field} {mine}", f"{field} {right}", look)]
    offsets = [chip[key].strip() for key in _OFFSETS]
    if len(set(offsets)) < len(offsets) or not all(one.isdigit() for one in offsets):
        look = "Three different addresses, far apart: inputs, weights and outputs must not meet."
        return [Finding(f"offsets {', '.join(offsets)}", "0, 10000000, 20000000", look)]
    if parser["run_presets"]["InterfaceBandwidth"].strip() != "USER":
        look = "With CALC the simulator assumes a memory that is never late: stalls vanish."
        return [Finding("InterfaceBandwidth is not USER", "USER", look)]
    if chip["Bandwidth"].strip() != str(bandwidth):
        look = "The bandwidth is given to your function."
        return [Finding(f"bandwidth {chip['Bandwidth'].strip()}", str(bandwidth), look)]
    return []


def _missing(parser: configparser.ConfigParser, wanted: str) -> list[Finding]:
    needed = {
        "general": ("run_name",),
        "architecture_presets": (*_KEYS, *_OFFSETS, "Bandwidth"),
        "run_presets": ("InterfaceBandwidth",),
    }
    found = []
    for section, names in needed.items():
        if not parser.has_section(section):
            look = "SCALE-Sim stops with an error if one of the three sections is missing."
            return [Finding(f"no section [{section}]", wanted, look)]
        for name in names:
            if not parser.has_option(section, name):
                look = "SCALE-Sim stops with an error if an entry is missing from its section."
                found.append(Finding(f"no {name} in [{section}]", wanted, look))
    if parser.has_section("network_presets"):
        look = "With [network_presets] SCALE-Sim looks for the topology in the wrong section."
        found.append(Finding("a section [network_presets]", wanted, look))
    return found


def judge_totals(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.3: cycles, stalls and mean efficiency over all layers of both files."""
    cycles, stalls, efficiency = case.wanted["totals"]
    names = ("cycles", "stall cycles", "mean efficiency")
    two = case.wanted["means"]
    looks = (
        named(
            answer[0],
            (
                (cycles + stalls, "Total Cycles has the stalls in it already: they count once."),
                (cycles - stalls, "Total Cycles is the time that passes, stalls and all."),
                (case.wanted["parts"][0], "The network has both files: add the second one too."),
            ),
            "Add up Total Cycles over all layers of both reports.",
        ),
        named(
            answer[1],
            ((case.wanted["parts"][1], "The network has both files: add the second one too."),),
            "Add up Stall Cycles over all layers of both reports.",
        ),
        named(
            answer[2],
            (
                (sum(two) / 2, "This is the mean of two means: each layer must count the same."),
                (efficiency / 100, "This is a fraction: the report has per cent, so keep them."),
                (two[0], "The network has both files: their layers count together."),
                (case.wanted["overall"], "This is Overall Util: Mapping Efficiency is wanted."),
            ),
            "The mean of Mapping Efficiency over all layers of both reports.",
        ),
    )
    right = (cycles, stalls, efficiency)
    findings = []
    for name, mine, wanted, look in zip(names, answer, right, looks, strict=True):
        if not same(mine, wanted):
            findings.append(Finding(f"{name} {mine:,}", f"{name} {wanted:,}", look))
    return findings
