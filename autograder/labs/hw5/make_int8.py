"""Writes what notebook 4 finds of the shipped networks: notebook 5 begins with it.

``python -m autograder.labs.hw5.make_int8``, after ``train``. Numpy does the rounding, and the
layers' sums: nothing of the solution is used.
"""

from __future__ import annotations

import numpy as np

from lab_utils.labs.hw5.images import load_images
from lab_utils.labs.hw5.judge.exact import accumulated, max_scale, nearest, pooled
from lab_utils.labs.hw5.network import (
    CALIBRATION,
    INTEGERS,
    Layer,
    float_pixels,
    lenet_layers,
)


def largest_of(layers: list[Layer], pixels: np.ndarray) -> list[float]:
    """The largest magnitude of what enters the network, and of what comes out of each layer."""
    x = float_pixels(pixels).numpy().astype(np.float64)
    found = [float(np.abs(x).max())]
    for layer in layers:
        weight = layer.weight.numpy().astype(np.float64)
        bias = None if layer.bias is None else layer.bias.numpy().astype(np.float64)
        x = x.reshape(len(x), -1) if weight.ndim == 2 else x
        x = accumulated(x, weight, bias, layer.padding)
        x = np.maximum(x, 0) if layer.relu else x
        x = pooled(x) if layer.pool else x
        found.append(float(np.abs(x).max()))
    return found


def main() -> None:
    """Quantize both networks, write their integers."""
    arrays: dict[str, np.ndarray] = {}
    pixels = load_images().train_x[:CALIBRATION]
    for name, bias in (("plain", False), ("biased", True)):
        layers, scales = lenet_layers(bias), []
        for layer in layers:
            weight = layer.weight.numpy().astype(np.float64)
            scales.append(max_scale(weight))
            arrays[f"{name}.{layer.name}.int8"] = nearest(weight, scales[-1]).astype(np.int8)
        arrays[f"{name}.scales"] = np.array(scales)
        arrays[f"{name}.largest"] = np.array(largest_of(layers, pixels))
        print(name, arrays[f"{name}.largest"])
    np.savez_compressed(INTEGERS, allow_pickle=False, **arrays)
    print(f"{INTEGERS.name}: {INTEGERS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
