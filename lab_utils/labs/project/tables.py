"""The tables of notebook 06: which models and batch sizes they have, full-sized or small.

``PROJECT_SIZE=small`` in the environment makes everything tiny, to try a notebook in seconds.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import HandedIn

SIZES: dict[str, dict[str, Any]] = {
    "full": {
        "models": {
            "BERT-base": ("bert", {"layers": 12, "width": 768, "length": 128}),
            "ResNet-152": ("resnet", {"depths": (3, 8, 36, 3), "pixels": 224}),
        },
        "batches": (4, 8, 16, 32),
        "timed": {
            # Few words and many samples: otherwise all memory is weights, and no plan saves any.
            "BERT, 4 layers": ("bert", {"layers": 4, "width": 128, "length": 128, "words": 1000}),
            "ResNet, 4 blocks": ("resnet", {"depths": (1, 1, 1, 1), "pixels": 64}),
        },
        "timed_batches": (4, 8, 16),
        "repeats": 5,
    },
    "small": {
        "models": {
            "tiny BERT": ("bert", {"layers": 2, "width": 32, "length": 64, "words": 99}),
            "tiny ResNet": ("resnet", {"depths": (1, 1), "pixels": 32}),
        },
        "batches": (2, 4, 8),
        "timed": {"tiniest BERT": ("bert", {"layers": 1, "width": 32, "length": 32, "words": 99})},
        "timed_batches": (2, 4),
        "repeats": 3,
    },
}


def size_name() -> str:
    """``full``, or what ``PROJECT_SIZE`` says."""
    name = os.environ.get("PROJECT_SIZE", "full")
    if name not in SIZES:
        raise LabError(f"PROJECT_SIZE is {name!r}: it may be {' or '.join(SIZES)}")
    return name


def settings() -> dict[str, Any]:
    """Models, batch sizes and repetitions of the experiments."""
    return SIZES[size_name()]


def trial_size(text: str, wanted: str = "full") -> str:
    """The size whose models a table of results (its text) names; empty if it is ``wanted``.

    Rows of two sizes may stand in one table: what was tried is no harm there.
    """
    found = [
        name
        for name, size in SIZES.items()
        if any(model in text for part in ("models", "timed") for model in size[part])
    ]
    return found[0] if found and wanted not in found else ""


@dataclass(frozen=True)
class Table(HandedIn):
    """A table of measurements: nobody makes it again."""

    def problem(self, content: bytes) -> str:
        """Whether it was measured to try the notebook, which is nothing to hand in."""
        size = trial_size(content.decode("utf-8", "replace"))
        if not size:
            return ""
        return (
            f"has the rows of PROJECT_SIZE={size}, which is there to try the notebook: take "
            "PROJECT_SIZE out of your cells and of your shell, delete the file, and run the "
            "notebook that writes it in a fresh kernel"
        )
