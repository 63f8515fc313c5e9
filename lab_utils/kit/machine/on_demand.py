"""What ``lab_setup.sh`` does in Python: unpack a release beside earlier ones, register a kernel.

It runs before anything is installed, from inside the zip, and needs the standard library only.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path

from lab_utils.kit.course import RELEASE_NAME, read_course
from lab_utils.kit.course.releases import unpack, with_work
from lab_utils.kit.files import write_whole


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
    write_whole(folder / "kernel.json", json.dumps(spec, indent=1))
    return folder


def main(arguments: list[str]) -> int:
    """``unpack ZIP BASE``, ``work BASE NEWEST`` or ``kernel PYTHON THREADS``: prints the folder."""
    command, *rest = arguments
    try:
        if command == "unpack":
            print(unpack(Path(rest[0]), Path(rest[1]), kernel=RELEASE_NAME))
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
