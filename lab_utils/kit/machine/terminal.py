"""Commands as they can be typed on this machine."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from lab_utils.kit.root import ROOT


def typed(command: str, program: str = "lab_utils") -> str:
    """``command`` of ``program``, such as ``check-env``, for a terminal in our own folder.

    With the Python that runs now: another one lacks what the labs need, and a plain ``python``
    is on few machines the right one.
    """
    python = Path(sys.executable)
    if python.is_relative_to(ROOT):
        return f"{python.relative_to(ROOT)} -m {program} {command}"
    plain = shutil.which("python")
    same = plain is not None and os.path.realpath(plain) == os.path.realpath(python)
    return f"{'python' if same else python} -m {program} {command}"
