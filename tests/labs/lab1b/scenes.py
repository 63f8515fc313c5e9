"""What a person does in JupyterLab: both films follow their sliders."""

from __future__ import annotations

from tests.support.page import film

SCENES = {
    "01_fusion": film("fusion_film(layer", "0 fused", "2 fused: 96.6", "ARROW_RIGHT", 2),
    "02_tiling": film(
        "c_stays})", "A stays: step 1 of 24", "A stays: step 8 of 24", "ARROW_RIGHT", 7
    ),
}
