"""Notebook 2 of Homework 5 in JupyterLab: it runs, and the film of the ring follows its sliders."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import ROOT, Browser, jupyter_server
from tests.support.films import go_to_cell, labels_hold, move_slider
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    folder = tmp_path_factory.mktemp("labs")
    shutil.copytree(ROOT / "solutions" / "hw5", folder / "hw5")
    with jupyter_server(Path(folder)) as where:
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
