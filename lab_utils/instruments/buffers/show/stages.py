"""A double buffer over time: while one stage is computed, the lines of the next one come."""

from __future__ import annotations

import numpy as np

from lab_utils.instruments.buffers.show.fast import Ints


def total_cycles(compute: Ints, first: Ints, second: Ints, near: int, far: int) -> int:
    """Cycles of all stages together.

    Args:
        compute: cycles that each stage computes.
        first: lines that each stage brings into the first level.
        second: lines of these that come from memory.
        near: cycles of a line on the wire from the second level to the first.
        far: cycles of a line on the wire from memory to the second level.
    """
    fetch = np.maximum(near * first, far * second)
    coming = np.append(fetch[1:], 0)
    return int(fetch[:1].sum() + np.maximum(compute, coming).sum())
