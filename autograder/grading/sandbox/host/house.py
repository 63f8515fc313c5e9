"""What a sandbox contains: a kit with ``lab_utils``, Python, the system's programs, and no more."""

from __future__ import annotations

import marshal
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path

from autograder.grading.sandbox.host.cut import PACKAGE, Cut
from autograder.grading.sandbox.inside.namespaces import HOME
from lab_utils.kit.root import ROOT

INSIDE = ROOT / "autograder" / "grading" / "sandbox" / "inside"
KIT, KITS = "/kit", "/kits"
"""Where a kit lies in the sandbox; and where all of them lie until one is chosen."""

_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin")
_SETTINGS = (
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/sys/devices/system/cpu",
)
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.pyc")

Plan = list[list[str]]


@dataclass(frozen=True)
class House:
    """How to furnish a sandbox, in terms of this machine's paths."""

    folder: Path
    """A temporary folder that several houses may share: of the same machine, with other kits."""
    hidden: Sequence[Path] = (ROOT,)
    """Folders that must not be seen even if they lie in one that is shown."""
    threads: int = 1
    """That numerical libraries work with, in each process."""

    @property
    def kits(self) -> Path:
        """The kits, each in a folder of its own."""
        return self.folder / "kits"

    @property
    def bare(self) -> Path:
        """A kit without ``lab_utils``, to import libraries beside."""
        return self.kits / "bare"

    @property
    def site(self) -> Path:
        """An empty folder, to build a file system on."""
        return self.folder / "site"

    @property
    def temporary(self) -> Path:
        """For the files of sandboxes that have no file system of their own."""
        return self.folder / "tmp"

    @cached_property
    def spare(self) -> str:
        """Where a sandbox has its temporary files: /tmp, unless Python itself lies in there."""
        taken = any(_is_in(path, "/tmp") for path in self.readable())
        return f"{HOME}/tmp" if taken else "/tmp"

    def build(self) -> None:
        """Make the folders; there is no kit yet but the bare one."""
        for folder in (self.folder, self.kits, self.site, self.temporary):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        _copy_inside(self.bare)

    def add_kit(self, name: str, cut: Cut) -> Path:
        """Copy into a kit what is ours in the sandbox of a notebook."""
        kit = self.kits / name
        _copy_inside(kit)
        cut.copy_to(kit / PACKAGE.name)
        _compile(kit)
        _open_to_all(kit)
        return kit

    def readable(self) -> list[str]:
        """What may be read, the kit left out."""
        paths = [*_SYSTEM, *_SETTINGS, *_python(), *_libraries()]
        return [path for path in dict.fromkeys(paths) if os.path.exists(path)]

    def plan(self, kit: Path | None = None) -> Plan:
        """The steps that furnish the sandbox, outer folders first.

        Without ``kit`` it has the bare one, and all others to choose from.
        """
        links = [path for path in self.readable() if path in _SYSTEM and os.path.islink(path)]
        steps: Plan = [["link", os.readlink(path), path] for path in links]
        wanted = [("empty", str(path)) for path in self.hidden]
        wanted += [("bind", path) for path in self.readable() if path not in links]
        for kind, path in sorted(wanted, key=lambda step: len(Path(step[1]).parts)):
            around = [step for step in steps if _is_in(path, step[-1])]
            is_shown = bool(around) and around[-1][0] == "bind"
            if kind == "bind" and not is_shown:
                steps.append(["bind", path, path])
            elif kind == "empty" and is_shown:
                steps.append(["empty", path])
        kits = [["bind", str(kit or self.bare), KIT]]
        if kit is None:
            kits.append(["bind", str(self.kits), KITS])
        return [*steps, *kits, ["empty", self.spare]]

    def environment(self, temporary: str) -> dict[str, str]:
        """All environment variables; ``temporary`` is a folder one can write to."""
        programs = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]
        counted = ("OMP", "MKL", "OPENBLAS", "NUMEXPR")
        libraries = os.environ.get("LD_LIBRARY_PATH")
        return {
            "PATH": os.pathsep.join(programs),
            "LANG": "C.UTF-8",
            "HOME": temporary,
            "TMPDIR": temporary,
            "USER": "student",
            "LOGNAME": "student",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "MPLCONFIGDIR": os.path.join(temporary, "matplotlib"),
            "IPYTHONDIR": os.path.join(temporary, "ipython"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",  # the same order of sets, and the same grade, every time
            **{f"{library}_NUM_THREADS": str(self.threads) for library in counted},
            **({"LD_LIBRARY_PATH": libraries} if libraries else {}),
        }

    def open_to_readers(self) -> list[str]:
        """Hidden folders inside readable ones: only a sandbox with a file system can hide them."""
        return [str(h) for h in self.hidden if any(_is_in(str(h), p) for p in self.readable())]


def _copy_inside(kit: Path) -> None:
    shutil.copytree(INSIDE, kit / INSIDE.name, ignore=_NOT_COPIED)
    _open_to_all(kit)


def _compile(kit: Path) -> None:
    """So that no warm process has to: most files are the same in all kits."""
    for path in kit.rglob("*.py"):
        target = Path(cache_from_source(str(path)))
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(_compiled(path.relative_to(kit), path.read_bytes()))


@cache
def _compiled(name: Path, source: bytes) -> bytes:
    """A .pyc file that stays good whatever becomes of the source: its second word says so."""
    code = compile(source, str(name), "exec", dont_inherit=True)
    by_hash = (1).to_bytes(4, "little")
    return MAGIC_NUMBER + by_hash + source_hash(source) + marshal.dumps(code)


def _open_to_all(folder: Path) -> None:
    """Student code may be another user."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _is_in(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def _python() -> Iterator[str]:
    """Where the interpreter, its library and the installed packages lie."""
    yield from (sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)))
    yield from (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _libraries() -> list[str]:
    """Folders of shared libraries that a cluster's modules have added."""
    return [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
