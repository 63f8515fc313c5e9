"""A question before a picture: told at once, and readable where nothing is live."""

from __future__ import annotations

import pytest

from lab_utils.kit.errors import LabError
from lab_utils.kit.predict import predict

ANSWERS = {"it falls": "By half.", "it rises <b>": "Clones take memory."}


def test_the_answer_is_told_at_once() -> None:
    asked = predict("What becomes of the peak?", ANSWERS, right="it falls")
    assert asked.said.value == ""
    asked.choice.value = "it rises <b>"
    assert "Not quite." in asked.said.value
    asked.choice.value = "it falls"
    assert "Right." in asked.said.value
    assert "By half." in asked.said.value


def test_a_page_without_a_kernel_shows_the_question() -> None:
    words = predict("What becomes of the peak?", ANSWERS, right="it falls").static.words
    assert "What becomes of the peak?" in words
    assert "( ) it falls" in words


def test_the_right_answer_is_one_of_them() -> None:
    with pytest.raises(LabError, match="is none of the answers"):
        predict("?", ANSWERS, right="it stays")
