"""A film: a picture for each step, a slider over the steps, and a button that plays them."""

from __future__ import annotations

from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.charts.live import Live, widgets


class StepFilm(Live):
    """The frame of a film, which says in ``at`` what a step looks like.

    A film of its own sets up what ``at`` needs, calls this, and chooses its ``static`` form.

    Attributes:
        play: the button that goes on by itself.
        step: the slider.
        picture: what is shown.
    """

    def __init__(self, last: int, pause: int, name: str = "step", first: int = 0) -> None:
        """Begin at the step ``first``; ``pause`` milliseconds between two steps when it plays."""
        w = widgets()
        self.play = w.Play(interval=pause, min=first, value=first, max=last, show_repeat=False)
        self.step = w.IntSlider(description=name, min=first, max=last, layout={"width": "70%"})
        w.jslink((self.play, "value"), (self.step, "value"))
        self.picture = w.HTML()
        self.step.observe(lambda _: self._move(), "value")
        self.widget = w.VBox([w.HBox([self.play, self.step]), self.picture])
        self._move()

    def at(self, step: int) -> Drawing:
        """The picture of a step."""
        raise NotImplementedError

    def _move(self) -> None:
        self.picture.value = self.at(self.step.value).html
