"""What a person does in JupyterLab: explore, move films and budgets, hand in."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from lab_utils.kit.course import read_course
from lab_utils.kit.lab import handed_in
from lab_utils.kit.root import ROOT
from tests.support.browser import Browser
from tests.support.page import (
    choose,
    go_to_the_end,
    look,
    press_button,
    press_on_slider,
    text_of,
)

COURSE = read_course()


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


def budget_changes_the_choice(browser: Browser) -> None:
    go_to_the_end(browser)
    peak = "return document.body.innerText.match(/dropped (\\d+) · peak ([\\d.]+) MB/)"
    before = browser.wait(peak, "the budget slider")
    press_on_slider(browser, 1, "ARROW_LEFT", 60)
    found = peak.replace("return", "const m =")
    lower = f"return m && +m[1] > {before[1]} && +m[2] < {before[2]}"
    browser.wait(f"{found}; {lower}", "a lower peak")
    look(browser, "budget", ".widget-select-multiple, .jupyter-widgets select[multiple]")


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
    press_button(browser, button)
    browser.wait(said, "the question for the name", "please give your first name")
    for field, name in zip(("First name", "Last name"), ("Ada", "Lovelace"), strict=True):
        box = f"//label[.='{field}']/following-sibling::input"
        browser.driver.find_element("xpath", box).send_keys(name)
    press_button(browser, button)
    path = served / lab.id / COURSE.zip_file_name(lab.id, first="Ada", last="Lovelace")
    browser.wait(said, "the zip", f"Done: upload {path.name}", seconds=60)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert names == [*(f"{notebook.name}.ipynb" for notebook in lab.notebooks), *files]
    shown = text_of(browser, ".jp-OutputArea-output")
    assert not [name for name in (*names, path.name) if name not in shown]
    look(browser, "hand-in", ".widget-button")


def _profiler(browser: Browser, _: Path) -> None:
    explorer_follows_a_value(browser)
    film_moves(browser, "01_profiler")


def _backward(browser: Browser, _: Path) -> None:
    film_moves(browser, "03_backward")
    budget_changes_the_choice(browser)


def _control(browser: Browser, served: Path) -> None:
    film_moves(browser, "04_control")
    hand_in_writes_the_zip(browser, served)


SCENES = {"01_profiler": _profiler, "03_backward": _backward, "04_control": _control}
