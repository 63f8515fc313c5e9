"""Widgets that leave a picture behind: what a page without a kernel shows in their place."""

from __future__ import annotations

from html import escape
from itertools import count
from typing import Any

from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.errors import LabError
from lab_utils.kit.machine.terminal import typed

_numbers = count(1)


def widgets() -> Any:
    """The module ipywidgets.

    Raises:
        LabError: it is not installed; the message says how to get it.
    """
    try:
        import ipywidgets
    except ImportError:
        raise LabError(f"widgets need ipywidgets: {typed('install ipywidgets', 'pip')}") from None
    return ipywidgets


class Live:
    """A widget and its static form.

    Both go into the notebook. A line of style in the widget hides the static form, so
    that it shows only where the widget does not: on GitHub, on nbviewer, after the kernel
    has gone, in feedback.
    """

    static: Drawing
    widget: Any

    def _ipython_display_(self) -> None:
        from IPython.display import display

        name = f"lab-static-{id(self):x}-{next(_numbers)}"
        bundle = self.static._repr_mimebundle_()
        bundle["text/html"] = f'<div class="{name}">{bundle["text/html"]}</div>'
        display(bundle, raw=True)
        hide = widgets().HTML(f"<style>.{name} {{ display: none }}</style>")
        display(widgets().VBox([self.widget, hide]))

    def __repr__(self) -> str:
        return self.static.words


def table(rows: list[tuple[str, str]]) -> str:
    """Two columns of plain text as HTML."""
    cells = "".join(
        f'<tr><td style="text-align:right;padding:0 .8em 0 0;opacity:.8">{escape(key)}</td>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for key, value in rows
    )
    return f'<table style="line-height:1.35;font-size:13px">{cells}</table>'
