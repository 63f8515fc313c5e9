"""The notebook of Lab 3A in JupyterLab: it runs, and shows the graph beside the roof."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

STRIPS = (
    "return [...document.querySelectorAll('.jp-OutputArea-output svg')]"
    ".some(e => (e.ariaLabel || '').includes('under the roof'))"
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebook."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab3a") as where:
        yield where


def test_the_graph_stands_beside_its_roof(browser: Browser, lab: tuple[str, str]) -> None:
    open_notebook(browser, lab, "lab3a/01_graph")
    run_all(browser, "01_graph")
    find = (
        "const book = jupyterapp.shell.currentWidget.content;"
        "const place = book.widgets.findIndex(c => c.model.type == 'code' "
        "&& c.model.sharedModel.source.startsWith('against_the_roof'));"
        "return book.scrollToItem(place, 'start').then(() => true)"
    )
    browser.js(find)
    browser.wait(STRIPS, "two strips")
    look(browser, "lab3a 01_graph", 'svg[aria-label*="under the roof"]')
    assert not browser.console_errors()
