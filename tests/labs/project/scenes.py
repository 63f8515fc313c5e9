"""What a person does in JupyterLab: a slower link makes swapping slower."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import go_to_the_end, press_on_slider


def swapping_follows_the_link(browser: Browser, _: Path) -> None:
    go_to_the_end(browser)
    plot = (
        "return [...document.querySelectorAll('.widget-html-content svg')]"
        ".map(e => e.ariaLabel).find(label => label.includes('GB/s'))"
    )
    before = browser.wait(plot, "the plot of swapping")
    press_on_slider(browser, 0, "ARROW_LEFT", 3)
    browser.wait(f"{plot} != arguments[0] && {plot[7:]}", "the plot of a slower link", before)


SCENES = {"05_selection": swapping_follows_the_link}
