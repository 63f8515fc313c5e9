"""The notebooks of Lab 2B in JupyterLab: they run, and the films follow their sliders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab2b") as where:
        yield where


def move_slider_of(browser: Browser, holding: str, times: int) -> None:
    """Move the slider below the cell with this text to the right, by keys."""
    from selenium.webdriver.common.keys import Keys

    handle = browser.js(
        "const book = jupyterapp.shell.currentWidget.content;"
        "const cell = book.widgets.find(c => c.model.type == 'code' "
        "&& c.model.sharedModel.source.includes(arguments[0]));"
        "return cell.node.querySelector('.noUi-handle')",
        holding,
    )
    browser.js("arguments[0].scrollIntoView({block: 'center'})", handle)
    handle.send_keys(Keys.ARROW_RIGHT * times)


@pytest.mark.parametrize(
    ("name", "cell", "before", "after", "times"),
    [
        (
            "01_hierarchy",
            '"FIFO, 3 lines"',
            "access 1 of 10",
            "access 7 of 10: line 5\\nLRU, 3 lines: from memory; 6 misses so far",
            6,
        ),
        (
            "02_dataflow",
            'row_film(Conv("small"',
            "cycle 1 of 37",
            "cycle 9 of 37: strip 1 streams; 9 of 9 elements multiply",
            8,
        ),
    ],
)
def test_a_film_follows_its_slider(
    browser: Browser,
    lab: tuple[str, str],
    name: str,
    cell: str,
    before: str,
    after: str,
    times: int,
) -> None:
    open_notebook(browser, lab, f"lab2b/{name}")
    run_all(browser, name)
    go_to_cell(browser, cell)
    browser.wait(labels_hold(before), "the film")
    move_slider_of(browser, cell, times)
    browser.wait(labels_hold(after), "the film to move")
    look(browser, f"lab2b {name}", f'.widget-html-content svg[aria-label*="{after[:15]}"]')
    assert not browser.console_errors()
