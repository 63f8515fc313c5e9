"""``python -m lab_utils start``."""

from __future__ import annotations

import argparse
from typing import Any


def add_commands(commands: Any) -> None:
    """Add it to the command line."""
    start = commands.add_parser("start", help="how far have I come? Also writes the start page")
    start.set_defaults(run=_start)


def _start(_options: argparse.Namespace) -> int:
    from lab_utils.kit.start import start, write_start

    path = write_start()
    print(start(path.parent), f"The same with links, in JupyterLab: {path}", sep="\n\n")
    return 0
