"""What a person does in JupyterLab: click a link of the film, move the frontier of the map."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import film, look

_TRAFFIC = film(
    "pairs = [pair for pair in transpose(4)",
    "49,160 of 294,965 ns",
    "58,993 of 294,965 ns",
    "ARROW_RIGHT",
    2,
)
#: How far, in pixels, the middle of the button over a link is from the middle of the line, at most.
_OFF = """
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


def _film_lists_the_link_that_is_clicked(browser: Browser, served: Path) -> None:
    _TRAFFIC(browser, served)
    assert browser.js(_OFF) < 8  # the two directions lie 11 pixels apart
    browser.js("document.querySelector('[class*=lab-mesh]').style.width = '330px'")
    assert browser.js(_OFF) < 5  # at two thirds of the size
    browser.js("document.querySelector('[class*=lab-mesh]').style.width = ''")
    link = 'button[title="YX: 4 → 0, 12 messages"]'
    browser.driver.find_element("css selector", link).click()
    browser.wait(
        "return [...document.querySelectorAll('.widget-html-content table')]"
        ".some(e => e.parentElement.textContent.includes('12 messages over 4 → 0'))",
        "the messages of the link that was clicked",
    )
    look(browser, "lab4b 01_mesh clicked", ".widget-html-content svg")


SCENES = {
    "01_mesh": _film_lists_the_link_that_is_clicked,
    "02_job": film("strategy_map(maps)", "with 80 GB 6 of 56 fit", "with 120 GB", "ARROW_RIGHT", 1),
}
