"""What a person does in JupyterLab: the films follow their sliders."""

from __future__ import annotations

from tests.support.page import film

SCENES = {
    "01_hierarchy": film(
        '"FIFO, 3 lines"',
        "access 1 of 10",
        "access 7 of 10: line 5\nLRU, 3 lines: from memory; 6 misses so far",
        "ARROW_RIGHT",
        6,
    ),
    "02_dataflow": film(
        'row_film(Conv("small"',
        "cycle 1 of 37",
        "cycle 9 of 37: strip 1 streams; 9 of 9 elements multiply",
        "ARROW_RIGHT",
        8,
    ),
}
