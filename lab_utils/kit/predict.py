"""A question before a picture: say what you expect, and be told at once. It is worth no points."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from lab_utils.kit.charts.drawn import drawing_of_words
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.errors import LabError


def predict(question: str, answers: Mapping[str, str], right: str) -> Prediction:
    """Ask ``question``; ``answers`` are the choices, each with what is said to who takes it.

    Raises:
        LabError: ``right`` is none of the choices.
    """
    if right not in answers:
        raise LabError(f"{right!r} is none of the answers: {', '.join(answers)}")
    return Prediction(question, answers, right)


class Prediction(Live):
    """The widget that ``predict`` returns; ``choice`` and ``said`` are its parts."""

    def __init__(self, question: str, answers: Mapping[str, str], right: str) -> None:
        w = widgets()
        self._answers, self._right = dict(answers), right
        choices = "\n".join(f"  ( ) {answer}" for answer in answers)
        self.static = drawing_of_words(f"What do you expect? {question}\n{choices}")
        self.choice = w.RadioButtons(options=list(answers), value=None, layout={"width": "auto"})
        self.said = w.HTML()
        self.choice.observe(lambda _: self._tell(), "value")
        asked = w.HTML(f"<b>What do you expect?</b> {escape(question)} <i>(no points)</i>")
        self.widget = w.VBox([asked, self.choice, self.said])

    def _tell(self) -> None:
        if self.choice.value is None:
            return
        verdict = "Right." if self.choice.value == self._right else "Not quite."
        self.said.value = f"<b>{verdict}</b> {escape(self._answers[self.choice.value])}"
