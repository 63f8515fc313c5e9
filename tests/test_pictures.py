"""Pictures: what is drawn is what was measured, and every form of it is there."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.graph import Kind
from lab_utils.lab4a import open_graph
from lab_utils.memory import live_bytes
from lab_utils.pictures.memory_svg import Panel, height_of, memory_svg, scale_for
from lab_utils.pictures.plots import plot_memory
from lab_utils.schedule import as_soon_as_possible, program_order

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    return root


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def areas(root: ElementTree.Element) -> dict[str, str]:
    """Kind -> path of its area, in a picture of one panel."""
    found = {}
    for path in root.iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None and ": at most" in (title.text or ""):
            found[str(title.text).partition(":")[0]] = path.get("d", "")
    return found


@given(
    st.integers(1, 900).flatmap(
        lambda steps: st.dictionaries(
            st.sampled_from(list(Kind)),
            st.lists(st.integers(0, 10**9), min_size=steps, max_size=steps),
            min_size=1,
        )
    )
)
def test_areas_are_stacked_to_the_bytes_that_are_held(by_kind: dict[Kind, list[int]]) -> None:
    panel = Panel("any", by_kind)
    root = parsed(memory_svg([panel]))
    drawn = areas(root)
    assert drawn.keys() == {kind for kind, held in by_kind.items() if any(held)}
    peak = max(panel.total)
    if peak:
        highest = min(float(y) for d in drawn.values() for y in re.findall(r"V([\d.]+)", d))
        assert highest == pytest.approx(height_of(peak, scale_for(peak)), abs=0.06)


def test_a_memory_line_has_units_peak_budget_and_kinds() -> None:
    graph = open_graph("llm_mlp")
    line = live_bytes(graph, program_order(graph))
    root = parsed(memory_svg({"mine": line.by_kind, "theirs": line.by_kind}, 5_000_000, line.total))
    said = texts(root)
    assert {"held (MB)", "step", "mine", "theirs", "budget 5.00 MB"} <= set(said)
    assert said.count(f"peak {line.peak / 1e6:.2f} MB") == 2
    assert {"A ACTIVATION", "W WEIGHT", "gw GRAD_WEIGHT"} <= set(said)
    assert f"peak {line.peak / 1e6:.2f} MB" in root.get("aria-label", "")


def test_ids_of_two_pictures_in_one_page_do_not_clash() -> None:
    graph = open_graph("llm_mlp")
    one = memory_svg({"a": live_bytes(graph, program_order(graph)).by_kind})
    two = memory_svg({"a": live_bytes(graph, as_soon_as_possible(graph)).by_kind})
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert all(ids)
    assert not ids[0] & ids[1]
    assert set(re.findall(r"url\(#([^)]+)\)", one)) <= ids[0]


def test_a_line_of_ten_thousand_steps_stays_small() -> None:
    held = [step % 97 for step in range(10_000)]
    held[7_777] = 1_000
    svg = memory_svg({"long": {Kind.ACTIVATION: held}})
    assert len(svg) < 30_000
    assert "peak 1.00 KB" in texts(parsed(svg))


def test_a_plot_has_a_form_for_every_reader() -> None:
    graph = open_graph("llm_mlp")
    line = live_bytes(graph, program_order(graph))
    for value in (line, line.schedule, plot_memory({"mine": line})):
        bundle = value._repr_mimebundle_()
        parsed(bundle["image/svg+xml"])
        assert "currentColor" in bundle["text/html"]
        assert f"{line.peak / 1e6:.2f} MB" in bundle["text/plain"]
        assert len(repr(value)) < 400
