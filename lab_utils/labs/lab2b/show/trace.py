"""Which lines a layer asks for on a systolic array, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.systolic.designs import Conv, Gemm
from lab_utils.labs.lab2b.machine import LINE, STREAMED, Stage

Ints = NDArray[np.int64]
Layer = Conv | Gemm
Span = tuple[int, int]


class Product(NamedTuple):
    """A layer as a product: which word of its input and of its weights each element is."""

    inputs: Ints
    """M x K numbers of words."""
    weights: Ints
    """K x N numbers of words: a filter's weights follow each other."""


@lru_cache(maxsize=16)
def as_product(layer: Layer) -> Product:
    """The addresses of a layer; an input lies row by row, pixel by pixel, channels innermost."""
    if isinstance(layer, Gemm):
        m, n, k = layer.m, layer.n, layer.k
        inputs = np.arange(m * k).reshape(m, k)
    else:
        n, stride = layer.filters, layer.stride
        words = np.arange(layer.height * layer.width * layer.channels)
        image = words.reshape(layer.height, layer.width, layer.channels)
        window = (layer.filter_height, layer.filter_width)
        views = np.lib.stride_tricks.sliding_window_view(image, window, axis=(0, 1))
        views = views[::stride, ::stride].transpose(0, 1, 3, 4, 2)  # y, x, r, s, c
        k = int(np.prod(views.shape[2:]))
        inputs = views.reshape(-1, k)
    return Product(inputs, np.arange(n * k).reshape(n, k).T)


def stages(layer: Layer, dataflow: str, height: int, width: int) -> Iterator[Stage]:
    """The stages of a layer, in the order in which they run.

    A fold is one filling of the array: columns change slowest. It streams ``STREAMED`` rows a
    stage. What stays in the array is asked for in the first stage of its fold.
    """
    inputs, weights = as_product(layer)
    (m, k), n = inputs.shape, weights.shape[1]
    down, across, long = {"os": (m, n, k), "ws": (k, n, m), "is": (k, m, n)}[dataflow]
    for column, row in product(range(0, across, width), range(0, down, height)):
        rows, columns = (row, row + height), (column, column + width)
        for begin in range(0, long, STREAMED):
            part = (begin, begin + STREAMED)
            is_first, is_last = begin == 0, begin + STREAMED >= long
            cycles = min(STREAMED, long - begin) + is_last * (height + width - 2)
            if dataflow == "os":
                ifmap, weight = _lines(layer, 0, rows, part), _lines(layer, 1, part, columns)
            elif dataflow == "ws":
                ifmap = _lines(layer, 0, part, rows)
                weight = _lines(layer, 1, rows, columns) if is_first else []
            else:
                ifmap = _lines(layer, 0, columns, rows) if is_first else []
                weight = _lines(layer, 1, rows, part)
            yield Stage(cycles + (dataflow != "os" and is_first) * height, ifmap, weight)


@lru_cache(maxsize=100_000)
def _lines(layer: Layer, operand: int, rows: Span, columns: Span) -> list[int]:
    """The lines that hold a block of inputs (0) or weights (1), each once, in ascending order."""
    words = as_product(layer)[operand][slice(*rows), slice(*columns)]
    return sorted(set((words // LINE).ravel().tolist()))
