"""Notebook 1 of Homework 5: cases, devices and published tables, beside what else can tell."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from lab_utils.labs.hw5.cluster import _add_row, write_job
from lab_utils.labs.hw5.device import Device
from lab_utils.labs.hw5.published import K80, K80_ALONE, RESNET18
from lab_utils.labs.hw5.tables import BATCHES_CSV, EPOCH_COLUMNS, EPOCHS_CSV
from tests.support.solved_cells import solved_space

_TICKS = st.integers(0, 40)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), _TICKS, _TICKS, _TICKS, _TICKS)
def test_the_stopwatch_and_a_list_of_events_agree(
    images: list[int], load: int, copy: int, launch: int, first: int
) -> None:
    """Whole ticks of a device and a host that are walked through one by one."""
    device = Device(images, load, copy, launch, fixed=3, each=2, first=first)
    args = (device.batches, device.step, device.clock, device.sync)
    by_events = 0
    for many in images:
        left_on_device, left_on_host = 3 + 2 * many, launch
        while left_on_device > 0 or left_on_host > 0:
            left_on_device, left_on_host = left_on_device - 1, left_on_host - 1
            by_events += 1
    assert solved_space("hw5")["timed_epoch"](*args) == by_events


def test_macs_of_resnet18_are_what_pytorch_counts() -> None:
    """The network of the published tables, layer by layer, counted by PyTorch's own counter."""
    widths = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    layers: list[tuple[nn.Module, tuple[int, ...]]] = [
        (nn.Conv2d(3, 64, 3, padding=1, bias=False), (1, 3, 32, 32))
    ]
    side, parameters = 32, 64 * 2
    for inner, outer, stride in widths:
        for block in range(2):
            begin, step = (inner, stride) if block == 0 else (outer, 1)
            layers.append((nn.Conv2d(begin, outer, 3, step, 1, bias=False), (1, begin, side, side)))
            if begin != outer:
                layers.append(
                    (nn.Conv2d(begin, outer, 1, step, bias=False), (1, begin, side, side))
                )
                parameters += 2 * outer
            side //= step
            layers.append((nn.Conv2d(outer, outer, 3, 1, 1, bias=False), (1, outer, side, side)))
            parameters += 4 * outer
    layers.append((nn.Linear(512, 10), (1, 512)))
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        for layer, shape in layers:
            layer(torch.zeros(shape))
    parameters += sum(p.numel() for layer, _ in layers for p in layer.parameters())
    assert counter.get_total_flops() == 2 * RESNET18.macs
    assert parameters == RESNET18.parameters


def test_the_k80_table_is_split_as_its_report_should_have() -> None:
    parts = solved_space("hw5")["split"](K80_ALONE, K80)
    told = {cell: (round(a, 2), round(b, 2)) for cell, (a, b) in parts.items()}
    assert told[2, 32] == (48.16, 41.91)
    assert told[4, 512] == (15.83, 8.51)
    reached = solved_space("hw5")["bandwidth"](
        {cell: b for cell, (_, b) in parts.items()}, 50_000, RESNET18.gradient_bytes
    )
    assert [round(reached[2, b], 3) for b in (32, 128, 512)] == [0.834, 0.554, 0.319]


@settings(max_examples=30)
@given(
    st.dictionaries(st.tuples(st.integers(1, 8), st.integers(1, 9)), st.floats(1, 99), max_size=9)
)
def test_strong_points_are_speedups_of_a_table_by_total(
    times: dict[tuple[int, int], float],
) -> None:
    by_total = {(gpus, gpus * batch): seconds for (gpus, batch), seconds in times.items()}
    weak = solved_space("hw5")["speedups"](by_total)
    strong = {(n, n * b): ratio for _, (n, b), ratio in solved_space("hw5")["strong_points"](times)}
    assert strong == {cell: value for cell, value in weak.items() if cell[0] > 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("ranks,batch\n1,2\n", "has no column images"),
        (",".join(EPOCH_COLUMNS) + "\n1,32,100,fast,2,cpu\n", "no number in column step_seconds"),
        (",".join(EPOCH_COLUMNS) + "\n1,32,100,-1,2,cpu\n", "no number in column step_seconds"),
        (",".join(EPOCH_COLUMNS) + "\n1,32,100,1,nan,cpu\n", "no number in column epoch_seconds"),
        (",".join(EPOCH_COLUMNS) + "\n1,32,100,1,2,cpu\n", ""),
    ],
)
def test_a_table_is_checked_for_its_form(text: str, words: str) -> None:
    problem = EPOCHS_CSV.problem(text.encode())
    assert words in problem
    assert bool(problem) == bool(words)
    assert EPOCHS_CSV.measured
    assert BATCHES_CSV.measured


def test_a_job_for_slurm_names_what_it_needs(tmp_path: Path) -> None:
    text = write_job(str(tmp_path / "hw5.sbatch"), gpus=2)
    assert text.startswith("#!/bin/bash\n")
    assert "#SBATCH --gpus-per-node=2" in text
    assert "for gpus in 1 2; do" in text
    assert "-m lab_utils.labs.hw5.cluster --batch $batch" in text
    table = tmp_path / "epochs_gpu.csv"
    rows: list[list[Any]] = [[1, 32, 6000, "1.5", "2.5", "cpu"], [2, 32, 6000, "1", "2", "cpu"]]
    for row in rows:
        _add_row(table, row)
    assert EPOCHS_CSV.problem(table.read_bytes()) == ""
    assert len(EPOCHS_CSV.rows(table.read_text("utf-8"))) == 2


def test_a_random_table_that_was_timed_is_never_impossible() -> None:
    """What a device really does in an epoch cannot be above its peak."""
    dice = random.Random(5)
    for _ in range(50):
        macs, images, peak = dice.randint(1, 10**9), dice.randint(1, 10**5), dice.random() * 1e13
        honest = 6 * macs * images / (peak * dice.uniform(0.05, 0.999))
        assert solved_space("hw5")["impossible"]({32: honest}, macs, images, peak, 1) == []
        assert math.isfinite(honest)
