"""Pictures of the pages: every number is there, and what anybody wrote is text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from autograder.classroom.charts import Bar, bars, histogram, lines_chart
from autograder.grading.verdict import Chart

SVG = "{http://www.w3.org/2000/svg}"


def said(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_a_chart_names_the_lines_that_are_there() -> None:
    shown = lines_chart(Chart("a <mesh>", {"yours": (1, 3.5), "reference": (2,)}, 3, "hops"))
    picture, _, key = shown.partition('<p class="legend">')
    assert re.findall(r"</i>([^<]+)<", key) == ["yours", "reference"]
    assert {"hops", "budget 3 hops"} <= set(said(picture))
    assert ElementTree.fromstring(picture).get("aria-label") == "a <mesh>"


def test_a_line_of_another_name_is_named_in_the_picture() -> None:
    shown = lines_chart(Chart("any", {"yours": (1, 3), "all <kept>": (2,)}))
    assert "legend" not in shown
    assert {"yours", "all <kept>"} <= set(said(shown))


@pytest.mark.parametrize(("most", "tops"), [(10, ["2", "1", "1"]), (0, ["4"])])
def test_a_histogram_counts_everybody(most: float, tops: list[str]) -> None:
    picture = histogram([0, most / 20, most / 2, most], most)
    assert [words for words in said(picture) if words][: len(tops)] == tops
    assert picture.count("<rect") == len(tops)
    assert "<rect" not in histogram([], most)


def test_bars_share_one_scale_and_escape_names() -> None:
    rows = [Bar("<b>Ada</b>", ((3.0, "good"), (1.0, "none")), "75%"), Bar("§", ((2.0, "bar"),))]
    root = ElementTree.fromstring(bars(rows, "points"))
    long = {one.get("class"): float(one.get("width", "0")) for one in root.iter(f"{SVG}rect")}
    assert long["good"] == pytest.approx(3 * long["none"], abs=0.2)
    assert long["bar"] == pytest.approx(2 * long["none"], abs=0.2)
    assert {"<b>Ada</b>", "75%", "§"} <= set(said(bars(rows, "points")))
    assert bars(rows, "points") == bars(rows, "points")
