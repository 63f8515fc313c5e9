"""The folder that holds everything: a checkout of the repository, or a release."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
