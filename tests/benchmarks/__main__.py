"""Run the benchmarks: ``python -m tests.benchmarks [NAME]``.

Prints a table and writes ``build/bench.json``. Leaves with 0 when every goal was
met, 1 when one was missed, 2 when there is no benchmark of that name.
"""

from __future__ import annotations

import os

# Before anything imports torch: times on one core can be compared.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from lab_utils.kit.root import ROOT
from tests import benchmarks
from tests.benchmarks import Row, progress

RESULTS = ROOT / "build" / "bench.json"
PREFIX = "bench_"


def known_names() -> list[str]:
    """The benchmarks that can be run: NAME for each module ``bench_NAME``."""
    modules = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix(PREFIX) for name in modules if name.startswith(PREFIX))


def measure(name: str) -> list[Row]:
    """The rows of one benchmark."""
    rows = []
    progress(f"{name} ...")
    for row in import_module(f"{benchmarks.__name__}.{PREFIX}{name}").benchmarks():
        note = f" ({row.note})" if row.note else ""
        progress(f"{row.name}: {row.ratio:.3g} x {row.peer_name}{note}")
        rows.append(row)
    return rows


def save(rows: list[Row], path: Path, *, keep_others: bool) -> None:
    """Write ``rows`` to ``path``, in place of the earlier rows of the same names, or of all."""
    measured = {row.name for row in rows}
    earlier = json.loads(path.read_text()) if keep_others and path.exists() else []
    others = [row for row in earlier if row["name"] not in measured]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([*others, *(row.as_json() for row in rows)], indent=2)
    # Never a half-written file: a release may read it while a benchmark runs.
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(text + "\n")
    unfinished.replace(path)


def table(rows: list[Row]) -> Table:
    """The rows for people to read."""
    titles = ("benchmark", "ours", "peer", "ratio", "goal", "met", "")
    drawn = Table(*titles, box=box.SIMPLE)
    for row in rows:
        drawn.add_row(
            row.name,
            f"{row.ours:.4g} {row.unit}",
            f"{row.peer:.4g} {row.unit} ({row.peer_name})",
            f"{row.ratio:.3g}",
            f"{'>=' if row.higher_is_better else '<='} {row.goal:g}",
            "[green]yes" if row.met else "[red]NO",
            row.note,
        )
    return drawn


def main() -> int:
    """Run what the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("name", nargs="?", help="run this benchmark alone")
    wanted = parser.parse_args().name
    known = known_names()
    if wanted is not None and wanted not in known:
        print(f"no benchmark is called {wanted}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    rows = [row for name in ([wanted] if wanted else known) for row in measure(name)]
    save(rows, RESULTS, keep_others=wanted is not None)
    Console().print(table(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
