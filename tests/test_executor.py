"""The executor on honest notebooks, and its parts one by one. For attacks see test_attacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.executor import (
    Cell,
    Executor,
    Job,
    Limits,
    Notebook,
    Result,
)

ROOT = Path(__file__).parents[1]
LIMITS = Limits(cell_seconds=30, question_seconds=30, grace_seconds=2)


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(limits=LIMITS, jobs=2) as executor:
        yield executor


def run(executor: Executor, *sources: str) -> Result:
    """Each source is a notebook with one cell."""
    notebooks = [Notebook(f"{n:02}", [Cell("c", source)]) for n, source in enumerate(sources)]
    return executor.run(Job("student", notebooks))


def text_of(result: Result, notebook: int = 0) -> str:
    return "".join(o.get("text", "") for c in result.notebooks[notebook].cells for o in c.outputs)


# ---- honest notebooks ----------------------------------------------------------------------

CELLS = [
    "print('one'); print('two')",
    "import sys; print('to stderr', file=sys.stderr); print('to stdout')",
    "21 * 2",
    "'text with ; at its end';",
    "import warnings; warnings.warn('careful')",
    "import pandas as pd; pd.DataFrame({'x': [1, 2], 'y': ['a', 'b']})",
    "import matplotlib.pyplot as plt; plt.plot([1, 2, 3]); plt.title('a figure');",
    "fig, ax = plt.subplots(); ax.plot([1]); print('before the figure')",
    "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>bold</b>'), [1, 2])",
    "Markdown('# heading')",
    "handle = display('first', display_id=True)",
    "handle.update('second')",
    "from IPython.display import clear_output\nprint('gone'); clear_output(); print('stays')",
    "print('goes later'); clear_output(wait=True); print('stays, too')",
    "def f():\n    return 1 / 0\nf()",
    "this is no Python",
    "print('after the errors'); _",
    "!echo from the shell",
    "%%capture caught\nprint('caught')",
    "caught.stdout",
    "import asyncio\nawait asyncio.sleep(0, 'awaited')",
    "x = 5\nx?",
    "raise SystemExit('no')",
    "class Shown:\n    __repr__ = _repr_html_ = lambda self: '<i>me</i>'\nShown()",
    "print('ünïcödé ✓', end='')",
    "import os; os.system('echo from a program')",
    "In[1], _ , len(Out) > 0, __name__",
    "   ",
    "import random, torch; torch.rand(2)",
]


def nbclient_outputs(sources: list[str], folder: Path) -> list[list[dict[str, Any]]]:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    client = NotebookClient(
        book, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    return [cell.outputs for cell in book.cells]


def comparable(outputs: list[dict[str, Any]]) -> list[Any]:
    """What two runs of a cell must have in common."""
    found: list[Any] = []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream":
            text = re.sub(
                r"/tmp/ipykernel_\d+/\d+\.py|<ipython-input[^>]*>", "<cell>", output["text"]
            )
            found.append((output["name"], text.replace("\r\n", "\n")))
        elif kind == "error":
            found.append(
                (output["ename"], re.sub(r"\(\S+, line", "(<cell>, line", output["evalue"]))
            )
        else:
            pictures = {k for k in output["data"] if k.startswith("image/")}
            texts = {k: v for k, v in output["data"].items() if k not in pictures}
            found.append((kind, sorted(pictures), texts))
    return (
        sorted(found, key=str)
        if any(isinstance(f, tuple) and f[0] == "stderr" for f in found)
        else found
    )


@pytest.mark.slow
def test_outputs_are_those_of_nbclient(executor: Executor, tmp_path: Path) -> None:
    cells = [Cell(str(n), source) for n, source in enumerate(CELLS)]
    ours = executor.run(Job("student", [Notebook("01", cells)])).notebooks[0].cells
    theirs = nbclient_outputs(CELLS, tmp_path)
    for source, mine, other in zip(CELLS, ours, theirs, strict=True):
        assert comparable(mine.outputs) == comparable(other), source
