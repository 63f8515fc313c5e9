"""Part B of Homework 5 in JupyterLab: the notebooks run, and the clipping film follows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import go_to_cell, labels_hold, solved_lab
from tests.whole.test_browser import look, open_notebook, run_all

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "hw5") as where:
        yield where


def test_a_smaller_range_saturates_more(browser: Browser, lab: tuple[str, str]) -> None:
    from selenium.webdriver.common.keys import Keys

    open_notebook(browser, lab, "hw5/04_weights")
    run_all(browser, "04_weights")
    go_to_cell(browser, "clipping_film(net")
    browser.wait(labels_hold("0 of 48,000 saturate"), "the film")
    handles = browser.driver.find_elements("css selector", ".noUi-handle")
    range_handle = next(handle for handle in handles if handle.is_displayed())
    browser.js("arguments[0].scrollIntoView({block: 'center'})", range_handle)
    range_handle.send_keys(Keys.ARROW_LEFT * 10)
    browser.wait(labels_hold("7 of 48,000 saturate"), "the film to move")
    look(browser, "hw5 04_weights", ".widget-slider, .jupyter-widgets.widget-slider")
    assert not browser.console_errors()
