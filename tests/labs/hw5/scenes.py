"""What a person does in JupyterLab: the ring gets a fifth rank, a smaller range saturates more."""

from __future__ import annotations

from tests.support.page import film

SCENES = {
    "02_ring": film("ring_film(4)", "step 0 of 6", "step 0 of 8", "ARROW_RIGHT", 1),
    "04_weights": film(
        "clipping_film(net", "0 of 48,000 saturate", "7 of 48,000 saturate", "ARROW_LEFT", 10
    ),
}
