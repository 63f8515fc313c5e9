"""The notebooks of Lab 1A in JupyterLab: they run, and operators walk when a slider moves."""

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
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab1a") as where:
        yield where


def test_operators_walk_along_the_roof(browser: Browser, lab: tuple[str, str]) -> None:
    open_notebook(browser, lab, "lab1a/01_operators")
    run_all(browser, "01_operators")
    open_notebook(browser, lab, "lab1a/02_roofline")
    run_all(browser, "02_roofline")
    browser.js(FIND, "walk(layer_flops, layer_elements, LLAMA_7B")
    browser.wait(LABEL.format("q 1 operations a byte"), "the roof with its dots")
    handles = browser.driver.find_elements("css selector", ".noUi-handle")
    batch = next(handle for handle in handles if handle.is_displayed())
    browser.js("arguments[0].scrollIntoView({block: 'center'})", batch)
    batch.send_keys(Keys.ARROW_RIGHT * 10)
    browser.wait(LABEL.format("q 683 operations a byte"), "the dots to move")
    look(browser, "lab1a 02_roofline", ".widget-slider")
    assert not browser.console_errors()
