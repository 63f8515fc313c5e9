"""Writes the images that ship with Homework 5, from Debian's package ``dataset-fashion-mnist``.

``python -m autograder.labs.hw5.make_images [FOLDER]``; the folder has the four idx.gz files, and
is ``/usr/share/datasets/fashion-mnist`` where the package is installed. The same package gives the
same images.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np

from lab_utils.labs.hw5.images import EMBEDDED

INSTALLED = Path("/usr/share/datasets/fashion-mnist")
EACH = {"train": 600, "t10k": 200}
"""Images of each class, by the name of the file."""


def first_of_each(labels: np.ndarray, each: int) -> np.ndarray:
    """The first ``each`` places of every class, in the order of the file."""
    places = [np.flatnonzero(labels == label)[:each] for label in range(10)]
    return np.sort(np.concatenate(places))


def main(folder: Path) -> None:
    """Read the package's files, write ours."""
    arrays = {}
    for (name, each), ours in zip(EACH.items(), ("train", "test"), strict=True):
        pixels = _numbers(folder / f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
        labels = _numbers(folder / f"{name}-labels-idx1-ubyte.gz", 8)
        chosen = first_of_each(labels, each)
        arrays[f"{ours}_x"], arrays[f"{ours}_y"] = pixels[chosen], labels[chosen]
    EMBEDDED.parent.mkdir(exist_ok=True)
    np.savez_compressed(EMBEDDED, **arrays)
    print(f"{EMBEDDED.name}: {EMBEDDED.stat().st_size:,} bytes")


def _numbers(path: Path, header: int) -> np.ndarray:
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else INSTALLED)
