"""The start page of a release, as a student meets it: JupyterLab in headless Chromium."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.release.contents import Release
from lab_utils.kit.course import START, read_course
from lab_utils.kit.hand_in.notebook import read_cells
from lab_utils.kit.root import ROOT
from tests.support.browser import Browser, jupyter_server
from tests.support.released import released

FIRST, *_ = read_course().labs.values()
NOTEBOOK = f"{FIRST.id}/{FIRST.notebooks[0].name}.ipynb"
HEAD = "document.querySelector('.jp-OutputArea-output h1')"

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def release() -> Release:
    return released()


@pytest.fixture
def notebooks(release: Release, tmp_path: Path) -> Path:
    """The notebooks of a release, unpacked."""
    for name, content in release.files.items():
        if name.startswith("notebooks/"):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return tmp_path / "notebooks"


def opened_by_make_lab(makefile: str) -> str:
    """The address below JupyterLab's own that ``make lab`` opens."""
    found = re.search(r"--LabApp\.default_url=(\S+)", (ROOT / makefile).read_text())
    assert found, f"{makefile} does not open the start page"
    return found[1]


@pytest.fixture
def lab(notebooks: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, str]]:
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(ROOT / "lab_utils/kit/machine/jupyter"))
    url = opened_by_make_lab("setup/student/Makefile")
    with jupyter_server(notebooks, f"--LabApp.default_url={url}") as where:
        yield where


def test_both_makefiles_open_it() -> None:
    wanted = f"/lab/tree/{START}"
    assert opened_by_make_lab("Makefile") == wanted
    assert opened_by_make_lab("setup/student/Makefile") == wanted


def test_the_page_of_a_release_leads_to_all_its_notebooks(
    release: Release, notebooks: Path
) -> None:
    (cell,) = json.loads(release.files[f"notebooks/{START}"])["cells"]
    html = cell["outputs"][0]["data"]["text/html"]
    links = {f"notebooks/{link}" for link in re.findall(r'href="(.*?)"', html)}
    assert links == {name for name in release.files if name.endswith(".ipynb")} - {
        f"notebooks/{START}"
    }
    assert "Begin with" in html
    assert "is not here" not in html, "a notebook is missing"
    assert "are missing" not in html, "graded cells do not make up the points"
    for path in notebooks.glob("*/*.ipynb"):
        titles = [cell.title for cell in read_cells(path) if cell.points]
        number_of = [title for title in titles if title.startswith(("Task", "Question"))]
        assert titles == number_of, f"{path.name}: the page has no name for a task"


@pytest.mark.needs_chromium
@pytest.mark.slow
def test_it_is_read_at_once_and_its_links_open_notebooks(
    browser: Browser, lab: tuple[str, str]
) -> None:
    address, token = lab
    browser.open(f"{address}?token={token}")
    browser.wait(f"return {HEAD}", "the start page")
    shown = browser.js(f"return {HEAD}.parentElement.innerText")
    assert FIRST.title in shown
    assert FIRST.about in shown
    assert "Begin with" in shown
    browser.screenshot("start page")
    asks = "return jupyterapp.hasPlugin(`@jupyterlab/apputils-extension:${arguments[0]}`)"
    assert browser.js(asks, "notification")
    assert not browser.js(asks, "announcements"), "nobody is asked about news of Jupyter"
    link = browser.driver.find_element("css selector", f"details a[href*='{NOTEBOOK}']")
    link.click()
    browser.wait(
        "return jupyterapp.shell.currentWidget?.context?.path == arguments[0]",
        f"{NOTEBOOK} behind its link",
        NOTEBOOK,
    )
    assert len(browser.driver.window_handles) == 1, "it opens in JupyterLab, not in a new window"
    assert not browser.console_errors()


@pytest.mark.needs_chromium
@pytest.mark.slow
def test_running_its_cell_looks_again(
    browser: Browser, lab: tuple[str, str], notebooks: Path
) -> None:
    address, token = lab
    browser.open(f"{address}?token={token}")
    browser.wait(f"return {HEAD}", "the start page")
    path = notebooks / NOTEBOOK
    notebook = json.loads(path.read_text())
    (first, *_) = (
        c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")
    )
    first["source"] = "def something():\n    return 1"
    path.write_text(json.dumps(notebook))
    browser.wait(
        "const context = jupyterapp.shell.currentWidget?.context?.sessionContext;"
        "return context?.isReady && context.session?.kernel?.status == 'idle'",
        "the kernel of the start page",
        seconds=90,
    )
    browser.driver.find_element("css selector", ".jp-OutputArea-output hr").click()
    browser.js("return jupyterapp.commands.execute('notebook:run-cell').then(() => true)")
    browser.wait(f"return {HEAD}?.parentElement.innerText.includes('Go on with')", "a newer page")
    shown = browser.js(f"return {HEAD}.parentElement.innerText")
    assert "1 of " in shown
    assert "written" in shown
    assert not browser.console_errors()
