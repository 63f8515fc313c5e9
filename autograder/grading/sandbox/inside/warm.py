"""Warm processes: they have imported all that notebooks need, and fork for each run of one.

They grow from a *stem*, which holds the libraries and nothing of ours that a notebook may
import: each has a kit of its own, in memory and on disk, and of no other kit a trace.

None of them ever sees what students wrote or what they are asked: that goes from the grader to
the forked processes directly, so that nothing of it is left for the next submission.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from . import filters, kernel, namespaces
from .protocol import Channel, Message

Run = Callable[[int, Message], Any]


def main(descriptor: int) -> None:
    """Be a stem: serve the grader on the socket ``descriptor`` until it closes it."""
    control = Channel(descriptor)
    received = control.receive()
    if received is None:
        return
    order = received[0]
    try:
        if order["plan"] is not None:
            namespaces.enter_house(order["plan"], order["site"])
            _move_to(order["kit"])
        if order["trial"]:
            _try_out(control, order)
            return
        shell = _prepare(order["libraries"])
    except Exception as error:
        control.send({"failed": f"{type(error).__name__}: {error}"})
        return
    control.send({"ready": True})
    while received := control.receive():
        growth, (given,) = received
        _reap()
        if order["once"] or not os.fork():
            control.close()
            _be_warm(Channel(given), growth, shell, order["once"])
            os._exit(0)
        os.close(given)


def _be_warm(control: Channel, growth: Message, shell: Any, once: bool) -> None:
    """Be a warm process: with a kit, and the libraries of the stem."""
    try:
        run = _furnish(growth, shell)
    except Exception as error:
        control.send({"failed": f"{type(error).__name__}: {error}"})
        return
    control.send({"ready": True})
    rooms: dict[int, int] = {}  # the first process of each, by its number
    while received := control.receive():
        order, descriptors = received
        gone = _reap()
        rooms = {number: process for number, process in rooms.items() if process not in gone}
        if "end" in order:
            if process := rooms.get(order["end"]):
                os.kill(process, signal.SIGKILL)  # and with it all that is in the room
            continue
        setup, process = order["setup"], 0
        try:
            if not once:
                process = namespaces.fork_apart() if setup["room"] else os.fork()
        except OSError as error:  # no more namespaces, or processes
            Channel(os.dup(descriptors[0])).send({"failed": str(error)})
        else:
            if not process:
                control.close()
                _supervise(descriptors[0], descriptors[1:], setup, run)
            rooms[order["room"]] = process
        for given in descriptors:
            os.close(given)


def _move_to(kit: str) -> None:
    """Find our own modules where they lie now."""
    sys.path[:] = [kit if path == os.environ["PYTHONPATH"] else path for path in sys.path]
    os.environ["PYTHONPATH"] = kit
    sys.modules[__package__].__path__ = [os.path.join(kit, "inside")]
    importlib.invalidate_caches()


def _prepare(libraries: Iterable[str]) -> Any:
    """Import what all warm processes share; the shell of their notebooks."""
    for name in libraries:
        importlib.import_module(name)
    from .shell import make_shell

    shell = make_shell()
    if ours := [name for name in sys.modules if name.partition(".")[0] == "lab_utils"]:
        raise RuntimeError(f"{ours[0]} is part of a kit: only a warm process may import it")
    _freeze()
    return shell


def _furnish(growth: Message, shell: Any) -> Run:
    """Take a kit, and import of it what notebooks need; what runs one of them."""
    if growth["linux"]:
        kernel.prctl(kernel.SET_DEATH_SIGNAL, 9)
    os.environ |= growth["environment"]
    if growth["kits"]:
        namespaces.take_kit(growth["source"], growth["kit"], growth["kits"])
    _move_to(growth["kit"])
    with shell.keeping_forms():
        for name in growth["preload"]:
            importlib.import_module(name)
        for name in growth["warm_up"]:
            module, _, function = name.partition(":")
            getattr(importlib.import_module(module), function)()
    for statement in growth["imports"]:  # of cells of ours, as they would be run below
        with suppress(Exception):
            exec(statement, {})
    from .answers import note_marks
    from .notebook import run_notebook

    note_marks()
    _freeze()
    gc.set_threshold(10_000, 20, 20)  # a graph is thousands of objects that live on

    def run(descriptor: int, setup: Message) -> None:
        run_notebook(shell, descriptor, setup)

    return run


def _freeze() -> None:
    if _has_threads():
        raise RuntimeError("what was imported has started threads: they do not survive a fork")
    gc.collect()
    gc.freeze()  # or the first collection after a fork copies every page


def _has_threads() -> bool:
    """Python's own; where libraries may have theirs, also those that Python does not know."""
    seen = 1
    if os.environ.get("OMP_NUM_THREADS", "1") != "1" and os.path.isdir("/proc/self/task"):
        seen = len(os.listdir("/proc/self/task"))
    return max(seen, threading.active_count()) > 1


def _supervise(descriptor: int, shelves: list[int], setup: Message, run: Any) -> None:
    from .supervisor import supervise

    if setup["processors"]:
        with suppress(OSError):  # those that there were when the grader looked
            os.sched_setaffinity(0, setup["processors"])
    try:
        supervise(Channel(descriptor), setup, shelves, run)
    finally:
        os._exit(1)


def _try_out(control: Channel, order: Message) -> None:
    """Tell whether student code can be shut in here."""
    is_room = order["trial"] == "room"
    child = namespaces.fork_apart() if is_room else os.fork()
    if not child:
        try:
            if is_room:
                namespaces.take_kit(*order["bare"])
                namespaces.enter_room(1_000_000, 100)
            kernel.drop_capabilities()
            filters.filter_calls(own_namespaces=order["trial"] != "filter")
            control.send({"ready": True})
        except OSError as error:
            control.send({"failed": str(error)})
        os._exit(0)
    os.waitpid(child, 0)


def _reap() -> set[int]:
    """Take note of children that have ended; which ones."""
    gone = set()
    with suppress(ChildProcessError):
        while process := os.waitpid(-1, os.WNOHANG)[0]:
            gone.add(process)
    return gone


if __name__ == "__main__":
    main(int(sys.argv[1]))
