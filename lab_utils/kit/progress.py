"""A progress bar that also reads well in a saved notebook: it stays as its last picture."""

from __future__ import annotations

import sys
import time
from html import escape
from typing import Any

_WIDTH = 24  # characters of the bar in text


class Bar:
    """How far a piece of work is; a notebook shows one bar that moves, a terminal one line.

    ::

        bar = Bar("memory.csv", total=8, done=2)
        bar.tell("BERT-base, batch 4")
        bar.advance()
    """

    def __init__(self, title: str, total: int, done: int = 0) -> None:
        self.title, self.total, self.done = title, total, done
        self._doing, self._started, self._before = "", time.monotonic(), done
        self._handle: Any = None
        if "ipykernel" in sys.modules:
            from IPython.display import display

            self._handle = display(self, display_id=True)

    def tell(self, doing: str) -> None:
        """Say what is being done now."""
        self._doing = doing
        self._show()

    def advance(self) -> None:
        """One piece is done."""
        self.done += 1
        self._doing = ""
        self._show()

    def _show(self) -> None:
        if self._handle is not None:
            self._handle.update(self)
        elif sys.stderr.isatty():
            end = "\n" if self.done == self.total else ""
            print(f"\r\033[K{self}", end=end, file=sys.stderr, flush=True)

    def _words(self) -> str:
        spent, new = time.monotonic() - self._started, self.done - self._before
        words = f"{self.done} of {self.total}"
        if self._doing:
            words += f", now {self._doing}"
        if self.done == self.total:
            return f"{words} in {_minutes(spent)}" if new else f"{words}, measured before"
        if new:
            words += f", about {_minutes(spent / new * (self.total - self.done))} left"
        return words

    def __str__(self) -> str:
        full = _WIDTH * self.done // max(self.total, 1)
        return f"{self.title} [{'█' * full}{'░' * (_WIDTH - full)}] {self._words()}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """A bar for a page, and a line of text for what shows no HTML."""
        bar = f'<progress value="{self.done}" max="{max(self.total, 1)}"></progress>'
        page = f"<div><code>{escape(self.title)}</code> {bar} {escape(self._words())}</div>"
        return {"text/html": page, "text/plain": str(self)}


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
