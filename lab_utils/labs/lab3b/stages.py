"""What the ranks of notebook 2 work on: a stage of a pipeline, and layers whose work takes time.

Work runs on the virtual clock (``compute``); the numbers are real.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import compute, hold
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab3b.numbers import random_numbers


class Stage:
    """A stage of a pipeline: some layers of a model, on one rank.

    Attributes:
        is_first: whether it starts the pipeline; it reads the micro-batches itself.
        is_last: whether it ends it; it computes the loss itself.
        shape: of what goes from stage to stage for one micro-batch, either way.
        dtype: of the same.
    """

    def __init__(self, given: Mapping[str, Any], rank: int | None = None) -> None:
        self.rank = dist.get_rank() if rank is None else rank
        self.is_first, self.is_last = self.rank == 0, self.rank == given["ranks"] - 1
        self.shape, self.dtype = (given["rows"], given["width"]), torch.float64
        weights = stage_weights(given, self.rank)
        self.weights = {name: weight.requires_grad_() for name, weight in weights.items()}
        self._given = given
        self._held: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._nbytes = 2 * given["rows"] * given["width"] * 8  # what goes in, and what comes out

    def forward(self, micro: int, x: torch.Tensor | None = None) -> torch.Tensor | None:
        """Forward of one micro-batch.

        Args:
            micro: its number.
            x: what came from the stage before; None in the first one.

        Returns:
            What goes to the next stage; None in the last one.
        """
        self._expect(micro, x, self.is_first, "x", "the stage before")
        if micro in self._held:
            raise LabError(f"stage {self.rank} has done forward of micro-batch {micro} already")
        given_x = stage_input(self._given, micro) if x is None else x
        into = given_x.detach().clone().requires_grad_()
        compute(self._given["forward"], f"F{micro}")
        hold(self._nbytes)
        out = stage_layers(self.weights, into)
        if self.is_last:
            loss = ((out - stage_target(self._given, micro)) ** 2).mean()
            self._held[micro] = into, loss / self._given["micros"]
            return None
        self._held[micro] = into, out
        return out.detach()

    def backward(self, micro: int, gradient: torch.Tensor | None = None) -> torch.Tensor | None:
        """Backward of one micro-batch; the gradients of the weights add up.

        Args:
            micro: its number.
            gradient: what came from the next stage; None in the last one.

        Returns:
            What goes to the stage before; None in the first one.
        """
        self._expect(micro, gradient, self.is_last, "gradient", "the next stage")
        if micro not in self._held:
            words = f"stage {self.rank} has no forward of micro-batch {micro} to go back through"
            raise LabError(words)
        into, out = self._held.pop(micro)
        compute(self._given["backward"], f"B{micro}")
        out.backward(gradient)
        hold(-self._nbytes)
        return None if self.is_first else into.grad

    def _expect(self, micro: int, got: Any, is_end: bool, what: str, whom: str) -> None:
        if is_end and got is not None:
            raise LabError(f"stage {self.rank} needs no {what}: nothing comes from {whom}")
        if is_end:
            return
        if not isinstance(got, torch.Tensor):
            raise LabError(f"stage {self.rank} needs the {what} of micro-batch {micro} from {whom}")
        if tuple(got.shape) != self.shape:
            told = f"has shape {tuple(got.shape)}, not {self.shape}"
            raise LabError(f"the {what} that stage {self.rank} gets {told}")


def stage_weights(given: Mapping[str, Any], rank: int) -> dict[str, torch.Tensor]:
    """What a stage starts with."""
    width, seed = given["width"], given["seed"] + 10 * rank
    return {
        "weight": random_numbers(seed, (width, width)) / width**0.5,
        "bias": random_numbers(seed + 1, (width,)),
    }


def stage_input(given: Mapping[str, Any], micro: int) -> torch.Tensor:
    """A micro-batch."""
    return random_numbers(given["seed"] + 500 + micro, (given["rows"], given["width"]))


def stage_target(given: Mapping[str, Any], micro: int) -> torch.Tensor:
    """What its outputs should be."""
    return random_numbers(given["seed"] + 700 + micro, (given["rows"], given["width"]))


def stage_layers(weights: Mapping[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """The layers of a stage."""
    return x + torch.tanh(x @ weights["weight"].T + weights["bias"])
