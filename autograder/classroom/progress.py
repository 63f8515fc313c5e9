"""How far grading is: a bar in a terminal, and a line a minute where there is none."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Tell = Callable[[str, int, int], None]
"""Called with the student just graded, how many are done, and of how many."""
EVERY = 60.0
"""Seconds between two lines."""


@contextmanager
def progress(console: Console, title: str = "graded", every: float = EVERY) -> Iterator[Tell]:
    """Shows how far it is, as long as the block runs; ``title`` is what it is at the end."""
    with _bar(console, title) if console.is_terminal else _lines(console, title, every) as tell:
        yield tell


@contextmanager
def _bar(console: Console, title: str) -> Iterator[Tell]:
    columns = ("[progress.description]{task.description}", BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("collecting", total=None)
        last = (0, 0)

        def tell(student: str, done: int, of: int) -> None:
            nonlocal last
            last = done, of
            bar.update(task, description=student or "grading", completed=done, total=of)

        yield tell
        bar.update(task, description=title, completed=last[0], total=last[1])


@contextmanager
def _lines(console: Console, title: str, every: float) -> Iterator[Tell]:
    """Lines go on when nothing is finished for long: whoever reads a log sees that it lives."""
    done_of = (0, 0)
    started = time.monotonic()
    over = threading.Event()

    def say(words: str) -> None:
        console.print(words, soft_wrap=True, markup=False, highlight=False)

    def tick() -> None:
        while not over.wait(every):
            seconds = time.monotonic() - started
            say(_words(*done_of, seconds, title) + _left(*done_of, seconds))

    def tell(student: str, done: int, of: int) -> None:
        nonlocal done_of
        if not done_of[1]:
            say(f"{of} to be {title}")
        done_of = done, of

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        yield tell
        if done_of[1]:
            say(_words(*done_of, time.monotonic() - started, title))
    finally:
        over.set()
        ticking.join()


def _words(done: int, of: int, seconds: float, title: str) -> str:
    if not of:
        return f"collecting, for {_long(seconds)}"
    return f"{done} of {of} {title} in {_long(seconds)}"


def _left(done: int, of: int, seconds: float) -> str:
    return f", about {_long(seconds / done * (of - done))} left" if 0 < done < of else ""


def _long(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
