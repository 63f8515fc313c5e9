"""The charts of the kit: what all labs draw with, and values that find their picture."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab_utils.kit.charts import drawn
from lab_utils.kit.charts.axes import scale_for, worst_steps
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing, DrawsItself, drawing_of, drawing_of_words
from lab_utils.kit.charts.over_time import over_steps_svg
from lab_utils.kit.charts.svg import Texture, document, rectangle, text
from lab_utils.kit.root import ROOT
from lab_utils.kit.words import listed, size

SVG = "{http://www.w3.org/2000/svg}"


def said(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_charts_need_neither_torch_nor_a_room_of_graphs() -> None:
    code = """
import pkgutil, sys
from importlib import import_module
import lab_utils.kit.charts as charts
for module in pkgutil.iter_modules(charts.__path__):
    import_module(f"lab_utils.kit.charts.{module.name}")
rooms = tuple(f"lab_utils.{name}" for name in ("steps", "instruments", "labs"))
found = [name for name in sys.modules if name == "torch" or name.startswith(rooms)]
assert not found, found
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.fixture
def own_books(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where books may be written that no other test knows."""
    monkeypatch.setattr(drawn, "_books", [])
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


class Fruit(DrawsItself):
    """A value; its picture is in a book."""


def test_a_value_is_drawn_by_the_book_that_knows_it(own_books: Path) -> None:
    with pytest.raises(TypeError, match="no picture of a Fruit is known"):
        drawing_of(Fruit())
    (own_books / "book_of_nothing.py").write_text("")
    (own_books / "book_of_fruit.py").write_text(
        "from lab_utils.kit.charts.drawn import drawing_of, drawing_of_words\n"
        "from tests.kit.test_charts import Fruit\n"
        "drawing_of.register(Fruit, lambda fruit: drawing_of_words('a pear'))\n"
    )
    for book in ("book_of_nothing", "book_of_fruit"):
        drawn.picture_book(book)
    assert "book_of_fruit" not in sys.modules, "no book is opened before it is needed"
    assert Fruit()._repr_mimebundle_()["text/plain"] == "a pear"
    with pytest.raises(TypeError, match="no picture of a int"):
        drawing_of(3)


def test_a_book_that_cannot_be_opened_says_why_each_time(own_books: Path) -> None:
    (own_books / "book_that_fails.py").write_text("import a_package_that_nobody_has\n")
    drawn.picture_book("book_that_fails")
    for _ in range(2):
        with pytest.raises(ImportError, match="a_package_that_nobody_has"):
            drawing_of(object())


def test_sizes_and_lists_in_words() -> None:
    assert [size(n) for n in (0, 999, 1e3, 10_420_000, 3.2e9)] == [
        "0 bytes",
        "999 bytes",
        "1.00 KB",
        "10.42 MB",
        "3.20 GB",
    ]
    assert [size(n, "ms") for n in (0.25, 4.0, 123_456)] == ["0.25 ms", "4 ms", "123,456 ms"]
    assert listed(()) == "nothing"
    assert listed(("a", "b", "c"), most=2) == "a, b and 1 more"


@pytest.mark.parametrize("highest", [0, 0.003, 1, 17, 10**12])
def test_a_scale_has_round_ticks_below_its_top(highest: float) -> None:
    scale = scale_for(highest, "ms")
    assert scale.top > highest
    assert 3 <= len(scale.ticks) <= 12
    assert scale.ticks[-1] <= scale.top
    assert scale.unit == "ms"


def test_the_peak_of_a_long_line_stays() -> None:
    line = [1.0] * 10_000
    line[7_777] = 9.0
    steps = worst_steps(line, 100)
    assert len(steps) == 100
    assert 7_777 in steps
    assert worst_steps(line[:5], 100) == [0, 1, 2, 3, 4]
    assert len(over_steps_svg("long", {"yours": line})) < 10_000


def test_lines_over_steps_tell_unit_budget_and_names() -> None:
    lines: dict[str, list[float]] = {
        "before": [1, 5, 2],
        "yours": [1, 2],
        "no steps": [],
        "my <own> line": [3.5],
    }
    svg = over_steps_svg("a & b", lines, 4, unit="hops", what="sent")
    assert {"sent (hops)", "step", "budget 4 hops", "before", "yours"} <= set(said(svg))
    assert "no steps" not in said(svg)
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == "a & b"
    drawn = [path.get("class") for path in root.iter(f"{SVG}path") if path.get("class")]
    named = ["line before", "line yours", "line my-own-line"]
    assert drawn == ["line before", "area", *named[1:], "budget", *named], "and the key"
    assert "before" not in said(over_steps_svg("", lines, key=False))
    assert "budget" not in over_steps_svg("nothing", {})
    assert "nan" not in over_steps_svg("odd", {"yours": [float("nan"), float("inf"), 1]})


def test_a_picture_without_references_is_the_same_every_time() -> None:
    lines = {"yours": [1, 2, 3]}
    assert over_steps_svg("t", lines, alone=False) == over_steps_svg("t", lines, alone=False)
    bars = draw_bars(["size (bytes)"], [Row("one", (Bar(length(4), length(5)),))], "how to read")
    assert "<defs>" not in bars.svg


def test_textures_are_defined_where_they_are_painted() -> None:
    dots, stripes = Texture("dots", "white", "M2 2h1"), Texture("stripes", "red", "M4 0V8")
    body = [rectangle(0, 0, 5, 5, fill=stripes.paint)]
    for alone in (True, False):
        svg = document(9, 9, "a box", body, alone, [dots, stripes])
        (name,) = re.findall(r'fill="url\(#([^)]+)\)"', svg)
        assert f'<pattern id="{name}"' in svg
        assert "dots" not in svg


def test_any_words_can_be_shown() -> None:
    words = '§ <b> & "'
    svg = document(9, 9, words, [text(0, 0, words)], alone=True)
    assert said(svg) == [words]
    assert ElementTree.fromstring(svg).get("aria-label") == words
    assert isinstance(drawing_of_words(words), Drawing)
