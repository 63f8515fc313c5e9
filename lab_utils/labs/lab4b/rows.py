"""What is known of a strategy on a system."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.instruments.network.strategy import Strategy


class Row(NamedTuple):
    """A strategy, the seconds of its step, and the bytes that a device must hold."""

    strategy: Strategy
    seconds: float
    nbytes: float
