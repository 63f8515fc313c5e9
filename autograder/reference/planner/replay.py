"""Drawing the same random numbers again: two operators that torch does not have.

``generator_state`` is one more random operator for the schedules: it keeps its place
among the others. ``bernoulli_again_`` leaves the global generator alone.
"""

from __future__ import annotations

import torch

_library = torch.library.Library("recompute", "DEF")
_library.define("generator_state() -> Tensor", tags=torch.Tag.nondeterministic_seeded)
_library.define("bernoulli_again_(Tensor(a!) self, float p, Tensor state) -> Tensor(a!)")


def _generator_state() -> torch.Tensor:
    return torch.get_rng_state().clone()  # the clone is seen by whoever watches memory


def _bernoulli_again(self: torch.Tensor, p: float, state: torch.Tensor) -> torch.Tensor:
    return self.bernoulli_(p, generator=torch.Generator().set_state(state))


_library.impl("generator_state", _generator_state, "CompositeExplicitAutograd")
_library.impl("bernoulli_again_", _bernoulli_again, "CompositeExplicitAutograd")

generator_state = torch.ops.recompute.generator_state.default
bernoulli_again_ = torch.ops.recompute.bernoulli_again_.default
