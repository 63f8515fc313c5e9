"""The warm process: it has imported all that notebooks need, and forks for each submission.

It never sees what students wrote or what they are asked: that goes from the grader to
the forked processes directly, so that nothing of it is left for the next submission.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from . import filters, kernel, namespaces
from .protocol import Channel, Message


def main(descriptor: int) -> None:
    """Serve the grader on the socket ``descriptor`` until it closes it."""
    control = Channel(descriptor)
    received = control.receive()
    if received is None:
        return
    order = received[0]
    if order["processors"]:
        with suppress(OSError):  # those that there were when the grader looked
            os.sched_setaffinity(0, order["processors"])
    try:
        if order["plan"] is not None:
            namespaces.enter_house(order["plan"], order["site"])
            _move_to(order["kit"])
        if order["trial"]:
            _try_out(control, order)
            return
        run = _prepare(order["preload"], order["warm_up"])
    except Exception as error:
        control.send({"failed": f"{type(error).__name__}: {error}"})
        return
    control.send({"ready": True})
    while received := control.receive():
        setup, descriptors = received
        _reap()
        if order["once"] or not os.fork():
            control.close()
            _supervise(descriptors[0], descriptors[1:], setup, run)
        for given in descriptors:
            os.close(given)


def _move_to(kit: str) -> None:
    """Find our own modules where they lie in the house."""
    sys.path[:] = [kit if path == os.environ["PYTHONPATH"] else path for path in sys.path]
    os.environ["PYTHONPATH"] = kit
    sys.modules[__package__].__path__ = [os.path.join(kit, "inside")]
    importlib.invalidate_caches()


def _prepare(preload: list[str], warm_up: list[str]) -> Any:
    for name in preload:
        importlib.import_module(name)
    for name in warm_up:
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)()
    from .notebook import run_notebook
    from .shell import make_shell

    shell = make_shell()
    if _has_threads():
        raise RuntimeError("what was imported has started threads: they do not survive a fork")
    gc.collect()
    gc.freeze()  # or the first collection after a fork copies every page

    def run(descriptor: int, setup: Message) -> None:
        run_notebook(shell, descriptor, setup)

    return run


def _has_threads() -> bool:
    """Python's own; where libraries may have theirs, also those that Python does not know."""
    seen = 1
    if os.environ.get("OMP_NUM_THREADS", "1") != "1" and os.path.isdir("/proc/self/task"):
        seen = len(os.listdir("/proc/self/task"))
    return max(seen, threading.active_count()) > 1


def _supervise(descriptor: int, shelves: list[int], setup: Message, run: Any) -> None:
    from .supervisor import supervise

    try:
        supervise(Channel(descriptor), setup, shelves, run)
    finally:
        os._exit(1)


def _try_out(control: Channel, order: Message) -> None:
    """Tell whether student code can be shut in here."""
    child = os.fork()
    if not child:
        try:
            if order["trial"] == "room":
                namespaces.enter_room(1_000_000, 100)
            kernel.drop_capabilities()
            filters.filter_calls(own_namespaces=order["trial"] != "filter")
            control.send({"ready": True})
        except OSError as error:
            control.send({"failed": str(error)})
        os._exit(0)
    os.waitpid(child, 0)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
