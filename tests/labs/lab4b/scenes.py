"""What a person does in JupyterLab: the film lists a link's messages, the map has a frontier."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import choose, film

_TRAFFIC = film(
    "pairs = [pair for pair in transpose(4)",
    "49,160 of 294,965 ns",
    "58,993 of 294,965 ns",
    "ARROW_RIGHT",
    2,
)


def _film_lists_a_link(browser: Browser, served: Path) -> None:
    _TRAFFIC(browser, served)
    choose(browser, ".widget-dropdown select", 0, "1 → 0 (up to 12)")
    browser.wait(
        "return [...document.querySelectorAll('.widget-html-content table')]"
        ".some(e => e.textContent.includes('arrives'))",
        "the messages of a link",
    )


SCENES = {
    "01_mesh": _film_lists_a_link,
    "02_job": film("strategy_map(maps)", "with 80 GB 6 of 56 fit", "with 120 GB", "ARROW_RIGHT", 1),
}
