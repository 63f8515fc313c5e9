"""Makes the cases, tables and pictures of Lab 2A; ``make notebooks`` writes them.

What is right comes from PyTorch, from running the array register by register, from letting it
wait cycle by cycle, from comparing all with all, and from SCALE-Sim's recorded runs.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab2a.array_cases import array_cases
from autograder.labs.lab2a.file_cases import file_cases
from autograder.labs.lab2a.model_cases import model_cases, stall_free, totals
from autograder.labs.lab2a.pictures import pictures
from autograder.labs.lab2a.record import COLUMNS, recorded
from autograder.labs.lab2a.search_cases import search_cases
from lab_utils.instruments.systolic.designs import design_space

_CASES = Path("lab_utils/labs/lab2a/cases")


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {
        **array_cases("public"),
        **file_cases("public"),
        **search_cases("public"),
        **model_cases("public"),
    }
    hidden = {
        **array_cases("hidden"),
        **file_cases("hidden"),
        **search_cases("hidden"),
        **model_cases("hidden"),
    }
    return {**case_files("lab2a", public, hidden), **_tables(), **pictures(totals()[0])}


def _tables() -> Files:
    """Recorded runs that ship with the lab, and the network's cycles without stalls."""
    known, (shipped, _held) = recorded(), totals()
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for design in shipped:
        writer.writerows(known[design])
    arrays = sorted({one._replace(ifmap_kb=4, filter_kb=4, ofmap_kb=1) for one in design_space()})
    free = {
        f"{one.dataflow} {one.height} {one.width}": cycles
        for one, cycles in zip(arrays, stall_free(arrays), strict=True)
    }
    return {
        _CASES / "recorded.csv": text.getvalue(),
        _CASES / "stall_free.json": json.dumps(free, indent=0) + "\n",
    }
