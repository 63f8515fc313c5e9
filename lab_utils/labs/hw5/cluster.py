"""The runs of notebook 1 on GPUs of a cluster: a Slurm job, and the program that it starts.

``torchrun`` starts one process for each GPU; each runs ``main`` here. They talk by NCCL, or by gloo
where there is no GPU.
"""

from __future__ import annotations

import argparse
import csv
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.kit.carry import load_work
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole
from lab_utils.labs.hw5.runs import EpochRun
from lab_utils.labs.hw5.tables import EPOCH_COLUMNS

_JOB = """\
#!/bin/bash
# Homework 5 on {gpus} GPUs of one machine. In the folder of this file: sbatch {file}
# Without GPUs the same job runs by gloo: sbatch --gpus-per-node=0 --cpus-per-task=1 {file}
# Your cluster may want a partition or an account too: add lines such as
# #SBATCH --partition=…   and   #SBATCH --account=…
#SBATCH --job-name=hw5
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gpus-per-node={gpus}
#SBATCH --cpus-per-task={cpus}
#SBATCH --time=00:30:00
#SBATCH --output=hw5-%j.log

set -e
export OMP_NUM_THREADS=2
release=$PWD # the folder with lab_utils lies above this one
while [ ! -d "$release/lab_utils" ] && [ "$release" != / ]; do release=$(dirname "$release"); done
if [ ! -d "$release/lab_utils" ]; then
    echo "lab_utils is in no folder above $PWD: copy the whole release"
    exit 1
fi
export PYTHONPATH="$release${{PYTHONPATH:+:$PYTHONPATH}}"
for gpus in {counts}; do
    for batch in 32 128 512; do
        srun "{python}" -m torch.distributed.run --standalone --nproc-per-node=$gpus \\
            -m lab_utils.labs.hw5.cluster --batch $batch --images {images} --csv epochs_gpu.csv
    done
done
"""


def write_job(file: str = "hw5.sbatch", gpus: int = 4, images: int = 6000) -> str:
    """Write a Slurm job that measures ``epochs_gpu.csv`` on 1, 2, … ``gpus`` GPUs.

    It uses the ``timed_epoch`` that ``save_work`` wrote beside it, and the ``lab_utils`` of the
    release that it lies in.
    """
    if not 1 <= gpus <= 8:
        raise LabError(f"from 1 to 8 GPUs of one machine, not {gpus}")
    counts = " ".join(str(n) for n in (1, 2, 4, 8) if n <= gpus)
    text = _JOB.format(
        file=file,
        gpus=gpus,
        cpus=2 * gpus,
        counts=counts,
        images=images,
        python="${PYTHON:-python}",
    )
    write_whole(Path(file), text)
    return text


def main(arguments: list[str] | None = None) -> None:
    """One process of a run: times an epoch, and rank 0 adds a row to the table."""
    parser = argparse.ArgumentParser(prog="lab_utils.labs.hw5.cluster", description=main.__doc__)
    parser.add_argument("--batch", type=int, default=128, help="images of each process in a step")
    parser.add_argument("--images", type=int, default=6000, help="images of an epoch")
    parser.add_argument("--csv", default="epochs_gpu.csv", help="where the row goes")
    told = parser.parse_args(arguments)
    stopwatch = load_work("timed_epoch", instead="nothing")
    if stopwatch is None:
        raise SystemExit("timed_epoch is not saved here: run notebook 1 up to save_work(…) first")
    local, on_gpu = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.is_available()
    if on_gpu and local >= torch.cuda.device_count():
        many = torch.cuda.device_count()
        raise SystemExit(f"process {local} has no GPU: start at most {many} processes here")
    device = f"cuda:{local}" if on_gpu else "cpu"
    if on_gpu:
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if on_gpu else "gloo", timeout=timedelta(minutes=5))
    try:
        times = EpochRun(told.batch, told.images, device).times(stopwatch)
        slowest = torch.tensor(list(times.values()), device=device)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        if dist.get_rank() == 0:
            name = torch.cuda.get_device_name(local) if on_gpu else "cpu"
            numbers = [f"{seconds:.4f}" for seconds in slowest.tolist()]
            _add_row(
                Path(told.csv), [dist.get_world_size(), told.batch, told.images, *numbers, name]
            )
    finally:
        dist.destroy_process_group()


def _add_row(file: Path, row: list[Any]) -> None:
    is_new = not file.is_file()
    with file.open("a", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerows([EPOCH_COLUMNS, row] if is_new else [row])


if __name__ == "__main__":
    main()
