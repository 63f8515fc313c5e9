"""What a person does in JupyterLab: operators walk along the roof when a slider moves."""

from __future__ import annotations

from tests.support.page import film

SCENES = {
    "02_roofline": film(
        "walk(layer_flops, layer_elements, LLAMA_7B",
        "q 1 operations a byte",
        "q 683 operations a byte",
        "ARROW_RIGHT",
        10,
    ),
}
