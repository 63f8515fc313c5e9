"""Files that are handed in beside the notebooks.

What code makes, whoever looks at a hand-in makes again. What was measured for minutes counts as
it was handed in: the packer and the autograder mark the folder in which they run the notebooks,
and nothing is measured there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: A file of this name marks a folder in which a hand-in is looked at.
MARK = ".hand-in"


@dataclass(frozen=True)
class HandedIn:
    """A file that a lab asks for; a lab derives its own kinds from this."""

    name: str
    measured: bool = False
    """Whether it counts as it was handed in; else the notebooks must make it again."""

    def difference(self, made: bytes, handed_in: bytes) -> str:
        """How what the notebooks make differs from what was handed in, in words; empty: not at all.

        Raises:
            LabError: one of them cannot be read.
        """
        return "" if made == handed_in else "it holds something else"

    def problem(self, content: bytes) -> str:
        """Why it is not ready to be handed in, and the cure; empty if it is."""
        return ""


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
