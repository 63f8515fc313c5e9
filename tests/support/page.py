"""A notebook on the page: open it, run it, go to a cell, move what can be moved, look at it.

A *scene* is what a person then does with one notebook. A lab has those of its notebooks in
``tests/labs/<lab>/scenes.py``; ``tests/whole/test_browser.py`` plays each after its notebook
has run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from tests.support.browser import Browser

Scene = Callable[[Browser, Path], None]
"""Gets the folder that is served: one folder a lab, with its solved notebooks."""

Address = tuple[str, str]
"""Of a server, and its token."""

_CELL = (
    "const book = jupyterapp.shell.currentWidget.content;"
    "const place = book.widgets.findIndex(c => c.model.type == 'code' "
    "&& c.model.sharedModel.source.includes(arguments[0]));"
)


def open_notebook(browser: Browser, where: Address, name: str) -> None:
    """Open it with a kernel of its own; that of the one before it is ended."""
    address, token = where
    if browser.driver.current_url.startswith(f"{address}lab"):
        browser.js("return jupyterapp.serviceManager.sessions.shutdownAll().then(() => true)")
    browser.open(f"{address}lab/tree/{name}.ipynb?reset&token={token}")
    browser.wait(
        "const context = window.jupyterapp?.shell?.currentWidget?.context;"
        "return context?.path == arguments[0] && context.sessionContext?.isReady "
        "&& context.sessionContext.session?.kernel?.status == 'idle'",
        f"{name} with its kernel",
        f"{name}.ipynb",
        seconds=90,
    )
    if browser.js("return !jupyterapp.shell.leftCollapsed"):  # room for the notebook
        browser.js("jupyterapp.commands.execute('application:toggle-left-area')")


def run_all(browser: Browser, name: str) -> None:
    """Run every cell; an error in one of them fails the test with its text."""
    # Of a long notebook the page holds only what is near: ask its model, not the page.
    browser.js(
        "window.ran = false;"
        "jupyterapp.commands.execute('notebook:run-all-cells').finally(() => window.ran = true)"
    )
    browser.wait("return window.ran", f"the last cell of {name}", seconds=240)
    errors = browser.js(
        "return jupyterapp.shell.currentWidget.content.widgets"
        ".filter(cell => cell.model.type == 'code')"
        ".flatMap(cell => cell.model.outputs.toJSON())"
        ".filter(output => output.output_type == 'error').map(output => output.traceback.join())"
    )
    assert not errors, f"{name}: {errors}"


def save(browser: Browser) -> None:
    """Write the notebook with its outputs."""
    browser.js("return jupyterapp.commands.execute('docmanager:save').then(() => true)")


def go_to_cell(browser: Browser, holding: str) -> None:
    """Bring the code cell with this text on the page: those that are far away are not there."""
    browser.js(f"{_CELL} return book.scrollToItem(place, 'start').then(() => true)", holding)


def go_to_the_end(browser: Browser) -> None:
    """Cells that are far away are not on the page."""
    browser.js(
        "const notebook = jupyterapp.shell.currentWidget.content;"
        "return notebook.scrollToItem(notebook.widgets.length - 1).then(() => true)"
    )


def press_slider_of(browser: Browser, holding: str, key: str, times: int) -> None:
    """Move the first slider below the code cell with this text by keys, as a person may."""
    handle = browser.js(
        f"{_CELL} return book.widgets[place].node.querySelector('.noUi-handle')", holding
    )
    _press(browser, handle, key, times)


def press_on_slider(browser: Browser, place: int, key: str, times: int) -> None:
    """Move the slider at ``place`` on the page."""
    handles = browser.driver.find_elements("css selector", ".noUi-handle")
    _press(browser, handles[place], key, times)


def _press(browser: Browser, handle: WebElement, key: str, times: int) -> None:
    browser.js("arguments[0].scrollIntoView({block: 'center'})", handle)
    handle.send_keys(getattr(Keys, key) * times)


def choose(browser: Browser, select: str, place: int, value: str) -> None:
    """Choose ``value`` in the list at ``place`` among those that match ``select``."""
    lists = browser.driver.find_elements("css selector", select)
    browser.js("arguments[0].scrollIntoView({block: 'center'})", lists[place])
    Select(lists[place]).select_by_visible_text(value)


def press_button(browser: Browser, xpath: str) -> None:
    """Click on what is found so."""
    button = browser.driver.find_element("xpath", xpath)
    browser.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()


def text_of(browser: Browser, css: str) -> str:
    """The text of all elements that match and can be seen."""
    return browser.js(
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter(e => e.offsetParent !== null).map(e => e.textContent).join(' ')",
        css,
    )


def wait_for_picture(browser: Browser, words: str, what: str) -> None:
    """Until the words that stand for a picture in a widget hold these."""
    browser.wait(
        "return [...document.querySelectorAll('.widget-html-content svg')]"
        ".some(e => e.ariaLabel.includes(arguments[0]))",
        what,
        words,
    )


def film(cell: str, before: str, after: str, key: str = "", times: int = 0) -> Scene:
    """The film below the cell with this text: what it says before and after its slider moves."""

    def scene(browser: Browser, _: Path) -> None:
        go_to_cell(browser, cell)
        wait_for_picture(browser, before, "the film")
        if times:
            press_slider_of(browser, cell, key, times)
        wait_for_picture(browser, after, "the film to move")
        name = browser.js("return jupyterapp.shell.currentWidget.context.path")
        look(
            browser,
            f"{Path(name).with_suffix('')} film",
            f'.widget-html-content svg[aria-label*="{after.splitlines()[0]}"]',
        )

    return scene


def look(browser: Browser, name: str, element: str) -> None:
    """Keep a picture of the page in the light and dark theme, and at 125 %."""
    browser.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", element)
    browser.screenshot(name)
    _set_theme(browser, "Dark")
    browser.screenshot(f"{name} dark")
    _set_theme(browser, "Light")
    browser.js("document.body.style.zoom = 1.25")
    browser.screenshot(f"{name} 125")
    browser.js("document.body.style.zoom = 1")


def _set_theme(browser: Browser, theme: str) -> None:
    change = "jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]})"
    browser.js(change, f"JupyterLab {theme}")
    browser.wait(
        "return document.body.dataset.jpThemeName == arguments[0] "
        "&& !document.querySelector('#jupyterlab-splash')",
        f"the {theme} theme",
        f"JupyterLab {theme}",
    )
