"""No label of a shipped picture lies under a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab_utils.kit.charts.over_time import over_steps_svg
from lab_utils.kit.root import ROOT
from tests.support.labels import labels_under_lines

PICTURES = sorted((ROOT / "notebooks").glob("*/images/*.svg"))


@pytest.mark.parametrize("file", PICTURES, ids=lambda file: f"{file.parts[-3]} {file.name}")
def test_no_label_of_a_shipped_picture_lies_under_a_line(file: Path) -> None:
    assert labels_under_lines(file.read_text(encoding="utf-8")) == []


def test_nor_one_of_lines_over_steps() -> None:
    lines = {"before": [5.0, 9, 2, 7], "yours": [1.0, 8, 9, 3], "reference": [2.0, 3, 4, 5]}
    assert labels_under_lines(over_steps_svg("any", lines, 6.0, "bytes")) == []


@pytest.mark.parametrize(
    ("line", "under"),
    [
        ('<line x1="0" y1="16" x2="90" y2="16"/>', True),
        ('<line x1="0" y1="30" x2="90" y2="30"/>', False),
        ('<path fill="none" d="M20 0v40"/>', True),
        ('<path fill="none" d="M0 40h90"/>', False),
        ('<path fill="none" d="M0 0C10 30 40 30 60 0"/>', True),
        ('<polyline points="0,0 20,16 90,0"/>', True),
    ],
)
def test_a_label_under_a_line_is_seen(line: str, under: bool) -> None:
    label = '<text x="10" y="20" font-size="11">a label</text>'
    svg = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'
    assert bool(labels_under_lines(svg.format(label + line))) == under
    assert not labels_under_lines(svg.format(line + label))
