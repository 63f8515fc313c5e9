"""The runs of notebook 1 on a cluster: torchrun starts them, alone and in a job of Slurm."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.labs.hw5.cluster import main, write_job
from lab_utils.labs.hw5.tables import EPOCH_COLUMNS, EPOCHS_CSV, form_problem
from tests.support.one_machine_cluster import slurm_cluster
from tests.support.solved_cells import solution_cells

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder in a release, with the stopwatch of task 1.1 in it."""
    work = tmp_path / "release" / "notebooks" / "hw5"
    work.mkdir(parents=True)
    (tmp_path / "release" / "lab_utils").symlink_to(ROOT / "lab_utils")
    (work / "my_work.py").write_text(solution_cells("hw5")["t11"], encoding="utf-8")
    monkeypatch.chdir(work)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("PYTHON", sys.executable)
    return work


def rows_of(file: Path) -> list[dict[str, str]]:
    """What was measured; it has the form of the table that is handed in."""
    text = file.read_text(encoding="utf-8")
    assert not form_problem(EPOCHS_CSV, text)
    rows = list(csv.DictReader(text.splitlines()))
    assert tuple(rows[0]) == EPOCH_COLUMNS
    return rows


def small(job: Path, ranks: str) -> None:
    """The same job with fewer and smaller runs."""
    text = job.read_text(encoding="utf-8")
    changes = {"in 1 2; do": f"in {ranks}; do", "in 32 128 512; do": "in 32; do"}
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    job.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_the_job_runs_without_slurm(folder: Path) -> None:
    """Its lines are a shell script: torchrun with two processes, by gloo, far from lab_utils."""
    write_job("hw5.sbatch", gpus=2, images=96)
    small(folder / "hw5.sbatch", "2")
    script = (folder / "hw5.sbatch").read_text("utf-8").replace("srun ", "")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = rows_of(folder / "epochs_gpu.csv")
    assert (row["ranks"], row["batch"], row["images"], row["device"]) == ("2", "32", "96", "cpu")
    assert 0 < float(row["step_seconds"]) <= float(row["epoch_seconds"])


@pytest.mark.slow
@pytest.mark.needs_slurm
def test_slurm_runs_the_job(folder: Path) -> None:
    """The file as it is but for its size; on the command line only what this cluster lacks."""
    write_job("hw5.sbatch", gpus=2, images=64)
    small(folder / "hw5.sbatch", "2")
    with slurm_cluster():
        lacking = ("--gpus-per-node=0", "--cpus-per-task=1", "--nodelist=one")
        command = ["sbatch", "--wait", *lacking, "hw5.sbatch"]
        done = subprocess.run(command, capture_output=True, text=True)
    logs = "\n".join(path.read_text("utf-8") for path in folder.glob("hw5-*.log"))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    (row,) = rows_of(folder / "epochs_gpu.csv")
    assert (row["ranks"], row["batch"], row["images"]) == ("2", "32", "64")


def test_who_copies_this_folder_alone_is_told(folder: Path) -> None:
    write_job("hw5.sbatch", gpus=1)
    (folder.parents[1] / "lab_utils").unlink()
    done = subprocess.run(["bash", "hw5.sbatch"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "copy the whole release" in done.stdout


def test_without_a_stopwatch_it_says_where_one_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="run notebook 1"):
        main([])


@pytest.mark.parametrize("gpus", [0, 9])
def test_a_job_is_for_one_machine(gpus: int, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="from 1 to 8"):
        write_job(str(tmp_path / "hw5.sbatch"), gpus)
    assert not os.listdir(tmp_path)
