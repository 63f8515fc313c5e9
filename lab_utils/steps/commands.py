"""``python -m lab_utils trace | measure | diff | draw``."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab_utils.kit.commands import DIFFERENT, OK
from lab_utils.kit.errors import LabError

if TYPE_CHECKING:
    from torch import fx

    from lab_utils.steps.workloads import Workload


def add_commands(commands: Any) -> None:
    """Add them to the command line."""
    trace = commands.add_parser("trace", help="trace a model's training step into a .dot file")
    trace.add_argument("model", help="llm_mlp, gelu_mlp, attention, or FILE.py:FUNCTION")
    trace.add_argument("-o", "--output", metavar="FILE.dot", help="default: standard output")
    trace.add_argument("--optimizer", choices=("sgd", "adam"), default="sgd")
    for size in ("layers", "width", "hidden", "batch", "length"):
        trace.add_argument(f"--{size}", type=_positive, metavar="N")
    trace.set_defaults(run=_trace)

    measure = commands.add_parser("measure", help="count nodes and bytes of a .dot file")
    measure.add_argument("file")
    measure.add_argument("--json", action="store_true", help="for programs")
    measure.add_argument("--workers", type=_positive, metavar="N", help="default: no bound")
    measure.set_defaults(run=_measure)

    compare = commands.add_parser("diff", help="compare two .dot files by structure")
    compare.add_argument("wanted", metavar="A.dot")
    compare.add_argument("mine", metavar="B.dot")
    compare.set_defaults(run=_diff)

    draw = commands.add_parser("draw", help="draw a .dot file, with views folded away")
    draw.add_argument("file")
    draw.add_argument("-o", "--output", metavar="FILE.svg", required=True)
    draw.set_defaults(run=_draw)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def read_graph(file: str, circles: bool = False) -> fx.Graph:
    """The graph of the .dot file called ``file``; ``circles`` as in ``read_dot``.

    Raises:
        LabError: it is no such file; the message says why, with line and node.
    """
    from lab_utils.steps.dot.read import read_dot

    if Path(file).is_dir():
        raise LabError(f"{file}: it is a directory, not a .dot file")
    return read_dot(Path(file), circles)


def _trace(options: argparse.Namespace) -> int:
    import torch

    from lab_utils.steps.dot.write import write_dot
    from lab_utils.steps.trace.step import trace_workload

    sizes = {
        name: value
        for name in ("layers", "width", "hidden", "batch", "length")
        if (value := getattr(options, name)) is not None
    }
    optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[options.optimizer]
    work = _workload(options.model, sizes)
    with _mistakes_in(options.model.rpartition(":")[0]):
        graph = trace_workload(work, optimizer)
    text = write_dot(graph, options.output)
    if options.output is None:
        sys.stdout.write(text)
    return OK


def _workload(name: str, sizes: dict[str, int]) -> Workload:
    """What the model called ``name`` makes in these sizes."""
    from lab_utils.steps.workloads import Workload

    build = _model(name)
    try:
        wanted = inspect.signature(build)
    except (TypeError, ValueError):  # not callable, or not written in Python
        raise LabError(f"{name} is no function, but of type {type(build).__name__}") from None
    if unknown := sorted(set(sizes) - set(wanted.parameters)):
        raise LabError(f"{name} has no size called {unknown[0]}")
    try:
        wanted.bind(**sizes)
    except TypeError as error:
        where = f"{name}{_line(build)}"
        raise LabError(f"{where}: {error}: give each argument a default") from None
    with _mistakes_in(name.rpartition(":")[0]):
        work = build(**sizes)
    if not isinstance(work, Workload):
        where, what = f"{name}{_line(build)}", type(work).__name__
        raise LabError(f"{where}: its result must be a Workload, but is of type {what}")
    return work


def _line(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return f", line {code.co_firstlineno}" if code else ""


@contextmanager
def _mistakes_in(file: str) -> Iterator[None]:
    """Turn what the user's own ``file`` raises into one line with its place.

    Without a file the code is ours, and a mistake in it deserves its traceback.
    """
    try:
        yield
    except (LabError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a file may also end with sys.exit
        if not file:
            raise
        path, words = os.path.abspath(file), str(error)
        frames = traceback.extract_tb(error.__traceback__)
        places = [frame.lineno for frame in frames if frame.filename == path]
        if isinstance(error, SyntaxError) and error.filename == path:
            places, words = [error.lineno], error.msg
        line = f", line {places[-1]}" if places else ""
        what = ": ".join([type(error).__name__, *words.splitlines()[:1]])
        raise LabError(f"{file}{line}: {what}") from None


def _model(name: str) -> Callable[..., Any]:
    """A model of ours by name, or a function of the user's that returns a ``Workload``."""
    from lab_utils.steps.workloads import MODELS

    if name in MODELS:
        return MODELS[name]
    file, _, function = name.rpartition(":")
    if not file:
        raise LabError(f"no model is called {name}: choose {', '.join(MODELS)} or FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("traced_model", file)
    if not Path(file).is_file() or spec is None or spec.loader is None:
        raise LabError(f"{file}: there is no such Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for it
    with _mistakes_in(file):
        spec.loader.exec_module(module)
    if not hasattr(module, function):
        raise LabError(f"{file} has no function {function}")
    return getattr(module, function)


def _measure(options: argparse.Namespace) -> int:
    from lab_utils.steps.summary import measure

    numbers = measure(read_graph(options.file), options.workers)
    if options.json:
        print(json.dumps(numbers.as_dict(), indent=2))
    else:
        print(numbers)
    return OK


def _diff(options: argparse.Namespace) -> int:
    from lab_utils.steps.compare.diff import diff

    found = diff(read_graph(options.wanted), read_graph(options.mine))
    print(found)
    return DIFFERENT if found else OK


def _draw(options: argparse.Namespace) -> int:
    from lab_utils.steps.draw.drawing import draw

    if remark := draw(read_graph(options.file), options.output):
        print(remark, file=sys.stderr)
    return OK
