"""Machines as data, the roof that they put over every operator, and pictures of it.

``chart`` draws roofs and operators, ``measure`` finds the roof of this computer.
"""

from lab_utils.instruments.roofline.machines import (
    A100,
    BYTES,
    H100,
    MACHINES,
    ORIN_NANO,
    Machine,
    UnknownDtype,
    item_bytes,
)

__all__ = [
    "A100",
    "BYTES",
    "H100",
    "MACHINES",
    "ORIN_NANO",
    "Machine",
    "UnknownDtype",
    "item_bytes",
]
