"""What a person does in JupyterLab: films follow their sliders, bars grow beyond a card."""

from __future__ import annotations

from pathlib import Path

from tests.support.browser import Browser
from tests.support.page import film, go_to_cell, look

_GROWING = film("room(peak_memory)", "stage 0: 73.59 GB", "does not fit", "ARROW_RIGHT", 1)


def _deeper_model_does_not_fit(browser: Browser, served: Path) -> None:
    go_to_cell(browser, "memory_beside(")
    look(browser, "lab3b 03_models beside", ".jp-OutputArea-output svg")
    _GROWING(browser, served)


SCENES = {
    "01_ranks": film("ranks_film(run_ranks(4, add_up", "done after 304.03", "done after 304.03"),
    "02_pipeline": film("schedule_film(", "48 messages", "60 messages", "ARROW_RIGHT", 2),
    "03_models": _deeper_model_does_not_fit,
}
