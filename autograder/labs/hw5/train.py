"""Trains the two networks that part B of Homework 5 ships: without biases, and with.

``python -m autograder.labs.hw5.train`` takes half a CPU minute. The figures in the notebooks are of
the weights that it wrote; another version of PyTorch may give others.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from lab_utils.labs.hw5.images import load_images
from lab_utils.labs.hw5.network import WEIGHTS, Network, accuracy, float_pixels, untrained

EPOCHS, BATCH, RATE = 8, 32, 0.02


def trained(bias: bool, seed: int = 0) -> Network:
    """LeNet after eight epochs of SGD with momentum."""
    torch.manual_seed(seed)
    net = Network(untrained(bias))
    for module in net.children():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            module.reset_parameters()
    images = load_images()
    x, labels = float_pixels(images.train_x), torch.from_numpy(images.train_y).long()
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(net(x[chosen]), labels[chosen]).backward()
            optimizer.step()
    return net.eval()


def main() -> None:
    """Train both, write their weights."""
    arrays: dict[str, np.ndarray] = {}
    for name, bias in (("plain", False), ("biased", True)):
        net = trained(bias)
        print(f"{name}: {100 * accuracy(net):.2f} % of the test images")
        arrays |= {f"{name}.{key}": value.numpy() for key, value in net.state_dict().items()}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **arrays)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size:,} bytes")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
