"""What a person does in JupyterLab: the films follow their sliders."""

from __future__ import annotations

from tests.support.page import film

SCENES = {
    "01_array": film(
        "systolic_film((6, 4, 5)",
        "output-stationary: cycle 1 of 22",
        "output-stationary: cycle 9 of 22",
        "ARROW_RIGHT",
        8,
    ),
    "02_search": film("pareto_film(", "1 of ", "3 of ", "ARROW_RIGHT", 2),
}
