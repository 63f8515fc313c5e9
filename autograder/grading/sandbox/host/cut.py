"""What of ``lab_utils`` lies beside student code while a notebook is graded.

Never what judges, shows or knows what is wanted; and of the rest what the lab's own declaration
leaves: a task may be something that a function of ours does, and then the function is not there,
in memory or on disk. Cells that call it get a stand-in, so that they still run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab_utils.kit.root import ROOT

PACKAGE = ROOT / "lab_utils"
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.pyc")
# Halves that know right from wrong, and what is wanted: see lab_utils/kit/lab.py.
_KNOWS_BETTER = {"judge", "judge.py", "show", "show.py", "wanted.json"}


@dataclass(frozen=True)
class Cut:
    """What is left out, and what stands in for it; paths are below ``lab_utils``."""

    without: frozenset[str] = frozenset()
    """Globs of files and folders."""
    stand_ins: tuple[Path, ...] = ()
    """Folders whose files are laid over what is there."""

    def __or__(self, other: Cut) -> Cut:
        stand_ins = dict.fromkeys((*self.stand_ins, *other.stand_ins))
        return Cut(self.without | other.without, tuple(stand_ins))

    def copy_to(self, folder: Path) -> None:
        """Make ``folder`` the package that student code finds."""
        away = set(self._away())

        def left_out(here: str, names: list[str]) -> set[str]:
            return {*_left_out(here, names), *(n for n in names if Path(here, n) in away)}

        shutil.copytree(PACKAGE, folder, ignore=left_out)
        for stand_in in self.stand_ins:
            shutil.copytree(stand_in, folder, dirs_exist_ok=True, ignore=_left_out)

    def _away(self) -> Iterator[Path]:
        for glob in sorted(self.without):
            found = list(PACKAGE.glob(glob))
            if not found:
                raise FileNotFoundError(f"lab_utils/{glob}: a cut names what is not there")
            yield from found


@dataclass(frozen=True)
class Kit:
    """What lies beside the code of a notebook, and what is loaded before it comes."""

    cut: Cut = Cut()
    preload: tuple[str, ...] = ("lab_utils",)
    """Modules that the warm process imports."""
    warm_up: tuple[str, ...] = ()
    """Functions that it calls then, each as ``package.module:function``.

    They must not start threads: these would not survive the fork.
    """
    imports: tuple[str, ...] = ()
    """Statements of released cells that import from ``lab_utils``: done once, for all notebooks.

    What fails is left to the notebook.
    """


def all_of(cuts: Iterable[Cut]) -> Cut:
    """One cut that leaves out what any of them does."""
    found = Cut()
    for cut in cuts:
        found |= cut
    return found


def _left_out(folder: str, names: list[str]) -> set[str]:
    return {*_NOT_COPIED(folder, names), *(_KNOWS_BETTER & set(names))}
