"""Shapes of real transformers."""

from __future__ import annotations

import pytest

from lab_utils.instruments.shapes import LLAMA2_70B, MODELS, Transformer
from lab_utils.kit.errors import LabError


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_heads_are_as_wide_as_the_model(model: Transformer) -> None:
    assert model.heads * model.head == model.width


def test_heads_share_evenly() -> None:
    assert LLAMA2_70B.heads // LLAMA2_70B.kv_heads == 8
    with pytest.raises(LabError, match="6 heads cannot share 4"):
        Transformer("odd", 1, 6, 6, 4, 1, 6, True, 1, 1)
