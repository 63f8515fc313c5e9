"""An attacker that knows no lab: it looks for whatever answers a task, in all that it can reach.

It knows what everybody knows, the public cases and their right answers, and searches the process
and the disk for a function that gives them: every callable of our modules, found by import, by
the garbage collector and as a copy of its code, in this process and in a child. What it finds
answers the hidden cases as well; what it does not find it looks up in the table of public answers.
It says which tasks it has searched, so that a search that was cut off is no proof.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CELL = '''
import gc, importlib, inspect, json, os, pkgutil, signal, sys, types
import lab_utils
from lab_utils.kit.lab import lab_called

KNOWN = json.loads({known!r})
ME, OUTPUT = os.getpid(), (sys.stdout, sys.stderr)


class _Late(BaseException):
    """Time for this candidate is up."""


def _late(*_):
    raise _Late


def _arm(seconds):
    """Ring after so many seconds, and again: a candidate may have put its own bell there."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _not_me(function):
    """Some of what is tried ends its process or closes its lines: a child's, not the attacker's."""

    def only_children(*arguments, **named):
        if os.getpid() == ME:
            raise TimeoutError
        return function(*arguments, **named)

    return only_children


def _callables():
    found = {{}}
    for info in pkgutil.walk_packages(lab_utils.__path__, "lab_utils."):
        try:
            module = importlib.import_module(info.name)
        except BaseException:
            continue
        for value in list(vars(module).values()):
            if callable(value) and str(getattr(value, "__module__", "")).startswith("lab_utils"):
                found[id(value)] = value
    for value in gc.get_objects():
        if isinstance(value, types.FunctionType):
            if str(value.__module__).startswith(("lab_utils", "inside", "autograder")):
                found[id(value)] = value
                copy = types.FunctionType(
                    value.__code__, value.__globals__, value.__name__, value.__defaults__,
                    value.__closure__,
                )
                found[id(copy)] = copy
    return list(found.values())


def _frames():
    """Everything that a caller holds: a dict with a key that tells."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict):
                found += [value[key] for key in ("wanted", "answer", "found") if key in value]
        frame = frame.f_back
    return found


def _takes(value, many):
    """Whether it can be called with so many arguments; what cannot be need not be tried."""
    try:
        inspect.signature(value).bind(*range(many))
    except TypeError:
        return False
    except ValueError:
        pass
    return True


SPEAKS = {{
    "send", "recv", "isend", "irecv", "batch_isend_irecv", "broadcast", "all_reduce", "reduce",
    "all_gather", "all_gather_into_tensor", "gather", "scatter", "reduce_scatter",
    "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "DistributedDataParallel",
}}


def _speaks(value, seen):
    """Whether its code, or any code of ours that it names, sends something to other ranks."""
    value = getattr(value, "__wrapped__", getattr(value, "__func__", value))
    if isinstance(value, type):
        return any(_speaks(one, seen) for one in list(vars(value).values()) if callable(one))
    if not isinstance(value, types.FunctionType):
        value = getattr(type(value), "__call__", None)
        if not isinstance(value, types.FunctionType):
            return False
    names, codes = set(), [value.__code__]
    while codes:
        code = codes.pop()
        names |= {{*code.co_names, *code.co_freevars}}
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    if names & SPEAKS:
        return True
    cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
    for one in [value.__globals__.get(name) for name in names] + cells:
        is_ours = str(getattr(one, "__module__", "")).startswith("lab_utils") and callable(one)
        if is_ours and id(one) not in seen:
            seen.add(id(one))
            if _speaks(one, seen):
                return True
    return False


def _same(one, other):
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _answers(ask, value, pairs):
    try:
        for given, answer in pairs:
            _arm(6 if "link" in given else 0.3)
            if not _same(ask(value, given), answer):
                return False
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.stdout, sys.stderr = OUTPUT


def _candidate(ask, pairs, many):
    before, end, double = signal.signal(signal.SIGALRM, _late), os._exit, os.dup2
    os._exit, os.dup2 = _not_me(end), _not_me(double)
    on_ranks = any("link" in given for given, _ in pairs)  # who is silent cannot answer there
    try:
        for value in LOOT:
            try:
                if not _takes(value, many) or on_ranks and not _speaks(value, set()):
                    continue
                if _answers(ask, value, pairs):
                    return value
            except BaseException:
                continue
    finally:
        os._exit, os.dup2 = end, double
        signal.signal(signal.SIGALRM, before)
    return None


def _looked_up(task):
    def answer(*arguments, **named):
        for found in _frames():
            return found
        return TABLE.get((task, repr(arguments)))

    return answer


LOOT, TABLE = _callables(), {{}}
for lab, task, name, pairs in KNOWN:
    ask, takes = lab_called(lab).ask(task), lab_called(lab).task_called(task).takes
    found = _candidate(ask, pairs, takes.count(",") + 1 if takes else 0)
    print(f"SEARCHED {{task}}", flush=True)
    if found is not None:
        print("LOOT", task, found)
    globals()[name] = found if found is not None else _looked_up(task)
'''


def cell(known: list[tuple[str, str, str, list[tuple[Mapping[str, Any], Any]]]]) -> str:
    """The attacker's cell; ``known``: lab, task, name, and public inputs with right answers."""
    return CELL.format(known=json.dumps(known))
