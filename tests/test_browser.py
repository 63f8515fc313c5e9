"""The notebooks as students see them: JupyterLab in headless Chromium."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import nbformat
import pytest

from tests.browser import ROOT, Browser, jupyter_server

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

NOTEBOOKS = sorted(path.stem for path in (ROOT / "solutions" / "lab4a").glob("*.ipynb"))
ERROR = '[data-mime-type="application/vnd.jupyter.stderr"]'
_HIDDEN = re.compile(r"^### BEGIN HIDDEN TESTS$.*?^### END HIDDEN TESTS$\n?", re.M | re.S)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server with the solved notebooks, whose checks are the students' own."""
    folder = tmp_path_factory.mktemp("lab") / "lab4a"
    shutil.copytree(ROOT / "solutions" / "lab4a", folder)
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.source = _HIDDEN.sub("", cell.source)
        nbformat.write(notebook, path)
    with jupyter_server(folder.parent) as served:
        yield served


def open_notebook(browser: Browser, lab: tuple[str, str], name: str) -> None:
    address, token = lab
    browser.open(f"{address}lab/tree/lab4a/{name}.ipynb?reset&token={token}")
    browser.wait(
        "const context = window.jupyterapp?.shell?.currentWidget?.context?.sessionContext;"
        "return context?.isReady && context.session?.kernel?.status == 'idle'",
        f"{name} with its kernel",
        seconds=90,
    )


def run_all(browser: Browser, name: str) -> None:
    """Run every cell; an error in one of them fails the test with its text."""
    browser.js("jupyterapp.commands.execute('notebook:run-all-cells')")
    browser.wait(
        "return [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
        ".every(prompt => /^\\[\\d+\\]:$/.test(prompt.innerText)) || "
        f"document.querySelector('{ERROR}')",
        f"the last cell of {name}",
        seconds=120,
    )
    errors = browser.js(f"return [...document.querySelectorAll('{ERROR}')].map(e => e.innerText)")
    assert not errors, f"{name}: {errors}"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_in_a_browser(browser: Browser, lab: tuple[str, str], name: str) -> None:
    open_notebook(browser, lab, name)
    run_all(browser, name)
    browser.screenshot(name)
    assert not browser.console_errors()
