"""Files that a notebook measures for minutes, and that count as they were handed in.

A .dot file is made again by whoever looks at a hand-in. A table of measurements is not: the
packer and the autograder mark the folder in which they run the notebooks, and nothing is
measured there.
"""

from __future__ import annotations

import os
from contextlib import suppress
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


def write_whole(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write a file so that nobody ever finds half of it, whenever this is killed.

    It appears under its name when it is whole, safely on disk, and has its ``mode`` (as any new
    file, if none is given). What was there before stays until then.

    Raises:
        OSError: it cannot be written; the path in the error is ``path``.
    """
    data = content.encode() if isinstance(content, str) else content
    # In the same folder, to be renamed; and short, as a name may be as long as the disk allows.
    unfinished = path.with_name(f".{os.urandom(6).hex()}.part")
    try:
        at_first = 0o666 if mode is None else 0o600  # nobody looks at what may be private
        number = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, at_first)
        with open(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
            if mode is not None:
                os.fchmod(number, mode)
        os.replace(unfinished, path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
