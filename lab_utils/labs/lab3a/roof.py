"""Measured time beside the roof's: shown in a student's own notebook, not where it is graded."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from lab_utils.kit.files import is_looked_at
from lab_utils.steps.clock import pretended

if TYPE_CHECKING:
    from lab_utils.labs.lab3a.show.strips import Strips


def against_the_roof(
    interpreter: Callable[[fx.GraphModule], Any], module: fx.GraphModule, *inputs: Any
) -> Strips | None:
    """What each node takes, by your own ``interpreter``, beside what this computer's roof allows.

    Measures the roof first, as in Lab 1A, then the nodes: on one core, and by the processor's own
    clock, which other programs do not disturb. Nothing where a hand-in is looked at.
    """
    if is_looked_at(Path()) or find_spec("lab_utils.labs.lab3a.show") is None:
        print("The picture is shown in your own notebook.")
        return None
    from lab_utils.instruments.roofline.measure import measure_this_computer
    from lab_utils.labs.lab3a.show.strips import Strips, costs

    machine, threads = measure_this_computer().machine, torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad(), pretended(time.process_time):
            interpreter(module).propagate(*inputs)
    finally:
        torch.set_num_threads(threads)
    return Strips(costs(module, machine, *inputs), machine)
