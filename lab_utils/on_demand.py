"""What ``lab4A_setup.sh`` does in Python: unpack a release beside earlier ones, register a kernel.

It runs before anything is installed, from inside the zip, and needs the standard library only.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path
from tempfile import mkdtemp

from lab_utils.course import RELEASE_NAME, read_course

MARK = ".unpacked"  # what was changed after this file was written is a student's work


def unpack(archive: Path, base: Path) -> Path:
    """Unpack a release into a folder of its own below ``base``, unless it is there; which one.

    It appears whole or not at all. Its notebooks ask for the kernel of the lab.
    """
    with zipfile.ZipFile(archive) as zipped:
        name = zipped.namelist()[0].partition("/")[0]
        folder = base / name
        if (folder / MARK).is_file():
            return folder
        scratch = Path(mkdtemp(dir=base, prefix=".unpacking-"))
        try:
            zipped.extractall(scratch)
            for notebook in (scratch / name / "notebooks").rglob("*.ipynb"):
                _choose_kernel(notebook)
            (scratch / name / MARK).touch()
            (scratch / name).rename(folder)
        except OSError:
            if not (folder / MARK).is_file():  # otherwise another session was faster
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return folder


def with_work(base: Path, newest: Path) -> Path | None:
    """The latest folder beside ``newest`` in which a student has changed something."""
    touched = {}
    for folder in base.glob(f"{RELEASE_NAME}-*"):
        mark = folder / MARK
        if folder == newest or not mark.is_file():
            continue
        files = [path for path in (folder / "notebooks").rglob("*") if path.is_file()]
        last = max((path.stat().st_mtime for path in files), default=0.0)
        if last > mark.stat().st_mtime:
            touched[last] = folder
    return touched[max(touched)] if touched else None


def register_kernel(python: Path, threads: int) -> Path:
    """Register ``python`` as the kernel of the lab, with as many threads as the job has cores."""
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    data = Path(os.environ.get("JUPYTER_DATA_DIR") or Path(home) / "jupyter")
    folder = data / "kernels" / RELEASE_NAME
    course = read_course()
    spec = {
        "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": f"{course.name} {course.term}",
        "language": "python",
        "env": {"PYTHONNOUSERSITE": "1"}
        | {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS") if threads},
    }
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".kernel.json.{os.getpid()}"
    unfinished.write_text(json.dumps(spec, indent=1), encoding="utf-8")
    unfinished.replace(folder / "kernel.json")
    return folder


def _choose_kernel(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    name = {"name": RELEASE_NAME, "display_name": RELEASE_NAME, "language": "python"}
    notebook["metadata"]["kernelspec"] = name
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """``unpack ZIP BASE``, ``work BASE NEWEST`` or ``kernel PYTHON THREADS``: prints the folder."""
    command, *rest = arguments
    try:
        if command == "unpack":
            print(unpack(Path(rest[0]), Path(rest[1])))
        elif command == "work":
            print(with_work(Path(rest[0]), Path(rest[1])) or "")
        elif command == "kernel":
            print(register_kernel(Path(rest[0]), int(rest[1])))
    except (OSError, zipfile.BadZipFile) as error:
        print(f"{getattr(error, 'strerror', None) or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
