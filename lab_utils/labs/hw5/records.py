"""What functions of part B return, as notebooks read it."""

from __future__ import annotations

from typing import NamedTuple


class WeightRange(NamedTuple):
    """How the weights of a layer lie."""

    low: float
    """The smallest."""
    high: float
    """The largest."""
    mean: float
    sigma: float
    """Their standard deviation, as ``torch.std`` has it (divided by n - 1)."""
    outside: float
    """The share (0 to 1) that lies more than 3 sigma away from the mean."""


class Seen(NamedTuple):
    """All numbers that came by at one place of a network, over all batches."""

    numbers: int
    """How many they are."""
    largest: float
    """The largest magnitude among them."""
    mean: float
    sigma: float
    """Their standard deviation (divided by n - 1)."""
