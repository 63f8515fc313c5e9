"""The bar of an experiment: in a notebook, saved, and in a terminal."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from lab_utils.kit.progress import Bar

CELL = """
from lab_utils.kit.progress import Bar

bar = Bar("memory.csv", total=4, done=1)
for batch in (2, 4, 8):
    bar.tell(f"BERT, <batch> {batch}")
    bar.advance()
"""


def test_a_saved_notebook_holds_the_last_state_once() -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(book, kernel_name="python3").execute()
    (output,) = book.cells[0].outputs
    assert "4 of 4 in 0 s" in output.data["text/plain"]
    assert '<progress value="4" max="4">' in output.data["text/html"]
    assert "widget" not in str(output)


def test_what_is_going_on_is_said_and_safe_on_a_page() -> None:
    bar = Bar("memory.csv", total=4, done=1)
    bar.tell("BERT, <batch> 2")
    assert "1 of 4, now BERT, <batch> 2" in str(bar)
    assert "&lt;batch&gt;" in bar._repr_mimebundle_()["text/html"]
    bar.advance()
    assert "2 of 4, about 0 s left" in str(bar)


def test_nothing_is_left_to_do() -> None:
    assert "2 of 2, measured before" in str(Bar("latency.csv", total=2, done=2))


def test_a_terminal_shows_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.delitem(__import__("sys").modules, "ipykernel", raising=False)
    bar = Bar("memory.csv", total=1)
    bar.tell("BERT")
    bar.advance()
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("in 0 s\n")
