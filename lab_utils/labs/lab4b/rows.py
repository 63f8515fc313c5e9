"""What is known of a strategy on a system, and of a stage of a pipeline."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.instruments.network.strategy import Strategy


class Row(NamedTuple):
    """A strategy, the seconds of its step, and the bytes that a device must hold."""

    strategy: Strategy
    seconds: float
    nbytes: float


class StageLoad(NamedTuple):
    """One rank of a stage of a pipeline: bytes that it sends, and that it holds at its fullest."""

    sent: float
    """To other stages, in one step."""
    state: float
    """Parameters, gradients and what the optimizer keeps."""
    kept: float
    """What layers keep between forward and backward, of all micro-batches under way."""
    logits: float
    """What the loss works on; 0 but in the last stage."""

    @property
    def memory(self) -> float:
        """Bytes that a device must have."""
        return self.state + self.kept + self.logits
