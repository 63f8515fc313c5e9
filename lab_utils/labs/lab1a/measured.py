"""This computer's roof in the notebook: measured with a progress bar, drawn beside an A100's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lab_utils.instruments.roofline import A100, Machine
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline
from lab_utils.instruments.roofline.measure import Measured, measure_this_computer
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.charts.live import widgets
from lab_utils.kit.files import is_looked_at


def measure() -> Measured | None:
    """Find this computer's roof; None where a hand-in is only looked at."""
    if is_looked_at(Path()):
        print("Nothing is measured while a hand-in is looked at.")
        return None
    from lab_utils.kit.show import in_notebook  # not there where a hand-in is graded

    if not in_notebook():
        return measure_this_computer()
    return measure_this_computer(_bar())


def _bar() -> Any:
    from IPython.display import display

    w = widgets()
    bar = w.FloatProgress(0.0, min=0.0, max=1.0, description="measuring")
    what = w.Label()
    display(w.HBox([bar, what]))

    def progress(share: float, name: str) -> None:
        bar.value, what.value = share, name

    return progress


def beside(measured: Measured, machine: Machine = A100) -> Drawing:
    """What was measured under the roof that was measured, and another machine's roof beside it."""
    dots = [Dot(work.name, work.intensity, work.rate) for work in measured.works]
    roofs = [Roof(measured.machine, "fp32"), Roof(machine, "fp32")]
    caption = "Each dot was timed. The thick roof is the best that was measured in the same run."
    return draw_roofline(roofs, dots, caption)
