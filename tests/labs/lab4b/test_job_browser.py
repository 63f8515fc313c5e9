"""Notebook 2 of Lab 4B in JupyterLab: it runs, and the map follows the slider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, move_slider, solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebook."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab4b") as where:
        yield where


def test_more_memory_moves_the_frontier(browser: Browser, lab: tuple[str, str]) -> None:
    open_notebook(browser, lab, "lab4b/02_job")
    run_all(browser, "02_job")
    go_to_cell(browser, "strategy_map(maps)")
    browser.wait(labels_hold("with 80 GB 6 of 56 fit"), "the map")
    look(browser, "lab4b 02_job", ".widget-slider, .jupyter-widgets.widget-slider")
    move_slider(browser, 1)
    browser.wait(labels_hold("with 120 GB"), "the frontier to move")
    assert not browser.console_errors()
