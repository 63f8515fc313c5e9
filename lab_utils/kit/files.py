"""Files that a notebook measures for minutes, and that count as they were handed in.

A .dot file is made again by whoever looks at a hand-in. A table of measurements is not: the
packer and the autograder mark the folder in which they run the notebooks, and nothing is
measured there.
"""

from __future__ import annotations

from pathlib import Path

#: A file of this name marks a folder in which a hand-in is looked at.
MARK = ".hand-in"
_MADE_AGAIN = (".dot",)


def is_measured(file: str) -> bool:
    """Whether ``file`` counts as it was handed in."""
    return not file.endswith(_MADE_AGAIN)


def is_looked_at(folder: Path) -> bool:
    """Whether the notebooks in ``folder`` run to be looked at, and must not measure."""
    return (folder / MARK).exists()
