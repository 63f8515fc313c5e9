"""Notebook 1 of Lab 4B in JupyterLab: its film follows the slider, and a clicked link is listed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, move_slider, solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]
CELL = "pairs = [pair for pair in transpose(4)"
#: How far, in pixels, the middle of the button over a link is from the middle of the line, at most.
OFF = """
const film = document.querySelector('[class*=lab-mesh]');
const middle = e => { const r = e.getBoundingClientRect();
                      return [r.x + r.width / 2, r.y + r.height / 2]; };
const lines = [...film.querySelectorAll('svg g')];
return Math.max(...[...film.querySelectorAll('button')].map(button => {
  const [run, link] = button.title.split(', ')[0].split(': ');
  const drawn = lines.filter(g => g.querySelector('title').textContent == link);
  const [a, b] = [middle(button), middle(drawn[run == 'XY' ? 0 : 1].querySelector('path'))];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}))"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab4b") as where:
        yield where


def test_the_film_follows_its_slider_and_lists_the_link_that_is_clicked(
    browser: Browser, lab: tuple[str, str]
) -> None:
    open_notebook(browser, lab, "lab4b/01_mesh")
    run_all(browser, "01_mesh")
    go_to_cell(browser, CELL)
    browser.wait(labels_hold("49,160 of 294,965 ns"), "the film")
    move_slider(browser, 2)
    browser.wait(labels_hold("58,993 of 294,965 ns"), "the film to move")
    assert browser.js(OFF) < 8  # the two directions lie 11 pixels apart
    browser.js("document.querySelector('[class*=lab-mesh]').style.width = '330px'")
    assert browser.js(OFF) < 5  # at two thirds of the size
    browser.js("document.querySelector('[class*=lab-mesh]').style.width = ''")
    link = 'button[title="YX: 4 → 0, 12 messages"]'
    browser.driver.find_element("css selector", link).click()
    browser.wait(
        "return [...document.querySelectorAll('.widget-html-content table')]"
        ".some(e => e.parentElement.textContent.includes('12 messages over 4 → 0'))",
        "the messages of the link that was clicked",
    )
    look(browser, "lab4b 01_mesh", ".widget-html-content svg")
    assert not browser.console_errors()
