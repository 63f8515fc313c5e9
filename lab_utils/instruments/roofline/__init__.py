"""Machines as data, and the roof that they put over every operator."""

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
