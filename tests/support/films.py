"""Films on a page: go to one, move its slider, read what it says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab_utils.kit.root import ROOT
from tests.support.browser import Browser, jupyter_server
from tests.whole.test_browser import look, open_notebook, run_all


class Film(NamedTuple):
    """A film in a notebook of a lab, and what it says before and after its slider moves."""

    notebook: str
    cell: str
    before: str
    after: str
    times: int
    """How often the slider moves to the right; 0: the film stands still."""


@contextmanager
def solved_lab(folder: Path, lab: str) -> Iterator[tuple[str, str]]:
    """A server of a lab's solved notebooks; ``folder`` is an empty one."""
    shutil.copytree(ROOT / "solutions" / lab, folder / lab)
    with jupyter_server(folder) as where:
        yield where


def assert_follows_its_slider(
    browser: Browser, where: tuple[str, str], lab: str, film: Film
) -> None:
    """The notebook runs, and its film moves with the slider; the page has no errors."""
    open_notebook(browser, where, f"{lab}/{film.notebook}")
    run_all(browser, film.notebook)
    go_to_cell(browser, film.cell)
    browser.wait(labels_hold(film.before), "the film")
    if film.times:
        move_slider(browser, film.times)
    browser.wait(labels_hold(film.after), "the film to move")
    look(browser, f"{lab} {film.notebook}", ".widget-slider, .jupyter-widgets.widget-slider")
    assert not browser.console_errors()


def go_to_cell(browser: Browser, holding: str) -> None:
    """Bring the cell with this text on the page: those that are far away are not there."""
    browser.js(
        "const book = jupyterapp.shell.currentWidget.content;"
        "const place = book.widgets.findIndex(c => c.model.type == 'code' "
        "&& c.model.sharedModel.source.includes(arguments[0]));"
        "return book.scrollToItem(place, 'start').then(() => true)",
        holding,
    )


def move_slider(browser: Browser, times: int) -> None:
    """Move the first slider that can be seen to the right, by keys."""
    from selenium.webdriver.common.keys import Keys

    handles = browser.driver.find_elements("css selector", ".noUi-handle")
    seen = next(handle for handle in handles if handle.is_displayed())
    browser.js("arguments[0].scrollIntoView({block: 'center'})", seen)
    seen.send_keys(Keys.ARROW_RIGHT * times)


def labels_hold(words: str) -> str:
    """A question to the page: does a picture in a widget say these words?"""
    return (
        "return [...document.querySelectorAll('.widget-html-content svg')]"
        f".some(e => e.ariaLabel.includes('{words}'))"
    )
