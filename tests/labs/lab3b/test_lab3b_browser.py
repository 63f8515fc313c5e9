"""Notebooks 1 and 2 of Lab 3B in JupyterLab: they run, and their films follow the sliders."""

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
    shutil.copytree(ROOT / "solutions" / "lab3b", folder / "lab3b")
    with jupyter_server(Path(folder)) as where:
        yield where


@pytest.mark.parametrize(
    ("name", "cell", "before", "after", "times"),
    [
        ("01_ranks", "ranks_film(run_ranks(4, add_up", "done after 304.03", "done after 304.03", 0),
        ("02_pipeline", "schedule_film(", "48 messages", "60 messages", 2),
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
    open_notebook(browser, lab, f"lab3b/{name}")
    run_all(browser, name)
    go_to_cell(browser, cell)
    browser.wait(labels_hold(before), "the film")
    if times:
        move_slider(browser, times)
    browser.wait(labels_hold(after), "the film to move")
    look(browser, f"lab3b {name}", ".widget-slider, .jupyter-widgets.widget-slider")
    assert not browser.console_errors()
