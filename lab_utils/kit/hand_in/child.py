"""The process that runs a notebook: ``python -m lab_utils.kit.hand_in.child NOTEBOOK``.

It runs the cells in IPython and writes one line of JSON for each; what they print goes nowhere.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab_utils.kit.hand_in.notebook import read_cells


def _errors(notebook: Path) -> Iterator[tuple[int, str]]:
    """Number and error of each code cell."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    code = [cell for cell in read_cells(notebook) if cell.is_code]
    for number, cell in enumerate(code, 1):
        result = shell.run_cell(cell.source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        first = str(error).strip().splitlines()[:1]
        yield number, ": ".join([type(error).__name__, *first]) if error else ""


def run_cells(notebook: Path) -> None:
    """Run the cells; the lines go to what was standard output when the process began."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for number, error in _errors(notebook):
        print(json.dumps([number, error]), file=answers, flush=True)


if __name__ == "__main__":
    run_cells(Path(sys.argv[1]))
