"""The command line: ``python -m lab_utils trace | measure | diff | draw | check-env | pack``."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab_utils.errors import LabError
from lab_utils.hand_in.commands import add_commands

if TYPE_CHECKING:
    from torch import fx

#: Exit codes: all well; the two graphs differ; the input is unusable.
OK, DIFFERENT, UNUSABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A user's mistake is one line on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except LabError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone, which is its right
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
    return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lab_utils", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

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

    add_commands(commands)
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _read(file: str) -> fx.Graph:
    from lab_utils.dot.read import read_dot

    return read_dot(Path(file))


def _trace(options: argparse.Namespace) -> int:
    import torch

    from lab_utils.dot.write import write_dot
    from lab_utils.trace.step import trace_workload

    build = _model(options.model)
    sizes = {
        name: value
        for name in ("layers", "width", "hidden", "batch", "length")
        if (value := getattr(options, name)) is not None
    }
    if unknown := sorted(set(sizes) - set(inspect.signature(build).parameters)):
        raise LabError(f"{options.model} has no size called {unknown[0]}")
    optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[options.optimizer]
    text = write_dot(trace_workload(build(**sizes), optimizer), options.output)
    if options.output is None:
        sys.stdout.write(text)
    return OK


def _model(name: str) -> Callable[..., Any]:
    """A model of ours by name, or a function of the user's that returns a ``Workload``."""
    from lab_utils.models import MODELS

    if name in MODELS:
        return MODELS[name]
    file, _, function = name.rpartition(":")
    if not file:
        raise LabError(f"no model is called {name}: choose {', '.join(MODELS)} or FILE.py:FUNCTION")
    spec = importlib.util.spec_from_file_location("traced_model", file)
    if not Path(file).is_file() or spec is None or spec.loader is None:
        raise LabError(f"{file}: there is no such Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, function):
        raise LabError(f"{file} has no function {function}")
    return getattr(module, function)


def _measure(options: argparse.Namespace) -> int:
    from lab_utils.measures import measure

    numbers = measure(_read(options.file), options.workers)
    if options.json:
        print(json.dumps(numbers.as_dict(), indent=2))
    else:
        print(numbers)
    return OK


def _diff(options: argparse.Namespace) -> int:
    from lab_utils.compare.diff import diff

    found = diff(_read(options.wanted), _read(options.mine))
    print(found)
    return DIFFERENT if found else OK


def _draw(options: argparse.Namespace) -> int:
    from lab_utils.pictures.drawing import draw

    if remark := draw(_read(options.file), options.output):
        print(remark, file=sys.stderr)
    return OK
