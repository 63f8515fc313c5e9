"""What a choice of what to recompute is made from."""

from __future__ import annotations

from dataclasses import dataclass

from torch import fx


@dataclass(eq=False)
class Candidate:
    """An activation that may be dropped, and what it takes to rebuild it."""

    node: fx.Node
    nbytes: int
    """Bytes that are free between forward and backward once it is dropped."""
    last_forward: fx.Node
    """The node of forward that uses it last."""
    first_backward: fx.Node
    last_backward: fx.Node
    sources: set[fx.Node]
    """The values that it is rebuilt from, each told by the node that owns its memory."""
    seconds: float
    """Time to run its path once."""
    count: int
    """How often its path will run."""
    total: float
    """Time of all these runs."""

    @property
    def ratio(self) -> float:
        """Bytes saved for each second of work; the larger the better."""
        return self.nbytes / self.total if self.total else 0.0
