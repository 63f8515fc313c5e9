"""Why a model cannot be traced, in one line: the operator, the module, the line of the model."""

from __future__ import annotations

import logging
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import nn

from lab_utils.steps.graph import Phase

_OURS = str(Path(__file__).parents[1])
_LIBRARY = (torch.__path__[0], _OURS)
_STANDARD = sysconfig.get_paths()["stdlib"]

_NEEDS_VALUES = (
    "the model needs the number itself (an if, item(), int() or float() of a tensor), and a "
    "graph has no numbers while it is traced: compute with tensors, for instance torch.where"
)
_NEEDS_COUNT = (
    "the size of its result depends on the numbers, and a graph has none while it is traced: "
    "keep the shape, for instance with a mask and torch.where"
)
_NOT_GIVEN = (
    "it reads a tensor that is neither an input nor a parameter or buffer of the model: register "
    "it as a buffer (of a loss with weights: make the loss a part of the model)"
)
_NO_GRADIENT = (
    "the loss does not depend on any parameter that requires a gradient: is it detached, or "
    "traced under torch.no_grad()?"
)
#: Where PyTorch's stand-ins without numbers refuse what the CPU's kernel would run.
_NO_STAND_IN = {
    torch.ops.aten._grouped_mm.default: (
        "PyTorch follows it without numbers in bfloat16 only, though the CPU runs it in float32 "
        'too: let the model use another operator (experts of transformers: "batched_mm", by '
        "model.set_experts_implementation)"
    )
}


def why(error: Exception, phase: Phase, model: nn.Module) -> str:
    """What went wrong in which pass, where in the model, and in which operator."""
    return f"cannot trace the {phase} pass{_where(error, model)}: {_what(error)}"


def _what(error: Exception) -> str:
    from torch._subclasses.fake_tensor import (
        DataDependentOutputException,
        DynamicOutputShapeException,
    )

    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    operator = getattr(error, "operator", None)
    if "convert all Tensors to FakeTensors" in text:
        first = _NOT_GIVEN
    elif "does not require grad" in text:
        first = _NO_GRADIENT
    elif isinstance(error, DataDependentOutputException):
        first = _NEEDS_VALUES
    elif isinstance(error, DynamicOutputShapeException):
        first = _NEEDS_COUNT
    elif operator in _NO_STAND_IN:
        first = _NO_STAND_IN[operator]
    return f"{operator}: {first}" if operator is not None else first


def _where(error: Exception, model: nn.Module) -> str:
    """The innermost module, and the innermost line that is neither PyTorch's nor ours."""
    path_of = {id(module): path for path, module in model.named_modules()}
    module, line = "", ""
    for frame, number in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        inside = frame.f_locals.get("self")
        if id(inside) in path_of:
            path = path_of[id(inside)]
            module = f" in {path or 'the model'} ({type(inside).__name__})"
        if not file.startswith(_LIBRARY) and not _standard(file):
            line = f" at {file}:{number}"
    return f"{module}{line}"


def _standard(file: str) -> bool:
    return file.startswith(("<", _STANDARD)) and "site-packages" not in file


@contextmanager
def quiet_log() -> Iterator[None]:
    """While this is open, PyTorch does not print what we tell in one line."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before
