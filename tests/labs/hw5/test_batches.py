"""Notebook 3 of Homework 5: the table that is handed in, samplers, batch norm, real runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler

from lab_utils.instruments.ranks import run_ranks
from lab_utils.kit.task import Case
from lab_utils.labs.hw5.judge.batches import judge_table
from lab_utils.labs.hw5.runs import SmallNet, measure_batches, measure_epochs, show_epochs
from lab_utils.labs.hw5.tables import BATCH_COLUMNS, BATCHES_CSV, EPOCHS_CSV
from lab_utils.labs.hw5.wire_log import bytes_of, record_ddp
from tests.support.solved_cells import solved_space


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 9), st.integers(0, 99), st.booleans())
def test_the_sampler_is_pytorchs_own(n: int, ranks: int, epoch: int, seed: int, drop: bool) -> None:
    if drop and n < ranks:
        return  # there PyTorch's own pads, and says that it does not
    for rank in range(ranks):
        theirs: Any = DistributedSampler(range(n), ranks, rank, seed=seed, drop_last=drop)  # type: ignore[arg-type]
        theirs.set_epoch(epoch)
        assert solved_space("hw5")["shard"](n, rank, ranks, epoch, seed, drop) == list(theirs)


def test_one_process_and_many_normalise_alike() -> None:
    norm = solved_space("hw5")["sync_batch_norm"]
    x = torch.randn(9, 3, 4, 4, generator=torch.Generator().manual_seed(2)) * 3 + 5

    def job() -> torch.Tensor:
        out: torch.Tensor = norm(x.split([2, 3, 4])[dist.get_rank()], 1e-5)
        return out

    whole = torch.nn.functional.batch_norm(x, None, None, training=True)
    assert torch.allclose(torch.cat(run_ranks(3, job).results), whole, atol=1e-5)


def test_ddp_of_the_small_network_sends_its_bytes() -> None:
    log = record_ddp(SmallNet, (2, 1, 28, 28), steps=2)
    told = solved_space("hw5")["traffic"](log, bytes_of(SmallNet()))
    assert sum(told.values()) == sum(message.nbytes for message in log)
    assert told["gradients"] == 2 * told["parameters"]
    assert told["buffers"] == 3 * bytes_of(SmallNet()).buffers


def table(*rows: str) -> dict[str, str]:
    """A file of measurements, as it is answered."""
    return {"file": "batches.csv", "text": "\n".join([",".join(BATCH_COLUMNS), *rows])}


GOOD = ("32,base,9,2,1,1,1,0.5,80", "512,same rate,9,2,2,2,2,1.2,60")
MORE = ("512,scaled,9,2,2,2,2,0.8,70", '512,"scaled, warm-up",9,2,2,2,2,0.8,70')


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"file": "batches.csv", "text": None}, "there is no batches.csv"),
        (table(), "is empty"),
        (table(*GOOD), "1 rows of a large batch"),
        (table(GOOD[0].replace("0.5", "x"), *GOOD[1:], *MORE), "no number in column loss_5"),
        (table(GOOD[0].replace("0.5", "2.5"), *GOOD[1:], *MORE), "the loss does not fall"),
        (table(GOOD[0].replace("80", "800"), *GOOD[1:], *MORE), "an accuracy above 100"),
        (table(*GOOD, *MORE), ""),
    ],
)
def test_a_table_of_large_batches_is_judged_by_its_form(answer: Any, words: str) -> None:
    found = judge_table(Case("", {}), answer)
    assert bool(found) == bool(words)
    assert not found or words in str(found[0])


def test_real_runs_write_tables_of_the_form_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real images, real processes over gloo; and nothing is measured twice."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HW5_SIZE", "small")
    rows = measure_epochs(solved_space("hw5")["timed_epoch"])
    assert EPOCHS_CSV.problem(Path("epochs.csv").read_bytes()) == ""
    assert {(row["ranks"], row["batch"]) for row in rows} >= {("1", "32"), ("2", "120")}
    picture = show_epochs(rows)
    assert picture is not None
    assert "2 x 120" in picture.words
    measure_batches(solved_space("hw5")["learning_rate"])
    text = Path("batches.csv").read_text("utf-8")
    assert BATCHES_CSV.problem(text.encode()) == ""
    measure_batches(solved_space("hw5")["learning_rate"])
    assert Path("batches.csv").read_text("utf-8") == text
