"""The notebooks as students see them: JupyterLab in headless Chromium."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from lab_utils.kit.course import read_course
from lab_utils.kit.lab import handed_in
from tests.support.browser import ROOT, Browser, jupyter_server

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

COURSE = read_course()
#: Each source once; who borrows a notebook shows the same.
NOTEBOOKS = [
    f"{lab.id}/{notebook.name}"
    for lab in COURSE.labs.values()
    for notebook in lab.notebooks
    if notebook.source == f"{lab.id}/{notebook.name}"
]
FILMS = ("lab4a/01_profiler", "lab4a/03_backward", "lab4a/04_control")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The solved notebooks, whose checks are the students' own."""
    folder = tmp_path_factory.mktemp("labs")
    for lab in COURSE.labs:
        shutil.copytree(ROOT / "solutions" / lab, folder / lab)
    return folder


@pytest.fixture(scope="module")
def lab(served: Path) -> Iterator[tuple[str, str]]:
    """A server of these notebooks."""
    with jupyter_server(served) as where:
        yield where


def open_notebook(browser: Browser, lab: tuple[str, str], name: str) -> None:
    address, token = lab
    browser.open(f"{address}lab/tree/{name}.ipynb?reset&token={token}")
    browser.wait(
        "const context = window.jupyterapp?.shell?.currentWidget?.context?.sessionContext;"
        "return context?.isReady && context.session?.kernel?.status == 'idle'",
        f"{name} with its kernel",
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


def text_of(browser: Browser, css: str) -> str:
    """The text of all elements that match and can be seen."""
    return browser.js(
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter(e => e.offsetParent !== null).map(e => e.textContent).join(' ')",
        css,
    )


def look(browser: Browser, name: str, element: str) -> None:
    """Keep a picture of the page in the light and dark theme, and at 125 %."""
    browser.js(f"document.querySelector('{element}').scrollIntoView({{block: 'center'}})")
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


def choose(browser: Browser, select: str, place: int, value: str) -> None:
    """Choose ``value`` in the list at ``place`` among those that match ``select``."""
    from selenium.webdriver.support.ui import Select

    lists = browser.driver.find_elements("css selector", select)
    browser.js("arguments[0].scrollIntoView({block: 'center'})", lists[place])
    Select(lists[place]).select_by_visible_text(value)


def press_on_slider(browser: Browser, place: int, key: str, times: int) -> None:
    """Move the handle of a slider by keys, as a person may."""
    from selenium.webdriver.common.keys import Keys

    handle = browser.driver.find_elements("css selector", ".noUi-handle")[place]
    browser.js("arguments[0].scrollIntoView({block: 'center'})", handle)
    handle.send_keys(getattr(Keys, key) * times)


def explorer_follows_a_value(browser: Browser) -> None:
    choose(browser, ".widget-dropdown select", 0, "layers.1")
    box = "document.querySelector('.widget-html-content [data-node=l1_gate_up_proj]')"
    browser.wait(f"return {box}", "block layers.1")
    choose(browser, ".widget-select select", 0, "l1_gate_up_proj")
    browser.wait(
        "return document.body.innerText.includes('512 x 256, float32')", "the facts of a node"
    )
    said = text_of(browser, ".widget-html-content")
    assert "524.29 KB" in said
    assert "d_l1_down_proj_w" in said
    # What the mouse finds on a box, and the box that stands out.
    hover = browser.js(f"return {box}.querySelector('title').textContent")
    assert "read by: l1_down_proj, d_l1_down_proj_w" in hover
    ring = browser.js(f"return {box}.querySelector('rect').getAttribute('stroke-width')")
    assert float(ring) > 3
    look(browser, "explorer", ".widget-dropdown")


def film_moves(browser: Browser, name: str) -> None:
    shown = (
        "return [...document.body.innerText.matchAll(/step (\\d+): [\\d.]+ MB/g)].map(m => +m[1])"
    )
    before = browser.js(shown)
    assert before
    press_on_slider(browser, 0, "ARROW_RIGHT", 3)
    browser.wait(f"{shown.replace('return', 'return (')})[0] == {before[0] + 3}", "three steps on")
    assert "now" in text_of(browser, ".widget-html-content")
    look(browser, f"{name} film", ".widget-play, .jupyter-widgets-play")


#: Notebooks that go on with functions of an earlier one; tests may come in any order.
GOES_ON = {
    "lab4a/03_backward": ("lab4a/02_recomputation", "inject_recomputation"),
    "project/06_experiments": ("project/05_selection", "choose"),
}


def save_earlier_work(browser: Browser, lab: tuple[str, str], served: Path, name: str) -> None:
    """Run the notebook whose functions this one goes on with, if that has not been done."""
    if name not in GOES_ON:
        return
    earlier, function = GOES_ON[name]
    work = served / Path(earlier).parent / "my_work.py"
    if not work.is_file() or f"def {function}" not in work.read_text(encoding="utf-8"):
        open_notebook(browser, lab, earlier)
        run_all(browser, earlier)


def go_to_the_end(browser: Browser) -> None:
    """Cells that are far away are not on the page."""
    browser.js(
        "const notebook = jupyterapp.shell.currentWidget.content;"
        "return notebook.scrollToItem(notebook.widgets.length - 1).then(() => true)"
    )


def budget_changes_the_choice(browser: Browser) -> None:
    go_to_the_end(browser)
    peak = "return document.body.innerText.match(/dropped (\\d+) · peak ([\\d.]+) MB/)"
    before = browser.wait(peak, "the budget slider")
    press_on_slider(browser, 1, "ARROW_LEFT", 60)
    found = peak.replace("return", "const m =")
    lower = f"return m && +m[1] > {before[1]} && +m[2] < {before[2]}"
    browser.wait(f"{found}; {lower}", "a lower peak")
    look(browser, "budget", ".widget-select-multiple, .jupyter-widgets select[multiple]")


def swapping_follows_the_link(browser: Browser) -> None:
    go_to_the_end(browser)
    plot = (
        "return [...document.querySelectorAll('.widget-html-content svg')]"
        ".map(e => e.ariaLabel).find(label => label.includes('GB/s'))"
    )
    before = browser.wait(plot, "the plot of swapping")
    press_on_slider(browser, 0, "ARROW_LEFT", 3)
    browser.wait(f"{plot} != arguments[0] && {plot[7:]}", "the plot of a slower link", before)


def hand_in_writes_the_zip(browser: Browser, served: Path) -> None:
    """As a student does it, but for running all notebooks once more, which takes a minute."""
    lab = COURSE.lab("lab4a")
    files = [file.name for file in handed_in(lab.id)]
    for file in files:  # tests may come in any order
        if not (served / lab.id / file).is_file():
            shutil.copy(ROOT / "autograder" / "reference" / file, served / lab.id)
    browser.js(
        "return jupyterapp.shell.currentWidget.context.sessionContext.session.kernel"
        ".requestExecute({code: arguments[0]}).done.then(() => true)",
        "import functools, lab_utils.kit.hand_in.widget as w\n"
        "w.inspect = functools.partial(w.inspect, run=False)",
    )
    go_to_the_end(browser)
    said = "return document.body.innerText.includes(arguments[0])"
    button = "//button[contains(., 'Check and pack lab4A')]"
    browser.wait(said, "the hand-in", "Save all notebooks first")
    press(browser, button)
    browser.wait(said, "the question for the name", "please give your first name")
    for field, name in zip(("First name", "Last name"), ("Ada", "Lovelace"), strict=True):
        box = f"//label[.='{field}']/following-sibling::input"
        browser.driver.find_element("xpath", box).send_keys(name)
    press(browser, button)
    path = served / lab.id / COURSE.zip_file_name(lab.id, first="Ada", last="Lovelace")
    browser.wait(said, "the zip", f"Done: upload {path.name}", seconds=60)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert names == [*(f"{notebook.name}.ipynb" for notebook in lab.notebooks), *files]
    shown = text_of(browser, ".jp-OutputArea-output")
    assert not [name for name in (*names, path.name) if name not in shown]
    look(browser, "hand-in", ".widget-button")


def press(browser: Browser, xpath: str) -> None:
    button = browser.driver.find_element("xpath", xpath)
    browser.js("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_runs_in_a_browser(
    browser: Browser, lab: tuple[str, str], served: Path, name: str
) -> None:
    save_earlier_work(browser, lab, served, name)
    open_notebook(browser, lab, name)
    run_all(browser, name)
    if name == "lab4a/01_profiler":
        explorer_follows_a_value(browser)
    if name in FILMS:
        film_moves(browser, Path(name).name)
    if name == "lab4a/03_backward":
        budget_changes_the_choice(browser)
    if name == "lab4a/04_control":
        hand_in_writes_the_zip(browser, served)
    if name == "project/05_selection":
        swapping_follows_the_link(browser)
    browser.screenshot(Path(name).name)
    assert not browser.console_errors()
    browser.js("return jupyterapp.commands.execute('docmanager:save').then(() => true)")


@pytest.mark.parametrize("name", ["lab4a/03_backward", "project/05_selection"])
def test_without_a_kernel_nothing_is_blank(
    browser: Browser, lab: tuple[str, str], served: Path, name: str
) -> None:
    """The saved notebook as a plain page: the widgets' pictures stand in their place."""
    from nbconvert import HTMLExporter

    path = served / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    if not any(cell.get("outputs") for cell in notebook.cells):
        save_earlier_work(browser, lab, served, name)
        open_notebook(browser, lab, name)
        run_all(browser, name)
        browser.js("return jupyterapp.commands.execute('docmanager:save').then(() => true)")
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
