"""Tables that were handed in elsewhere, for the same homework: given data, right or wrong.

All of them train ResNet-18 for CIFAR-10 on 50,000 images; times are seconds of one epoch.
"""

from __future__ import annotations

from typing import NamedTuple


class Network(NamedTuple):
    """What a network costs."""

    parameters: int
    macs: int
    """Multiplications with an addition in the forward pass of one image."""
    images: int
    """Images in one epoch."""

    @property
    def gradient_bytes(self) -> int:
        """Bytes of all gradients in float32."""
        return 4 * self.parameters


RESNET18 = Network(parameters=11_173_962, macs=555_422_720, images=50_000)

#: One K80, without loading: seconds by batch size.
K80_ALONE: dict[int, float] = {32: 96.315, 128: 70.056, 512: 63.323}
#: K80s, with everything: seconds by (gpus, batch of each).
K80: dict[tuple[int, int], float] = {
    (1, 32): 98.611,
    (1, 128): 71.038,
    (1, 512): 64.194,
    (2, 32): 90.064,
    (2, 128): 50.828,
    (2, 512): 38.528,
    (4, 32): 90.334,
    (4, 128): 35.331,
    (4, 512): 24.339,
}
#: Somebody else's cards: seconds by batch size; None is "out of memory".
RTX8000: dict[int, float | None] = {32: 14.92, 128: 3.888, 512: 1.159, 2048: 0.557, 8192: 0.295}
V100: dict[int, float | None] = {32: 20.79, 128: 5.674, 512: 1.596, 2048: 0.562, 8192: None}

PEAKS: dict[str, float] = {"RTX8000": 16.3e12, "V100": 15.7e12, "K80": 4.37e12}
"""The most operations a second of one GPU in float32, outside of tensor cores.

Each is cores x 2 (a multiplication with an addition) x highest clock: Quadro RTX 8000, 4608 cores
at 1.77 GHz, 16.3 TFLOPS in NVIDIA's specification of the card; V100, 5120 cores at 1.53 GHz, 15.7
TFLOPS in NVIDIA's Tesla V100 datasheet for SXM2 (its PCIe form has 14); K80, 2496 cores at 0.875
GHz for each of its two GK210, half of the 8.74 TFLOPS of its announcement (AnandTech, "NVIDIA
Launches Tesla K80", 2014; 5.6 without boost).
"""
