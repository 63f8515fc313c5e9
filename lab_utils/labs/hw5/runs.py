"""Real runs: a small convolutional network on real images, with real processes.

On this computer the processes talk by gloo; ``cluster`` has the same on GPUs, with NCCL. Times are
those of this computer and nobody judges them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from lab_utils.instruments.ranks import run_ranks
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.errors import LabError
from lab_utils.kit.rows import collect
from lab_utils.labs.hw5.images import load_images
from lab_utils.labs.hw5.tables import EPOCHS, settings

Batch = tuple[torch.Tensor, torch.Tensor]
Stopwatch = Callable[..., float]
"""As task 1.1: (batches, step, clock, sync) to seconds."""
Rate = Callable[[int, float, int, int, int], float]
"""As task 3.1: (step, rate, base, batch, warmup) to a learning rate."""
BASE_RATE, BASE_BATCH, MOMENTUM = 0.05, 32, 0.9


class SmallNet(nn.Module):
    """Three convolutions with batch norm, and a linear layer; 10 classes."""

    def __init__(self, channels: int = 1, widths: Sequence[int] = (8, 16, 32)) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for width in widths:
            layers += [nn.Conv2d(channels, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
            layers += [nn.ReLU(), nn.MaxPool2d(2)]
            channels = width
        self.features = nn.Sequential(*layers)
        self.classes = nn.Linear(9 * channels, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Ten numbers for each image."""
        return self.classes(F.adaptive_avg_pool2d(self.features(x), 3).flatten(1))


