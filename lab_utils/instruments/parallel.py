"""A training step that several cards share: what is trained, on what, and how it is spread.

Units are plain: bytes, seconds, bytes a second. Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lab_utils.instruments.roofline import Machine
from lab_utils.kit.errors import LabError

NONE, SELECTIVE, FULL = "none", "selective", "full"
RECOMPUTE = (NONE, SELECTIVE, FULL)


class Memory(NamedTuple):
    """Bytes on one rank when it is fullest."""

    state: int
    """Parameters, gradients and the optimizer's two moments."""
    kept: int
    """What layers keep between forward and backward."""
    logits: int
    """What the loss works on; 0 but in the last stage."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.state + self.kept + self.logits


class Work(NamedTuple):
    """FLOPs of the products with weights, and of those between queries, keys and values."""

    dense: int
    attention: int


@dataclass(frozen=True)
class Job:
    """What one step works on.

    Attributes:
        tokens: tokens of each sequence.
        batch: sequences of the whole step, all replicas together.
        micro_batches: into how many equal parts each replica cuts its share of the batch.
        dtype: of the activations.
    """

    tokens: int
    batch: int
    micro_batches: int = 1
    dtype: str = "fp32"

    def __post_init__(self) -> None:
        _positive("a job", self.tokens, self.batch, self.micro_batches)


@dataclass(frozen=True)
class Plan:
    """How a step is spread over cards.

    Attributes:
        tp: ranks that share each layer (tensor parallel).
        pp: stages, one behind the other (pipeline parallel).
        dp: replicas, each with its share of the batch (data parallel).
        recompute: ``"none"``, ``"selective"`` (the core of attention) or ``"full"`` (every layer).
        sequence_parallel: whether what tensor parallel does not share is cut along the tokens.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    recompute: str = NONE
    sequence_parallel: bool = False

    def __post_init__(self) -> None:
        _positive("a plan", self.tp, self.pp, self.dp)
        if self.recompute not in RECOMPUTE:
            known = ", ".join(map(repr, RECOMPUTE))
            raise LabError(f"a plan recomputes one of {known}, not {self.recompute!r}")

    @property
    def cards(self) -> int:
        """How many it takes."""
        return self.tp * self.pp * self.dp

    def __str__(self) -> str:
        degrees = (("TP", self.tp), ("PP", self.pp), ("DP", self.dp))
        words = [f"{name}{degree}" for name, degree in degrees if degree > 1] or ["single"]
        words += {NONE: [], SELECTIVE: ["AR"], FULL: ["full AR"]}[self.recompute]
        return "+".join([*words, *(["SP"] if self.sequence_parallel else [])])


@dataclass(frozen=True)
class Cluster:
    """Equal cards, and the links between them.

    Attributes:
        machine: one card.
        cards: how many there are.
        latency: seconds before the first byte of a message arrives.
        link: bytes a second between two cards.
        dense: share of the card's rate that large matrix products reach.
        attention: share of it that the core of attention reaches.
    """

    machine: Machine
    cards: int
    latency: float
    link: float
    dense: float = 1.0
    attention: float = 1.0

    def __post_init__(self) -> None:
        _positive("a cluster", self.cards, self.link, self.dense, self.attention)
        if self.latency < 0:
            raise LabError("a cluster: its latency is 0 or more")


def _positive(what: str, *values: float) -> None:
    if not all(value > 0 for value in values):
        raise LabError(f"{what}: every number is above 0")
