"""Colab: brings a release to where work is kept, installs what is missing, and nothing else.

The first cell of a notebook imports this out of the zip of a release, or out of an unpacked one.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

from lab_utils.kit.course import RELEASE_NAME
from lab_utils.kit.course.releases import MARK, unpack, with_work
from lab_utils.kit.machine.environment import name_in, needed_packages

KEPT = ("torch", "numpy")  # Colab's own, made for its machines


def begin(lab: str, places: Sequence[Path]) -> Path:
    """Make this runtime ready for ``lab``; safe to run again. Returns the folder of its notebooks.

    Zips and unpacked releases are looked for in all ``places``; work is kept in the first.
    """
    for archive in _archives(places):
        unpack(archive, places[0])
    folder = _newest(places)
    if work := with_work(folder.parent, folder):
        print(f"A newer release lies beside your work: {folder}\nYour work stays: {work}")
        print(f"To carry it over: !cd '{folder}' && python -m lab_utils upgrade")
        folder = work
    _import_from(folder)
    importlib.import_module("lab_utils.kit.machine.colab").install_missing(
        lab
    )  # no longer from the zip
    here = folder / "notebooks" / lab
    os.chdir(here)
    print(f"The lab's files: {here}")
    if "drive" in here.parts:
        print("They are kept in your Drive: open the notebooks from there next time.")
    else:
        print("They are lost when Colab ends this runtime: download what you write, or tick")
        print("KEEP_IN_DRIVE, run this cell again, and allow Drive when Google asks.")
    return here


def install_missing(lab: str) -> None:
    """Install what the lab needs and Colab lacks; torch and numpy stay as they are."""
    needed = needed_packages(lab)
    missing = [r for r, found in needed.items() if not found and name_in(r) not in KEPT]
    if not missing:
        return
    print("installing", *map(name_in, missing))
    with NamedTemporaryFile("w", suffix=".txt") as bounds:
        for requirement, found in needed.items():
            if found:
                print(f"{name_in(requirement)}=={found}", file=bounds)
        bounds.flush()
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        done = subprocess.run(
            [*command, *missing, "-c", bounds.name], capture_output=True, text=True
        )
    importlib.invalidate_caches()
    if done.returncode:
        print("pip could not install them:", done.stderr.strip().splitlines()[-1])


def save_open_notebook(folder: Path) -> str:
    """Write the notebook that is open in Colab into ``folder``; its name, or empty.

    Code on Colab cannot read its own file, but may ask the page for what it shows.
    """
    try:
        message = importlib.import_module("google.colab._message")
        shown = message.blocking_request("get_ipynb", timeout_sec=20)["ipynb"]
    except Exception:  # not a promised part of Colab: without it, the saved file is packed
        return ""
    ids = _grade_ids(shown)
    alike = {
        path: len(ids & _grade_ids(json.loads(path.read_text(encoding="utf-8"))))
        for path in folder.glob("*.ipynb")
    }
    best = max(alike, key=lambda path: alike[path], default=None)
    if best is None or not alike[best]:
        return ""
    best.write_text(json.dumps(shown, indent=1, ensure_ascii=False), encoding="utf-8")
    return best.name


def _grade_ids(notebook: dict) -> set[str]:
    cells = notebook.get("cells", [])
    marks = [cell.get("metadata", {}).get("nbgrader", {}) for cell in cells]
    return {mark["grade_id"] for mark in marks if "grade_id" in mark}


def _archives(places: Sequence[Path]) -> list[Path]:
    found = [path for place in places for path in place.glob(f"{RELEASE_NAME}*.zip")]
    whole = [path for path in found if zipfile.is_zipfile(path)]
    return sorted(whole, key=lambda path: path.stat().st_mtime)


def _newest(places: Sequence[Path]) -> Path:
    """The release that was unpacked last, in the first place that has one."""
    for place in places:
        found = [path.parent for path in place.glob(f"{RELEASE_NAME}-*/{MARK}")]
        if found:
            return max(found, key=lambda folder: (folder / MARK).stat().st_mtime)
    raise FileNotFoundError(f"there is no release in {places[0]}")


def _import_from(folder: Path) -> None:
    """``lab_utils`` comes from ``folder`` from now on, and no longer from a zip."""
    outside = [entry for entry in sys.path if RELEASE_NAME not in entry]
    sys.path[:] = [str(folder), *outside]
    for name in [name for name in sys.modules if name.partition(".")[0] == "lab_utils"]:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if not file.startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
    importlib.invalidate_caches()
