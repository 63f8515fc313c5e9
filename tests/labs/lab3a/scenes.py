"""What a person sees in JupyterLab: the graph beside its roof."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import go_to_cell, look

_STRIPS = 'svg[aria-label*="under the roof"]'


def _graph_beside_the_roof(browser: Browser, _: Path) -> None:
    go_to_cell(browser, "against_the_roof(NodeProp")
    browser.wait(f"return document.querySelector('.jp-OutputArea-output {_STRIPS}')", "two strips")
    look(browser, "lab3a 01_graph", _STRIPS)


SCENES = {"01_graph": _graph_beside_the_roof}
