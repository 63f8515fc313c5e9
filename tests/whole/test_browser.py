"""The notebooks as students see them: JupyterLab in headless Chromium."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest

from lab_utils.kit.course import read_course
from lab_utils.kit.lab import lab_of
from tests.support.browser import ROOT, Browser, jupyter_server
from tests.support.page import Address, Scene, open_notebook, run_all, save

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

COURSE = read_course()
#: Each source once; who borrows a notebook shows the same.
NOTEBOOKS = [
    f"{lab.id}/{notebook.name}"
    for lab in COURSE.labs.values()
    for notebook in lab.notebooks
    if notebook.source == f"{lab.id}/{notebook.name}"
]
#: Notebooks that go on with functions of an earlier one; tests may come in any order.
GOES_ON = {
    "lab1a/02_roofline": ("lab1a/01_operators", "operations"),
    "lab4a/03_backward": ("lab4a/02_recomputation", "inject_recomputation"),
    "project/06_experiments": ("project/05_selection", "choose"),
}


def scenes() -> dict[str, Scene]:
    """What is done with a notebook once it has run, by its name."""
    found: dict[str, Scene] = {}
    for lab in COURSE.labs:
        if find_spec(f"tests.labs.{lab}.scenes"):
            of_lab = import_module(f"tests.labs.{lab}.scenes").SCENES
            found |= {f"{lab}/{name}": scene for name, scene in of_lab.items()}
    return found


SCENES = scenes()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solved notebooks, whose checks are the students' own."""
    folder = tmp_path_factory.mktemp("labs")
    for lab in COURSE.labs:
        shutil.copytree(ROOT / "solutions" / lab, folder / lab)
    return folder


@pytest.fixture(scope="module")
def where(served: Path) -> Iterator[Address]:
    """A server of these notebooks, in which nothing takes long."""
    with pytest.MonkeyPatch.context() as patch:
        for lab in COURSE.labs:
            if (known := lab_of(lab)) and (small := known.small):
                patch.setenv(small.variable, small.value)
        with jupyter_server(served) as server:
            yield server


def save_earlier_work(browser: Browser, where: Address, served: Path, name: str) -> None:
    """Run the notebook whose functions this one goes on with, if that has not been done."""
    if name not in GOES_ON:
        return
    earlier, function = GOES_ON[name]
    work = served / Path(earlier).parent / "my_work.py"
    if not work.is_file() or f"def {function}" not in work.read_text(encoding="utf-8"):
        open_notebook(browser, where, earlier)
        run_all(browser, earlier)


def test_every_scene_has_its_notebook() -> None:
    assert SCENES
    assert not set(SCENES) - set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_in_a_browser(
    browser: Browser, where: Address, served: Path, name: str
) -> None:
    save_earlier_work(browser, where, served, name)
    open_notebook(browser, where, name)
    run_all(browser, name)
    if scene := SCENES.get(name):
        scene(browser, served)
    browser.screenshot(Path(name).name)
    assert not browser.console_errors()
    save(browser)


@pytest.mark.parametrize("name", ["lab4a/03_backward", "project/05_selection"])
def test_without_a_kernel_nothing_is_blank(
    browser: Browser, where: Address, served: Path, name: str
) -> None:
    """The saved notebook as a plain page: the widgets' pictures stand in their place."""
    from nbconvert import HTMLExporter

    path = served / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    if not any(cell.get("outputs") for cell in notebook.cells):
        save_earlier_work(browser, where, served, name)
        open_notebook(browser, where, name)
        run_all(browser, name)
        save(browser)
        notebook = nbformat.read(path, as_version=4)
    notebook.metadata.pop("widgets", None)
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    live = sum("application/vnd.jupyter.widget-view+json" in out.get("data", ()) for out in outputs)
    page, _ = HTMLExporter(embed_images=False).from_notebook_node(notebook)
    # The page of a reader without network: no scripts from elsewhere.
    target = path.with_suffix(".html")  # beside the images of the lab
    target.write_text(re.sub(r"<script.*?</script>", "", page, flags=re.S), encoding="utf-8")
    browser.open(target.as_uri())
    statics = browser.js(
        "return [...document.querySelectorAll('[class^=lab-static]')].map(e => {"
        "  const picture = e.querySelector('svg');"  # a question is words alone
        "  return [!!picture, (picture || e).getBoundingClientRect().height]})"
    )
    assert len(statics) == live > 0
    assert any(is_picture for is_picture, _ in statics)
    assert all(height > (100 if is_picture else 10) for is_picture, height in statics)
    # Every other picture too: those of the checks, of the text, and what matplotlib drew.
    checks = [cell for cell in notebook.cells if re.match(r"check\(", cell.source)]
    drawn = browser.js(
        "return [...document.querySelectorAll('.jp-OutputArea-output div > svg, img')]"
        ".map(e => e.tagName == 'IMG' ? e.naturalHeight : e.getBoundingClientRect().height)"
    )
    assert len(drawn) >= len(checks) + live
    assert all(height > 20 for height in drawn)
    blank = [
        cell.source
        for cell in checks
        if not any("text/html" in out.get("data", ()) for out in cell.outputs)
    ]
    assert not blank
    labels = browser.js(
        "return [...document.querySelectorAll('svg[role=img]')].map(e => e.ariaLabel)"
    )
    assert all(labels)
    browser.screenshot(f"{Path(name).name} without kernel")
