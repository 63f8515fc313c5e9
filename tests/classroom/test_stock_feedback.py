"""nbgrader's own feedback: one page, which loads nothing, whatever a student put there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from tests.classroom.test_classroom import (  # noqa: F401  (fixtures)
    Run,
    course,
    fresh_home,
    hand_in,
    nbgrader,
    own_settings,
    run,
    the_class,
)
from tests.support.collect_class import FIRST
from tests.support.sample_course import LAB

pytestmark = pytest.mark.usefixtures("own_settings")
ELSEWHERE = "https://spy.example"
SVG = "http://www.w3.org/2000/svg"
TEXTS = (
    f"An ![honest one]({ELSEWHERE}/1.png), a ![quick one](//spy.example/2.png), [a link](https://a.b)",
    f"<img src='{ELSEWHERE}/3.png' onerror=alert(1)><script src={ELSEWHERE}/4.js></script>",
    f"<img\nsrc={ELSEWHERE}/5.png><svg><image href='{ELSEWHERE}/6.png'/></svg>",
    f"<style>@import '{ELSEWHERE}/7.css'; p {{ background: url({ELSEWHERE}/8.png) }}</style>",
    f"<iframe src='{ELSEWHERE}/9'></iframe><link rel=stylesheet href='{ELSEWHERE}/10.css'>",
    "![of the lab](images/of_the_lab.svg) ![not of it](../../../../gradebook.db.png)",
    "![mine](images/mine.png) and $x^2$, ![gone](images/no.png)",
    "![a dot](data:image/png;base64,iVBORw0KGgo=)",
)
DATA = {
    "text/html": f"<p style='background: url({ELSEWHERE}/11.png)'>.<img src={ELSEWHERE}/12.png>",
    "text/markdown": f"![x]({ELSEWHERE}/13.png)",
    "image/svg+xml": f"<svg xmlns='{SVG}'><image href='{ELSEWHERE}/14'/></svg>",
    "image/png": "iVBORw0KGgo=",
    "application/javascript": f"fetch('{ELSEWHERE}/15')",
    "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
    "text/plain": "plain",
}
LOADS = {
    *("src", "srcset", "data", "poster", "background", "action", "formaction", "manifest", "cite"),
    *("href", "xlink:href"),
}


class Loads(HTMLParser):
    """What a page would load: addresses outside of it, and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.policy = ""
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        if tag in ("script", "iframe", "object", "embed", "base", "link", "form"):
            self.found.append(f"<{tag}>")
        if given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = given["content"]
        for name, value in given.items():
            if name in LOADS and tag != "a" and not value.startswith("data:"):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "href" and tag == "a" and not re.match(r"#|https?:", value):
                self.found.append(f"<a href={value}>")
            if name.startswith("on") or (name == "style" and "url(" in value):
                self.found.append(f"<{tag} {name}={value}>")

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.found += re.findall(r"@import[^;]*|url\(\s*['\"]?(?:https?:)?//[^)]*\)", data)
            self._in_style = False


def test_its_pages_load_nothing_from_anywhere(run: Run) -> None:  # noqa: F811
    run()
    released = run.course / "notebooks" / LAB / "images"
    released.mkdir(exist_ok=True)
    (released / "of_the_lab.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (run.home / "gradebook.db.png").write_bytes(b"secret")
    folder = run.home / "autograded" / "jdoe3" / LAB
    (folder / "images").mkdir(exist_ok=True)
    (folder / "images" / "mine.png").write_bytes(b"mine")
    path = folder / f"{FIRST}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    notebook.metadata["title"] = f"</title><script src='{ELSEWHERE}/0.js'></script>"
    notebook.cells += [nbformat.v4.new_markdown_cell(text) for text in TEXTS]
    raw = nbformat.v4.new_raw_cell(TEXTS[1], metadata={"raw_mimetype": "text/html"})
    named = {"filenames": {"image/png": f"{ELSEWHERE}/16.png"}, "text/html": {"isolated": True}}
    outputs = [
        nbformat.v4.new_output("display_data", {kind: data, "text/plain": "-"}, metadata=named)
        for kind, data in DATA.items()
    ]
    notebook.cells += [raw, nbformat.v4.new_code_cell("1", outputs=outputs)]
    nbformat.write(notebook, path)
    nbgrader(run.home, "generate_feedback", LAB, "--student", "jdoe3")
    pages = sorted((run.home / "feedback" / "jdoe3" / LAB).glob("*.html"))
    assert len(pages) == 2
    for page in pages:
        read = Loads()
        read.feed(page.read_text(encoding="utf-8"))
        assert read.found == []
        assert read.policy.startswith("default-src 'none'")
    text = (pages[0]).read_text(encoding="utf-8")
    assert "spy.example/16" not in text
    assert "a picture that is not shown: honest one" in text
    assert text.count("a picture that is not shown") >= 5
    assert 'alt="of the lab" src="data:image/svg+xml;base64,' in _sorted(text)
    assert 'alt="a dot" src="data:image/png;base64,iVBORw0KGgo="' in _sorted(text)
    assert "c2VjcmV0" not in text  # what was planted elsewhere, in base64
    assert "$x^2$" in text
    assert Path(pages[0]).stat().st_size < 2_000_000


def _sorted(text: str) -> str:
    """With the attributes of pictures in one order."""
    return re.sub(r'<img src="([^"]*)" alt="([^"]*)"/?>', r'<img alt="\2" src="\1"/>', text)
