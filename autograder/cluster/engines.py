"""``grade --engine``: which examiner a run past one machine has."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from autograder.classroom.grade import Examiner, Order
from autograder.cluster.slurm import Array, Slurm
from autograder.cluster.slurm_queue import require_slurm
from lab_utils.kit.errors import LabError

Say = Callable[..., None]
"""Tells the person who waits some lines."""


def engine(
    options: argparse.Namespace, say: Say
) -> Callable[[Order], AbstractContextManager[Examiner]]:
    """The examiner that the options ask for, once there is an order.

    Raises:
        LabError: it is not installed here.
    """
    if options.engine == "slurm":
        require_slurm()
        words = tuple(word for text in options.sbatch for word in _words(text))
        size = options.slice_size or Array.size
        array = Array(size, options.workers, options.jobs or Array.jobs, words)
        return lambda order: nullcontext(Slurm(order, array, say))
    try:
        from autograder.cluster.on_dask import Dask, cluster
    except ImportError as error:
        text = "--engine dask needs Dask: .venv/bin/python -m pip install 'dask-jobqueue' bokeh"
        raise LabError(f"{text} ({error})") from error

    start = cluster(options.scheduler, options.workers)
    return lambda order: nullcontext(Dask(order, start, say))


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise LabError(f"--sbatch={text!r} is not as a shell reads it: {error}") from None
