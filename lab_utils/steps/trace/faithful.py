"""What has no faithful graph, refused where it happens, so that the model's line can be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import torch
from torch.utils._pytree import tree_leaves

from lab_utils.steps.graph import Phase
from lab_utils.steps.storage import call_draws_numbers


class Unfaithful(Exception):
    """The text says what a graph would get wrong, and what to do."""


def check_call(phase: Callable[[], Phase]) -> Callable[[Any, Any, Any, Any], None]:
    """What looks at every call of an operator while ``phase()`` of the step is recorded."""

    def check(target: Any, args: Any, kwargs: Any, result: Any) -> None:
        if any(
            isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in tree_leaves(result)
        ):
            raise Unfaithful(
                "it makes complex numbers, which are not supported: compute with real numbers"
            )
        if phase() is Phase.BACKWARD and call_draws_numbers(target, args, kwargs):
            raise Unfaithful(
                "it draws random numbers in backward: torch.utils.checkpoint draws those of "
                "forward again, which a graph does not follow; trace the model without it"
            )

    return check


@contextmanager
def no_reentrant_checkpoint() -> Iterator[None]:
    """While this is open, a call of re-entrant checkpointing is refused at once.

    It calls ``backward`` inside backward, where no line of the model is left to be told.
    """
    from torch.utils.checkpoint import CheckpointFunction

    def refuse(*_: Any) -> NoReturn:
        raise Unfaithful(
            "torch.utils.checkpoint with use_reentrant=True runs a backward pass of its own, "
            "which a graph does not follow: set use_reentrant=False"
        )

    forward = CheckpointFunction.forward
    CheckpointFunction.forward = staticmethod(refuse)  # type: ignore[method-assign]
    try:
        yield
    finally:
        CheckpointFunction.forward = staticmethod(forward)  # type: ignore[method-assign]
