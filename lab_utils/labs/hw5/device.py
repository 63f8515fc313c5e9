"""A computer with an asynchronous device, and a clock of ours.

The computer (the host) loads images and launches work. The device does one piece of work after the
other, in the order in which they were launched, while the host goes on. So a clock that the host
reads says nothing about the device until ``sync`` has waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class Device:
    """What a timing harness meets; all times are in seconds.

    Args:
        images: how many images each batch of an epoch has.
        load: the host reads and decodes one batch.
        copy: the device copies one batch into its memory; the loader launches it.
        launch: the host launches one step.
        fixed: what a step takes on the device, however few images there are.
        each: what it takes more for each image.
        first: what the very first step takes more: compiling, finding memory.
    """

    def __init__(
        self,
        images: Sequence[int],
        load: float,
        copy: float,
        launch: float,
        fixed: float,
        each: float,
        first: float,
    ) -> None:
        self._images, self._load, self._copy = list(images), load, copy
        self._launch, self._fixed, self._each, self._first = launch, fixed, each, first
        self._now = self._busy = 0.0
        self.epochs = 0

    def batches(self) -> Iterator[int]:
        """An epoch, batch by batch; each takes its time to load. A batch is a number of images."""
        self.epochs += 1
        for images in self._images:
            self._now += self._load
            self._do(self._copy)
            yield images

    def step(self, batch: int) -> None:
        """Launch a training step on a batch."""
        self._do(self._fixed + self._each * batch + self._first)
        self._first = 0.0
        self._now += self._launch

    def sync(self) -> None:
        """Wait until the device has done all that was launched."""
        self._now = max(self._now, self._busy)

    def clock(self) -> float:
        """The time on the host."""
        return self._now

    def _do(self, seconds: float) -> None:
        self._busy = max(self._busy, self._now) + seconds
