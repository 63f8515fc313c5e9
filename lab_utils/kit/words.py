"""Numbers and names in words: the same in pictures, messages and pages."""

from __future__ import annotations

from collections.abc import Sequence

#: Units above a byte, the largest first, and how many bytes each is.
UNITS = (("GB", 1e9), ("MB", 1e6), ("KB", 1e3))


def size(nbytes: float, unit: str = "bytes") -> str:
    """``10.42 MB``; what is not counted in bytes keeps its ``unit``: ``12 values``, ``0.25 ms``."""
    if unit != "bytes":
        whole = nbytes == round(nbytes) or abs(nbytes) >= 10_000
        return f"{nbytes:,.0f} {unit}" if whole else f"{nbytes:.4g} {unit}"
    for name, factor in UNITS:
        if nbytes >= factor:
            return f"{nbytes / factor:.2f} {name}"
    return f"{nbytes:,.0f} bytes"


def listed(names: Sequence[str], most: int = 6) -> str:
    """At most ``most`` names, and how many more there are."""
    left = len(names) - most
    return (", ".join(names[:most]) or "nothing") + (f" and {left} more" if left > 0 else "")
