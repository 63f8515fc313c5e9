"""The picture of a roof, and the roof of this computer."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from lab_utils.instruments.roofline import A100, H100
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline, frame_for, in_words
from lab_utils.instruments.roofline.measure import NAME, measure_this_computer

ROOFS = [Roof(A100, "bf16"), Roof(H100, "bf16")]


def test_dots_stand_on_the_roof_or_where_they_were_measured() -> None:
    dots = [Dot("slow", 1.0), Dot("fast", 1000.0), Dot("measured", 1000.0, rate=1e12)]
    picture = draw_roofline(ROOFS, dots)
    assert "slow: 1 operations a byte, 1.94 TFLOP/s, bound by memory" in picture.words
    assert "fast: 1e+03 operations a byte, 312 TFLOP/s, bound by compute" in picture.words
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', picture.svg)
    (slow, fast, measured) = [(float(x), float(y)) for x, y in places]
    assert slow[0] < fast[0] == measured[0]
    assert fast[1] < measured[1]  # higher up is a smaller y


def test_a_picture_is_well_formed_and_says_what_it_shows() -> None:
    dots = [Dot("q & k", 2.0, trail=(1.0, 161.0, 900.0)), Dot("<v>", 0.0, wrong=True)]
    picture = draw_roofline(ROOFS, dots, "caption")
    root = ElementTree.fromstring(picture.svg)
    assert "Roofline of A100, bf16 and H100, bf16" in root.attrib["aria-label"]
    assert "caption" in picture.html
    assert 'stroke="currentColor"' in picture.html


def test_what_is_off_the_axes_stands_at_their_ends() -> None:
    frame = frame_for(ROOFS)
    assert frame.across(1e-9) == frame.across(0.1)
    assert frame.across(1e9) == frame.across(1e4)
    assert frame.up(0) == frame.up(10 ** frame.y[0])


@pytest.mark.parametrize(
    ("value", "words"), [(312e12, "312 TFLOP/s"), (0, "0 FLOP/s"), (1.5e3, "1.5 kFLOP/s")]
)
def test_large_numbers_in_words(value: float, words: str) -> None:
    assert in_words(value, "FLOP/s") == words


def test_this_computer_is_measured() -> None:
    """Figures are not judged here: the benchmark does that."""
    import torch

    threads, told = torch.get_num_threads(), []
    found = measure_this_computer(lambda share, name: told.append((share, name)), rounds=1)
    assert torch.get_num_threads() == threads
    assert found.machine.name == NAME
    assert {work.name for work in found.works} >= {"gemm 1024", "gemm 16", "add"}
    assert max(found.share(work) for work in found.works if "gemm" in work.name) >= 0.999
    assert told[0][0] == 0
    assert told[-1] == (1.0, "done")
