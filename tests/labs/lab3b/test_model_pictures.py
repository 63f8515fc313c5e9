"""Pictures of notebook 3: bars, marks, a card that overflows, sliders that move."""

from __future__ import annotations

from lab_utils.labs.lab3b import memory_beside, room, time_beside
from lab_utils.labs.lab3b.h100 import TABLE
from lab_utils.labs.lab3b.stacks import Scale, Stack, draw_stacks
from tests.labs.lab3b.solved import solution


def test_every_measurement_stands_beside_a_prediction() -> None:
    names = solution()
    memory, time = memory_beside(names["peak_memory"]), time_beside(names["step_time"])
    for row in TABLE:
        assert str(row.plan) in time.words
        assert time.words.count("measured") == len(TABLE)
    assert memory.words.count("measured") == sum(len(row.peaks) for row in TABLE)
    assert "single: 20.53 GiB" in memory.words
    assert "-3.4 %" in memory.words
    assert "three buffers" in memory.html.replace("\n", " ")
    for picture in (memory, time):
        assert 'role="img" aria-label="single:' in picture.svg


def test_what_does_not_fit_is_marked() -> None:
    scale = Scale("GB", 1e9, 80e9, "80 GB")
    shown = draw_stacks(
        [Stack("a", {"state": 70e9, "kept": 20e9}), Stack("b", {"state": 5})], scale
    )
    first, second = shown.words.splitlines()
    assert "does not fit" in first
    assert "does not fit" not in second
    assert "✗" in shown.svg


def test_sliders_move_the_bars() -> None:
    shown = room(solution()["peak_memory"])
    assert "72 layers, 1,024 tokens, PP2+AR: fits" in shown.words.value
    for stage in ("stage 0", "stage 1"):
        assert stage in shown.picture.value
    shown.layers.value = 96
    assert "does not fit" in shown.words.value
    before = shown.picture.value
    shown.dtype.value = "bf16"
    assert shown.picture.value != before
    shown.spread.value = "PP4"
    assert "stage 3" in shown.picture.value
    shown.layers.value = 2
    assert "unevenly" in shown.words.value
    for layers in ("48 layers", "96 layers"):
        assert layers in shown.static.html
    assert repr(shown) == shown.static.words
