"""What functions of Lab 1A return, by name."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.instruments.shapes import Transformer


class Times(NamedTuple):
    """What an operator takes on a machine: seconds, operations for each byte, what it waits for."""

    compute: float
    memory: float
    execution: float
    intensity: float
    bound: str
    """``"compute"`` or ``"memory"``."""


def layer_names(model: Transformer) -> tuple[str, ...]:
    """The matrix products of a decoder layer, in the order in which they run."""
    feed_forward = ("gate", "up", "down") if model.gated else ("up", "down")
    return ("q", "k", "v", "scores", "mix", "o", *feed_forward)
