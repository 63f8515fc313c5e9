"""The images of Homework 5: part of Fashion-MNIST, which ships with it; CIFAR-10 where it is there.

Fashion-MNIST: Xiao, Rasul and Vollgraf, arXiv:1708.07747; its licence lies beside the data.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lab_utils.kit.errors import LabError

EMBEDDED = Path(__file__).with_name("data") / "fashion_mnist.npz"
CHOICE = "HW5_DATA"
"""Environment variable: ``fashion`` (as without it), ``cifar10``, or ``cifar10:FOLDER``."""
CLASSES = (
    "T-shirt",
    "trousers",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "boot",
)
_CIFAR = "cifar-10-batches-py"


class Images(NamedTuple):
    """Images to train with, images to test with, and what they show: a class from 0 to 9."""

    train_x: np.ndarray
    """uint8, [n, 28, 28], and [n, 32, 32, 3] for CIFAR-10."""
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


def load_images() -> Images:
    """6000 images to train with and 2000 to test with, as many of each class.

    With ``HW5_DATA=cifar10`` all of CIFAR-10, from a folder ``cifar-10-batches-py`` (as torchvision
    unpacks it) here, in ``data/`` or ``~/data``, or in the folder that ``HW5_DATA`` names.

    Raises:
        LabError: the variable says something else, or the folder is not there.
    """
    name, _, folder = os.environ.get(CHOICE, "fashion").partition(":")
    if name == "fashion":
        return Images(*(array.copy() for array in _embedded()))
    if name == "cifar10":
        return _cifar(folder)
    raise LabError(f"{CHOICE}={name}: it is fashion, cifar10 or cifar10:FOLDER")


@lru_cache(maxsize=1)
def _embedded() -> Images:
    with np.load(EMBEDDED) as file:
        return Images(*(file[name] for name in Images._fields))


def _cifar(named: str) -> Images:
    places = [Path(named)] if named else [Path(), Path("data"), Path.home() / "data"]
    for place in places:
        folder = place if place.name == _CIFAR else place / _CIFAR
        if folder.is_dir():
            train = list(_batches(folder, "data_batch_*"))
            test = list(_batches(folder, "test_batch"))
            return Images(*_joined(train), *_joined(test))
    where = ", ".join(str(place / _CIFAR) for place in places)
    raise LabError(
        f"{CHOICE}=cifar10, but there is no CIFAR-10 at {where}. Unpack cifar-10-python.tar.gz "
        f"there, say where it is ({CHOICE}=cifar10:FOLDER), or unset {CHOICE}."
    )


def _batches(folder: Path, pattern: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for path in sorted(folder.glob(pattern)):
        batch = pickle.loads(path.read_bytes(), encoding="bytes")
        pixels = np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32)
        yield pixels.transpose(0, 2, 3, 1), np.asarray(batch[b"labels"], np.uint8)


def _joined(batches: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    pixels, labels = zip(*batches, strict=True)
    return np.concatenate(pixels), np.concatenate(labels)
