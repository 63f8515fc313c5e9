"""Grading past one machine: workers of Dask and jobs of Slurm beside the local pool.

Rates are verdicts a minute after the first ones, two workers each, one run after the other on the
same machine: they are worth something if nothing else runs there. Costs are CPU seconds, which
neighbours disturb little; from them a simulation projects classes of 1,000 and 10,000. It is held
to the real run of two Slurm jobs, whose processes share the processors of this machine.
``BENCH_LAB`` names another lab than Lab 0, ``BENCH_CLASS`` another size than 20.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from autograder.classroom.command import cores
from autograder.classroom.sample import ADDED, Change, Example, write_class
from autograder.cluster.slurm import POLL
from autograder.collect import Student
from lab_utils.kit.root import ROOT
from tests.benchmarks import Row, progress
from tests.benchmarks.peers import Spent, spent_on
from tests.benchmarks.simulated_cluster import Costs, seconds
from tests.support.one_machine_cluster import obstacle, slurm_cluster

LAB = os.environ.get("BENCH_LAB", "lab0")
CLASS = int(os.environ.get("BENCH_CLASS", "20"))
WORKERS = 2
FIRST = max(1, CLASS // 5)
"""Verdicts that do not count for a rate: workers may start one after the other."""
MOST_COORDINATOR = 0.15
"""CPU seconds of the coordinator for a submission: it could feed a hundred workers."""


def _hand_in(folder: Path, count: int) -> None:
    """Right answers, no two hand-ins the same."""
    letters = "abcdefghijklmnopqrst"
    names = [f"{one}{two}on".capitalize() for one in letters for two in letters]
    examples = [
        Example(Student(f"s{name}", name, "Student"), (Change(ADDED, "", f"print({name!r})"),))
        for name in names[:count]
    ]
    write_class(folder, LAB, examples)


def _run(command: str, home: Path, *more: str) -> Spent:
    """What it takes, with all that it starts."""
    return _spent("-m", "autograder", command, LAB, "--into", str(home), *more)


def _spent(*arguments: str) -> Spent:
    return spent_on([sys.executable, *arguments], ROOT)


def _costs(folder: Path) -> Costs:
    """Each phase is run twice, with more and with less to do: the difference is the work."""
    source, home, few = folder / "in", folder / "phases", len(range(0, CLASS, 5))
    class_of = ("--from", str(source), "--roster", str(source / "students.csv"))
    _hand_in(source, few)
    _run("collect", home, *class_of)  # the first makes a gradebook
    _hand_in(source, CLASS)
    collect = _run("collect", home, *class_of)
    nothing = _run("collect", home, *class_of)
    fewer = _run("examine", home, "--slice", "1/5", "--jobs", "1")
    rest = _run("examine", home, "--jobs", "1")
    each = (rest.cpu - fewer.cpu) / (CLASS - 2 * few)
    stored = _run("report", home)
    again = _run("report", home)
    imports = _spent("-c", "import autograder.classroom.grade, autograder.cli")
    return Costs(
        collect=max(0.0, collect.cpu - nothing.cpu) / (CLASS - few),
        start=fewer.cpu - few * each,
        each=each,
        store=max(0.0, stored.cpu - again.cpu) / CLASS,
        fixed=nothing.cpu + again.cpu - imports.cpu,  # which each of the two has done
    )


def _queued(folder: Path) -> float:
    """Seconds from sbatch to the start of a job."""
    (folder / "began.sh").write_text(f"#!/bin/sh\ndate +%s.%N > {folder}/began\n")
    asked = time.time()
    subprocess.run(["sbatch", "--wait", "--output=/dev/null", str(folder / "began.sh")], check=True)
    return float((folder / "began").read_text()) - asked


def _rate(home: Path) -> float:
    """Verdicts a minute, after the first ones."""
    at = sorted(path.stat().st_mtime for path in home.glob(f"verdicts/{LAB}/*.json"))
    return 60 * (len(at) - FIRST) / (at[-1] - at[FIRST - 1])


def benchmarks() -> Iterator[Row]:
    """What the coordinator costs, and how two workers compare with the local pool."""
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        homes, source = Path(temporary), Path(temporary, "in")
        progress(f"the costs of {CLASS} hand-ins of {LAB}, phase by phase")
        costs = _costs(homes)
        progress(f"CPU seconds: {costs}")
        cost = costs.collect + costs.store
        yield Row("cluster, coordinator", cost, "0.15 s", MOST_COORDINATOR, "CPU s", goal=1)

        class_of = ("--from", str(source), "--roster", str(source / "students.csv"))
        engines = {"local": ("--jobs", str(WORKERS)), "dask": ("--workers", str(WORKERS))}
        if obstacle() is None:
            engines["slurm"] = ("--slice-size", str(-(-CLASS // WORKERS)))
        took = {}
        for engine, options in engines.items():
            progress(f"grading with two workers: {engine}")
            home = homes / engine
            if engine == "slurm":
                with slurm_cluster():
                    queue = _queued(homes)
                    took[engine] = _run("grade", home, *class_of, "--engine", engine, *options).wall
            else:
                took[engine] = _run("grade", home, *class_of, "--engine", engine, *options).wall
        for engine in list(engines)[1:]:
            yield Row(
                f"cluster, two workers of {engine}",
                _rate(homes / engine),
                "the local pool",
                _rate(homes / "local"),
                "verdicts/min",
                goal=0.85,
                higher_is_better=True,
            )
        if "slurm" in took:
            real = replace(costs, queue=queue, look=POLL)
            said = seconds(real, CLASS, WORKERS, -(-CLASS // WORKERS), processors=cores())
            name = "cluster, real run of two jobs"
            note = "on a busy machine the real one takes longer"
            yield Row(name, took["slurm"], "simulated", said, "s", goal=1.25, note=note)
        for size in (1_000, 10_000):
            times = {n: seconds(costs, size, n) for n in (1, 2, 8, 32, 128)}
            text = ", ".join(f"{n}: {time / 60:.1f} min" for n, time in times.items())
            progress(f"{size:,} hand-ins of {LAB} by workers: {text}")
