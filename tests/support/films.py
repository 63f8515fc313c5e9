"""Films on a page: go to one, move its slider, read what it says."""

from __future__ import annotations

from tests.support.browser import Browser


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
