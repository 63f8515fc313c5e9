"""The notebooks of Lab 2A in JupyterLab: they run, and the films follow their sliders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.labs.lab1b.test_lab1b_browser import go_to_cell, labels_hold, move_slider
from tests.support.browser import ROOT, Browser, jupyter_server
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    os.environ["LAB2A_SIZE"] = "small"
    folder = tmp_path_factory.mktemp("labs")
    shutil.copytree(ROOT / "solutions" / "lab2a", folder / "lab2a")
    with jupyter_server(Path(folder)) as where:
        yield where
    del os.environ["LAB2A_SIZE"]


@pytest.mark.parametrize(
    ("name", "cell", "before", "after", "times"),
    [
        (
            "01_array",
            "systolic_film((6, 4, 5)",
            "output-stationary: cycle 1 of 22",
            "output-stationary: cycle 9 of 22",
            8,
        ),
        ("02_search", "pareto_film(", "1 of ", "3 of ", 2),
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
    open_notebook(browser, lab, f"lab2a/{name}")
    run_all(browser, name)
    go_to_cell(browser, cell)
    browser.wait(labels_hold(before), "the film")
    move_slider(browser, times)
    browser.wait(labels_hold(after), "the film to move")
    look(browser, f"lab2a {name}", ".widget-slider, .jupyter-widgets.widget-slider")
    assert not browser.console_errors()
