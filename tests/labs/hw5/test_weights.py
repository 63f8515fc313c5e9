"""Homework 5, notebook 4: the solution, wrong and right cells, and PyTorch's own answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.labs.hw5.make_images import first_of_each
from lab_utils.kit.errors import LabError
from lab_utils.labs.hw5 import images
from lab_utils.labs.hw5.ask.weights import Nested
from lab_utils.labs.hw5.clipping import clipping_film
from lab_utils.labs.hw5.judge.profiles import entering, seen_of
from lab_utils.labs.hw5.network import lenet
from lab_utils.labs.hw5.tasks import weights
from lab_utils.labs.hw5.tensors import made
from tests.labs.hw5.catalogue.weights import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden, assert_hidden_cases_are_other
from tests.support.solved_cells import solved_space

OURS = solved_space("hw5")


class TestCatalogue(NamedOnHidden):
    catalogue = Catalogue("hw5", WRONG, RIGHT, part=weights.TASKS)


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("hw5", 4)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=9), st.floats(0.1, 20))
def test_pytorch_rounds_to_the_same_numbers(values: list[float], scale: float) -> None:
    x = torch.tensor(values)
    theirs = torch.fake_quantize_per_tensor_affine(x, 1 / scale, 0, -128, 127)
    mine = OURS["quantized"](x, scale).double() / scale
    exact = x.double() * scale
    clear = (exact - exact.floor() - 0.5).abs() > 1e-3  # ties may go either way
    assert torch.allclose(theirs.double()[clear], mine[clear], rtol=1e-4, atol=1e-5)


def test_pytorch_has_the_same_scales_for_each_output() -> None:
    weight = torch.randn(5, 3, 2, 2, generator=torch.Generator().manual_seed(3))
    whole, scales = OURS["channel_weights"](weight, 8)
    theirs = torch.fake_quantize_per_channel_affine(
        weight, 1 / scales, torch.zeros(5, dtype=torch.int32), 0, -127, 127
    )
    assert torch.allclose(whole / scales[:, None, None, None], theirs, rtol=1e-5)


@pytest.mark.parametrize("place", range(4))
def test_pytorch_sees_what_numpy_computes(place: int) -> None:
    """What enters the layers, by hooks on the network itself, all batches at once."""
    case = hidden_of("hw5").graded_cases("4.8")[place]
    net, found = Nested(case.given).eval(), {}
    for name, module in net.named_modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.Linear)):
            module.register_forward_pre_hook(
                lambda _, args, name=name: found.update({name: args[0]})
            )
    with torch.no_grad():
        found["output"] = net(made(case.given["images"]))
    for name, values in entering(case.given).items():
        x = found[name].double()
        theirs = [x.numel(), x.abs().max().item(), x.mean().item(), x.std().item()]
        assert seen_of(values) == pytest.approx(theirs, rel=1e-4, abs=1e-5), name


def test_the_film_tells_what_a_range_loses() -> None:
    film = clipping_film(lenet(), OURS["quantized"], OURS["lost"], "fc1", images=40)
    assert "aria-label" in film.static.svg
    assert "fc1, 4 bits" in repr(film)
    assert "533 of 48,000 saturate" in repr(film)
    before = film.picture.value
    film.percent.value = 20
    assert "5,356 of 48,000 saturate" in film.picture.value != before
    film.bits.value, film.layer.value = 8, "conv1"
    assert "conv1, 8 bits" in film.picture.value


def test_images_are_balanced_and_ship() -> None:
    found = images.load_images()
    assert [a.shape for a in found] == [(6000, 28, 28), (6000,), (2000, 28, 28), (2000,)]
    assert set(np.bincount(found.train_y)) == {600}
    assert set(np.bincount(found.test_y)) == {200}
    assert "Zalando" in images.EMBEDDED.with_suffix(".md").read_text(encoding="utf-8")
    labels = np.array([3, 1, 3, 0, 3, *range(10), *range(10)])
    assert list(np.bincount(labels[first_of_each(labels, 2)])) == [2] * 10


def test_other_images_where_somebody_has_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pickle

    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    batch = {b"data": np.arange(2 * 3072).reshape(2, 3072) % 256, b"labels": [3, 7]}
    for name in ("data_batch_1", "data_batch_2", "test_batch"):
        (folder / name).write_bytes(pickle.dumps(batch))
    monkeypatch.setenv(images.CHOICE, f"cifar10:{tmp_path}")
    found = images.load_images()
    assert found.train_x.shape == (4, 32, 32, 3)
    assert list(found.test_y) == [3, 7]
    monkeypatch.setenv(images.CHOICE, "cifar10:/nowhere")
    with pytest.raises(LabError, match="there is no CIFAR-10 at"):
        images.load_images()
    monkeypatch.setenv(images.CHOICE, "imagenet")
    with pytest.raises(LabError, match="fashion, cifar10"):
        images.load_images()
