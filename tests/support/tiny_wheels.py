"""Wheels of a few bytes, so that installing for real takes a second."""

from __future__ import annotations

import zipfile
from pathlib import Path


def wheel(
    folder: Path, name: str, version: str, needs: tuple[str, ...] = (), code: str = ""
) -> Path:
    """Write a pure wheel with one module, ``name``, that knows its ``__version__``."""
    folder.mkdir(parents=True, exist_ok=True)
    module = name.replace("-", "_")
    path = folder / f"{module}-{version}-py3-none-any.whl"
    info = f"{module}-{version}.dist-info"
    lines = [f"Requires-Dist: {need}" for need in needs]
    head = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{module}.py", f"__version__ = {version!r}\n{code}")
        archive.writestr(f"{info}/METADATA", "\n".join(head) + "\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path
