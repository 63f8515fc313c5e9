"""Notebook 3 of Lab 3B in JupyterLab: it runs, and bars grow beyond the card with a slider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys

from tests.support.browser import Browser
from tests.support.films import solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

FIND = (
    "const book = jupyterapp.shell.currentWidget.content;"
    "const place = book.widgets.findIndex(c => c.model.type == 'code' "
    "&& c.model.sharedModel.source.startsWith(arguments[0]));"
    "return book.scrollToItem(place, 'start').then(() => true)"
)
LABEL = (
    "return [...document.querySelectorAll('.widget-html-content svg')]"
    ".some(e => e.ariaLabel.includes('{}'))"
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebook."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab3b") as where:
        yield where


def test_a_deeper_model_does_not_fit(browser: Browser, lab: tuple[str, str]) -> None:
    open_notebook(browser, lab, "lab3b/03_models")
    run_all(browser, "03_models")
    browser.js(FIND, "memory_beside(")
    look(browser, "lab3b 03_models beside", ".jp-OutputArea-output svg")
    browser.js(FIND, "room(")
    browser.wait(LABEL.format("stage 0: 73.59 GB"), "the bars of 72 layers")
    handles = browser.driver.find_elements("css selector", ".noUi-handle")
    layers = next(handle for handle in handles if handle.is_displayed())
    browser.js("arguments[0].scrollIntoView({block: 'center'})", layers)
    layers.send_keys(Keys.ARROW_RIGHT)
    browser.wait(LABEL.format("does not fit"), "the bars to pass the card")
    look(browser, "lab3b 03_models", ".widget-slider")
    assert not browser.console_errors()
