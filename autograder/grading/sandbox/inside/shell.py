"""An IPython shell without a kernel: the outputs of its cells go to an outlet."""

from __future__ import annotations

import builtins
import getpass
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from .outlet import Outlet
from .protocol import Message

_LONGEST_LINE, _MOST_LINES = 4000, 200  # of a traceback


class _Publisher(DisplayPublisher):
    """Takes what ``display`` is given."""

    def publish(  # type: ignore[override, no-untyped-def]
        self, data, metadata=None, *, transient=None, update=False, **_: Any
    ) -> None:
        shown: Message = {"output_type": "display_data", "data": data, "metadata": metadata or {}}
        identity = (transient or {}).get("display_id")
        if identity is not None:
            shown |= {"display_id": str(identity), "update": bool(update)}
        _outlet(self).show(_as_text(shown))

    def clear_output(self, wait: bool = False) -> None:
        """Forget what the cell has shown so far."""
        _outlet(self).clear(bool(wait))


class _Hook(DisplayHook):
    """Takes the value of the last line of a cell."""

    def write_output_prompt(self) -> None:
        """Print nothing."""

    def write_format_data(  # type: ignore[no-untyped-def]
        self, format_dict, md_dict=None
    ) -> None:
        """Send the value in all its forms."""
        shown: Message = {
            "output_type": "execute_result",
            "execution_count": self.prompt_count,
            "data": format_dict,
            "metadata": md_dict or {},
        }
        _outlet(self).show(_as_text(shown))

    def finish_displayhook(self) -> None:
        """Print nothing."""
        self._is_active = False


def _outlet(part: Any) -> Outlet:
    return part.shell.outlet


def _as_text(output: Message) -> Message:
    """The same, with pictures as base64 text, as notebooks keep them."""
    data = {
        kind: b64encode(value).decode("ascii") if isinstance(value, bytes) else value
        for kind, value in output["data"].items()
    }
    return {**output, "data": data}


class NotebookShell(InteractiveShell):
    """Runs the cells of one notebook."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    outlet: Outlet
    #: Code that asks whether it runs in a notebook looks for this.
    kernel = None

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        sys.stdout.flush()
        self.outlet.show(
            {
                "output_type": "error",
                "ename": str(getattr(etype, "__name__", etype))[:_LONGEST_LINE],
                "evalue": _words(evalue)[:_LONGEST_LINE],
                "traceback": [line[:_LONGEST_LINE] for line in stb[:_MOST_LINES]],
            }
        )

    @contextmanager
    def _tee(self, channel: str) -> Iterator[None]:
        """IPython would keep all that a cell prints, for a history that we do not have."""
        yield

    @contextmanager
    def keeping_forms(self) -> Iterator[None]:
        """What is imported meanwhile does not change in which forms values are shown.

        A graph that stands alone in a cell is text where it is graded: pictures take their time.
        """
        assert self.display_formatter is not None
        formatter = self.display_formatter.mimebundle_formatter
        before = dict(formatter.type_printers), dict(formatter.deferred_printers)
        yield
        formatter.type_printers, formatter.deferred_printers = before

    def enable_gui(self, gui: Any = None) -> None:
        """There is no window to open."""

    def ask_exit(self) -> None:
        """``exit`` ends nothing: the cells after it run."""


def _words(error: Any) -> str:
    try:
        return str(error)
    except Exception:
        return f"<{type(error).__name__} without words>"


#: A picture, a table, a program and an error: each imports a lot when it is the first.
_FIRST_TIMES = (
    "from matplotlib import pyplot; pyplot.plot([0, 1], label='x'); pyplot.legend();",
    "import pandas; pandas.DataFrame({'x': [1]})",
    "pandas.DataFrame({'x': [1]}).style.hide()",
    "!true",
    "%time 1",
    "raise ValueError",
)


def make_shell() -> NotebookShell:
    """A shell with pictures inline and without a history on disk; takes a while."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    shell = NotebookShell.instance(config=config)
    shell.enable_matplotlib("inline")
    builtins.input = _no_input  # type: ignore[assignment]
    getpass.getpass = _no_input
    shell.set_hook("show_in_pager", lambda *_, **__: None)  # a kernel shows help elsewhere, too
    shell.outlet = Outlet(lambda _: None, 0)
    for cell in _FIRST_TIMES:
        shell.run_cell(cell, store_history=True)
    shell.reset(new_session=True)
    return shell


def _no_input(prompt: str = "", *_: Any, **__: Any) -> str:
    raise StdinNotImplementedError(
        f"nobody is there to answer {str(prompt)!r}: cells are graded without a keyboard"
    )
