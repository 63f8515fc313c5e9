"""Notebook 1 of Lab 4B in JupyterLab: it runs, its film follows the slider and lists a link."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, move_slider, solved_lab
from tests.whole.test_browser import choose, look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]
CELL = "pairs = [pair for pair in transpose(4)"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab4b") as where:
        yield where


def test_the_film_follows_its_slider_and_lists_a_link(
    browser: Browser, lab: tuple[str, str]
) -> None:
    open_notebook(browser, lab, "lab4b/01_mesh")
    run_all(browser, "01_mesh")
    go_to_cell(browser, CELL)
    browser.wait(labels_hold("49,160 of 294,965 ns"), "the film")
    move_slider(browser, 2)
    browser.wait(labels_hold("58,993 of 294,965 ns"), "the film to move")
    choose(browser, ".widget-dropdown select", 0, "1 → 0 (up to 12)")
    browser.wait(
        "return [...document.querySelectorAll('.widget-html-content table')]"
        ".some(e => e.textContent.includes('arrives'))",
        "the messages of a link",
    )
    look(browser, "lab4b 01_mesh", ".widget-html-content svg")
    assert not browser.console_errors()
