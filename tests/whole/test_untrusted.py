"""A notebook that somebody else ran: JupyterLab takes out styles and SVG, pictures are left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from lab_utils.kit.charts.drawn import Drawing
from lab_utils.labs.lab4a import open_graph
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.draw.diff_picture import draw_diff
from lab_utils.steps.draw.explorer import explore
from lab_utils.steps.draw.film import film
from lab_utils.steps.draw.graph_picture import draw_graph
from lab_utils.steps.draw.plots import plot_memory
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order
from tests.support.browser import Browser, jupyter_server

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]


def _pictures() -> dict[str, Drawing]:
    base, rewired = open_graph("llm_mlp"), open_graph("llm_mlp.rewired")
    line = live_bytes(base, program_order(base))
    return {
        "a memory line": plot_memory({"one step": line}),
        "a graph": draw_graph(base),
        "a comparison": draw_diff(diff(base, rewired)),
        "the explorer": explore(base).static,
        "the film": film({"before": base, "after": rewired}).static,
    }


def _cell(name: str, drawing: Drawing) -> Any:
    output = nbformat.v4.new_output("display_data", data=drawing._repr_mimebundle_())
    return nbformat.v4.new_code_cell(f"# {name}", outputs=[output], execution_count=1)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a student mails to another: outputs, and no signature."""
    cells = [_cell(name, drawing) for name, drawing in _pictures().items()]
    path = tmp_path_factory.mktemp("elsewhere") / "mailed.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


_SEEN = """
return [...document.querySelectorAll('.jp-CodeCell')].map(cell => {
  const out = cell.querySelector('.jp-OutputArea-output');
  const seen = e => e.offsetParent !== null;
  return {
    images: [...out.querySelectorAll('img')].filter(i => seen(i) && i.naturalWidth > 50).length,
    live: [...out.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width > 50).length,
    words: out.innerText,
  };
});
"""


def _open(browser: Browser, where: tuple[str, str], name: str) -> None:
    address, token = where
    browser.open(f"{address}lab/tree/{name}?reset&token={token}")
    count = len(_pictures())
    browser.wait(
        "return document.querySelectorAll('.jp-OutputArea-output').length >= arguments[0]",
        "the outputs",
        count,
        seconds=90,
    )


def test_pictures_survive_where_nothing_is_trusted(browser: Browser, notebook: Path) -> None:
    with jupyter_server(notebook.parent) as where:
        _open(browser, where, notebook.name)
        browser.wait(
            "return [...document.querySelectorAll('.jp-OutputArea-output img')]"
            ".every(image => image.complete)",
            "the images",
        )
        seen = browser.js(_SEEN)
        browser.screenshot("an untrusted notebook")
    for name, cell in zip(_pictures(), seen, strict=True):
        assert cell["images"] >= 1, (name, cell)
        assert cell["live"] == 0, name
        left = cell["words"].replace("in words", "").strip()
        assert left == "", f"{name}: words without their picture: {left[:200]}"


def test_trusted_pictures_are_live(browser: Browser, notebook: Path) -> None:
    with jupyter_server(notebook.parent) as where:
        _open(browser, where, notebook.name)
        browser.js(
            "const panel = jupyterapp.shell.currentWidget;"
            "panel.content.widgets.forEach(cell => { cell.model.trusted = true; });"
        )
        browser.wait(
            "return document.querySelectorAll('.jp-OutputArea-output svg').length > 0",
            "live pictures",
        )
        seen = browser.js(_SEEN)
        browser.screenshot("a trusted notebook")
    for name, cell in zip(_pictures(), seen, strict=True):
        assert cell["images"] == 0, (name, cell)
        assert cell["live"] >= 1, (name, cell)
