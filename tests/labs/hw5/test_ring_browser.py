"""Notebook 2 of Homework 5 in JupyterLab: it runs, and the film of the ring follows its sliders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, move_slider, solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "hw5") as where:
        yield where


def test_the_film_of_the_ring_follows_its_slider(browser: Browser, lab: tuple[str, str]) -> None:
    open_notebook(browser, lab, "hw5/02_ring")
    run_all(browser, "02_ring")
    go_to_cell(browser, "ring_film(4)")
    browser.wait(labels_hold("step 0 of 6"), "the film")
    move_slider(browser, 1)
    browser.wait(labels_hold("step 0 of 8"), "the film to have five ranks")
    look(browser, "hw5 02_ring", ".widget-slider, .jupyter-widgets.widget-slider")
    assert not browser.console_errors()
