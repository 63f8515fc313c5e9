"""Releases on a student's disk: each in a folder of its own, so that none overwrites work.

It runs before anything is installed, from inside the zip, and needs the standard library only.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from tempfile import mkdtemp

from lab_utils.kit.course.course_file import RELEASE_NAME, START

MARK = ".unpacked"  # what was changed after this file was written is a student's work
UPGRADED = ".upgraded"  # written when the work in a folder was carried into a newer release
CLOCK_SECONDS = 2.0  # shared disks and Drive round their times
# The start page is written anew at every start, and is nobody's work; JupyterLab keeps a copy.
OURS = {START, START.replace(".", "-checkpoint.")}


def unpack(archive: Path, base: Path, kernel: str = "") -> Path:
    """Unpack a release into a folder of its own below ``base``, unless it is there; which one.

    It appears whole or not at all. Its notebooks ask for ``kernel``, if one is named.
    """
    with zipfile.ZipFile(archive) as zipped:
        name = zipped.namelist()[0].partition("/")[0]
        folder = base / name
        if (folder / MARK).is_file():
            return folder
        scratch = Path(mkdtemp(dir=base, prefix=".unpacking-"))
        try:
            zipped.extractall(scratch)
            if kernel:
                for notebook in (scratch / name / "notebooks").rglob("*.ipynb"):
                    _choose_kernel(notebook, kernel)
            (scratch / name / MARK).touch()
            (scratch / name).rename(folder)
        except OSError:
            if not (folder / MARK).is_file():  # otherwise another session was faster
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def with_work(base: Path, newest: Path) -> Path | None:
    """The latest folder beside ``newest`` in which a student has changed something.

    What was carried into a newer release (see ``upgrade``) does not count.
    """
    touched = {}
    for folder in base.glob(f"{RELEASE_NAME}-*"):
        mark = folder / MARK
        if folder == newest or not mark.is_file():
            continue
        files = [path for path in (folder / "notebooks").rglob("*") if path.is_file()]
        last = max((path.stat().st_mtime for path in files if path.name not in OURS), default=0.0)
        carried = folder / UPGRADED
        known = max(path.stat().st_mtime for path in (mark, carried) if path.is_file())
        if last > known + CLOCK_SECONDS:
            touched[last] = folder
    return touched[max(touched)] if touched else None


def _choose_kernel(path: Path, kernel: str) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    chosen = {"name": kernel, "display_name": kernel, "language": "python"}
    notebook["metadata"]["kernelspec"] = chosen
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
