"""What the functions of notebook 01 return."""

from __future__ import annotations

from typing import NamedTuple

from torch import fx

from lab_utils.steps.graph import Kind


class Uses(NamedTuple):
    """The operators that read an activation first and last; None where none does.

    Forward includes the loss; backward is everything after it.
    """

    first_forward: fx.Node | None
    last_forward: fx.Node | None
    first_backward: fx.Node | None
    last_backward: fx.Node | None


class Peak(NamedTuple):
    """The moment at which most bytes are held: how many, while which node runs, of what."""

    nbytes: int
    node: fx.Node
    by_kind: dict[Kind, int]