def images_for_training(many: int) -> Batch:
    """Images of all classes, from -1 to 1, as (image, channel, row, column); and their classes."""
    images = load_images()
    each = max(len(images.train_y) // many, 1)  # spread over all: they may be in order
    x = torch.tensor(images.train_x[::each][:many], dtype=torch.float32) / 127.5 - 1
    x = x[:, None] if x.dim() == 3 else x.permute(0, 3, 1, 2)
    return x.contiguous(), torch.tensor(images.train_y[::each][:many], dtype=torch.long)


class EpochRun:
    """Epochs of one rank: its own share of the images, one step after the other."""

    def __init__(self, batch: int, many: int, device: str = "cpu") -> None:
        rank, ranks = dist.get_rank(), dist.get_world_size()
        self.x, self.y = images_for_training(many)
        self.mine = torch.arange(rank, many - many % ranks, ranks)
        self.batch, self.device, self.began = batch, device, 0.0
        torch.manual_seed(0)
        net: nn.Module = SmallNet(self.x.shape[1]).to(device)
        self.net = DistributedDataParallel(net) if ranks > 1 else net
        self.rule = torch.optim.SGD(net.parameters(), BASE_RATE, MOMENTUM, weight_decay=5e-4)

    def batches(self) -> Iterator[Batch]:
        """The rank's share of an epoch in a new order; a batch is on the device when it comes."""
        self.began = time.perf_counter()
        for part in self.mine[torch.randperm(len(self.mine))].split(self.batch):
            yield self.x[part].to(self.device), self.y[part].to(self.device)

    def step(self, batch: Batch) -> None:
        """One training step."""
        x, y = batch
        self.rule.zero_grad()
        F.cross_entropy(self.net(x), y).backward()
        self.rule.step()

    def sync(self) -> None:
        """Wait for the device; a CPU has nothing to wait for."""
        if self.device != "cpu":
            torch.cuda.synchronize()

    def times(self, stopwatch: Stopwatch) -> dict[str, float]:
        """Seconds of an epoch: of its steps alone by ``stopwatch``, and of all of it."""
        steps = stopwatch(self.batches, self.step, time.perf_counter, self.sync)
        self.sync()
        return {"step_seconds": steps, "epoch_seconds": time.perf_counter() - self.began}


def measure_epochs(stopwatch: Stopwatch, file: str = "epochs.csv") -> list[dict[str, Any]]:
    """Tables 1 and 2 on this computer: an epoch for each number of ranks and each batch size.

    Args:
        stopwatch: as task 1.1 asks for it.
        file: where the rows go; rows that are there already are not measured again.
    """
    sizes = settings()

    def measure(ranks: int, batch: int) -> dict[str, Any]:
        run = run_ranks(
            ranks, lambda: EpochRun(batch, sizes["images"]).times(stopwatch), backend="gloo"
        )
        slowest = {name: max(told[name] for told in run.results) for name in run.results[0]}
        rounded = {name: f"{seconds:.4f}" for name, seconds in slowest.items()}
        return {"images": sizes["images"], **rounded, "device": "cpu"}

    keys = [{"ranks": n, "batch": b} for n in sizes["ranks"] for b in sizes["batches"]]
    return collect(file, keys, measure)


def show_epochs(rows: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Bars of measured epochs: steps alone, and everything."""
    if not rows:
        print("There is nothing to draw: no row has been measured yet.")
        return None
    bars = [
        Row(
            f"{row['ranks']} x {row['batch']}",
            tuple(Bar(length(float(row[name]))) for name in ("step_seconds", "epoch_seconds")),
        )
        for row in rows
    ]
    columns = ["steps alone (s)", "the whole epoch (s)"]
    return draw_bars(columns, bars, "ranks x batch of each, measured on this computer")


def measure_batches(rate: Rate, file: str = "batches.csv") -> list[dict[str, Any]]:
    """Table 3 on this computer: five epochs with a small and with a large batch.

    Args:
        rate: as task 3.1 asks for it.
        file: where the rows go; rows that are there already are not measured again.
    """
    sizes, large = settings(), settings()["large"]
    steps = -(-sizes["images"] // large)
    rules: dict[tuple[int, str], Callable[[int], float]] = {
        (BASE_BATCH, "base"): lambda _: BASE_RATE,
        (large, "same rate"): lambda _: BASE_RATE,
        (large, "scaled"): lambda s: rate(s, BASE_RATE, BASE_BATCH, large, 0),
        (large, "scaled, warm-up"): lambda s: rate(s, BASE_RATE, BASE_BATCH, large, 2 * steps),
    }

    def measure(batch: int, rule: str) -> dict[str, Any]:
        return _five_epochs(batch, sizes["images"], rules[batch, rule])

    return collect(file, [{"batch": b, "rule": r} for b, r in rules], measure)


def _five_epochs(batch: int, many: int, rate: Callable[[int], float]) -> dict[str, Any]:
    x, y = images_for_training(many)
    torch.manual_seed(0)
    net = SmallNet(x.shape[1])
    rule = torch.optim.SGD(net.parameters(), BASE_RATE, MOMENTUM, weight_decay=5e-4)
    row: dict[str, Any] = {"images": many}
    step = right = 0
    for epoch in range(1, EPOCHS + 1):
        total, right = 0.0, 0
        for part in torch.randperm(many).split(batch):
            for group in rule.param_groups:
                group["lr"] = float(rate(step))
            scores = net(x[part])
            loss = F.cross_entropy(scores, y[part])
            rule.zero_grad()
            loss.backward()
            rule.step()
            total += float(loss.detach()) * len(part)
            right += int((scores.argmax(1) == y[part]).sum())
            step += 1
        row[f"loss_{epoch}"] = f"{total / many:.4f}"
    return {**row, "accuracy": f"{100 * right / many:.2f}"}


def show_batches(rows: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Bars of the fifth epoch: loss and accuracy on the images of training."""
    if not rows:
        print("There is nothing to draw: no row has been measured yet.")
        return None
    try:
        bars = [
            Row(
                f"{row['batch']}, {row['rule']}",
                (Bar(length(float(row[f"loss_{EPOCHS}"]))), Bar(length(float(row["accuracy"])))),
            )
            for row in rows
        ]
    except (KeyError, ValueError) as error:
        raise LabError(f"a row has no number for {error}: delete the file, and run again") from None
    return draw_bars(["loss (nats)", "accuracy (%)"], bars, "the fifth epoch, training images")
