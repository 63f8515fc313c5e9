"""Progress without a terminal: lines, and not too many."""

from __future__ import annotations

import io
import time

from rich.console import Console

from autograder.classroom.progress import _left, _words, progress


def test_without_a_terminal_there_are_lines() -> None:
    said = io.StringIO()
    with progress(Console(file=said), every=3600) as tell:
        tell("", 0, 200)
        for done in range(1, 201):
            tell(f"student {done}", done, 200)
    first, last = said.getvalue().splitlines()
    assert first == "200 to be graded"
    assert last.startswith("200 of 200 graded in")


def test_lines_go_on_while_nothing_is_finished() -> None:
    said = io.StringIO()
    with progress(Console(file=said), every=0.01) as tell:
        tell("", 0, 2)
        end = time.monotonic() + 60
        while said.getvalue().count("0 of 2 graded") < 2 and time.monotonic() < end:
            time.sleep(0.01)
    assert said.getvalue().count("0 of 2 graded") >= 2


def test_the_rest_is_estimated_from_what_was_done() -> None:
    assert _words(0, 0, 5, "graded") == "collecting, for 5 s"
    assert _words(10, 60, 120, "stored") == "10 of 60 stored in 2 min 0 s"
    assert _left(10, 60, 120) == ", about 10 min 0 s left"
    assert _left(0, 60, 120) == _left(60, 60, 120) == ""


def test_nothing_is_estimated_once_it_is_over() -> None:
    said = io.StringIO()
    with progress(Console(file=said), "stored", every=3600) as tell:
        tell("Ada", 8, 24)
    assert said.getvalue().splitlines()[-1].startswith("8 of 24 stored in ")
    assert "left" not in said.getvalue()


def test_in_a_terminal_there_is_a_bar() -> None:
    said = io.StringIO()
    with progress(Console(file=said, force_terminal=True)) as tell:
        tell("Ada", 1, 1)
    assert "graded" in said.getvalue()
