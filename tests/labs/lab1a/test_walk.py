"""The walk along the roof: dots move, the crossing is right, a static form stays behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.host.cut import all_of
from autograder.labs.lab1a import clockwork
from autograder.labs.lab1a.torch_layer import decoder_layer
from lab_utils.instruments.roofline import A100, MACHINES, Machine
from lab_utils.instruments.shapes import LLAMA3_8B, LLAMA_7B, Transformer
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import MARK
from lab_utils.labs.lab1a import beside, measure, walk
from lab_utils.labs.lab1a.walking import BATCHES, DECODE, PREFILL, Setting, places
from tests.labs.lab1a.test_lab1a import solution

HOME = Machine("home", {"fp32": 1e11}, 2e10, 1.6e10, 3e9)


def counts() -> tuple[Any, Any]:
    names = solution()
    return names["layer_flops"], names["layer_elements"]


def test_the_crossing_is_the_scans() -> None:
    at = Setting(A100, "bf16", DECODE, 1, 2048)
    found = {place.name: place for place in places(*counts(), LLAMA_7B, at)}
    assert found["q"].crossing == clockwork.ridge_batch(4096, 4096, "bf16", A100)
    assert found["up"].crossing == clockwork.ridge_batch(4096, 11008, "bf16", A100)
    assert found["scores"].crossing is None
    prefill = places(*counts(), LLAMA_7B, Setting(A100, "bf16", PREFILL, 1, 2048))
    assert {place.crossing for place in prefill if place.name == "q"} == {1}


def test_a_place_is_that_of_all_layers() -> None:
    at = Setting(A100, "bf16", DECODE, 8, 512)
    layer = decoder_layer(LLAMA3_8B, 8, 1, 511)
    for place in places(*counts(), LLAMA3_8B, at):
        assert place.compute == pytest.approx(32 * layer.flops[place.name] / 312e12)
        assert place.memory == pytest.approx(2 * 32 * layer.elements[place.name] / 1935e9)


def test_sliders_move_the_dots() -> None:
    shown = walk(*counts(), LLAMA_7B, also=[HOME])
    seen = set()
    for batch in BATCHES:
        shown.batch.value = batch
        seen.add(shown.picture.value)
    assert len(seen) == len(BATCHES)
    assert "never" in shown.table.value
    before = shown.picture.value
    shown.phase.value = PREFILL
    assert shown.picture.value != before
    shown.context.value = 128
    assert "131,072 " not in shown.table.value


def test_another_machine_keeps_the_data_type_if_it_can() -> None:
    shown = walk(*counts(), LLAMA_7B, also=[HOME])
    shown.dtype.value = "fp64"
    shown.machine.value = "Jetson Orin Nano"
    assert shown.dtype.value in MACHINES["Jetson Orin Nano"].rates
    shown.machine.value = "home"
    assert shown.setting.dtype == "fp32"
    assert "home, fp32" in shown.picture.value
    shown.machine.value = "A100"
    assert shown.dtype.value == "fp32"


def test_without_a_kernel_two_pictures_stay() -> None:
    shown = walk(*counts())
    assert shown.static.html.count("<svg") == 2
    assert "LLaMA-7B, prefill, batch 1" in shown.static.html
    assert "LLaMA-7B, decode, batch 1" in shown.static.html
    assert "aria-label" in shown.static.svg
    assert "bound by memory" in repr(shown)


def test_functions_that_name_other_operators_are_told() -> None:
    flops, _ = counts()

    def other(_model: Transformer, _batch: int, _new: int, _past: int) -> dict[str, int]:
        return {"q": 1}

    with pytest.raises(LabError, match="different operators"):
        walk(flops, other)


def test_nothing_is_measured_where_a_hand_in_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / MARK).touch()
    assert measure() is None
    assert "Nothing is measured" in capsys.readouterr().out
    (tmp_path / MARK).unlink()
    found = measure()
    assert found is not None
    assert "gemm 1024" in beside(found).words


def test_the_walk_answers_nothing_while_a_hand_in_is_graded(tmp_path: Path) -> None:
    """What times operators and finds crossings is not beside notebook 2 then."""
    all_of(hidden_of("lab1a").cuts.values()).copy_to(tmp_path / "lab_utils")
    text = (tmp_path / "lab_utils" / "labs" / "lab1a" / "walking.py").read_text()
    assert "def walk(" in text
    assert "cross" not in text.partition('"""\n')[2]
