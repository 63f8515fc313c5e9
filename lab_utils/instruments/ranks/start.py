"""Starts ranks, on our switch or on a real network, and gives back what they did."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from lab_utils.instruments.ranks.children import end_all
from lab_utils.instruments.ranks.gloo import on_gloo
from lab_utils.instruments.ranks.process import be_rank
from lab_utils.instruments.ranks.records import DEFAULT, Link, Run
from lab_utils.instruments.ranks.switch import Switch
from lab_utils.kit.errors import LabError

MOST = 8
"""Ranks at the same time."""
_LOADED_BY_BACKWARD = "torch.fx.experimental.symbolic_shapes"


def run_ranks(
    size: int,
    function: Callable[..., Any],
    *arguments: Any,
    link: Link | None = None,
    backend: str = "ranks",
) -> Run:
    """Run ``function(*arguments)`` in ``size`` ranks, which talk by ``torch.distributed``.

    Each rank is a copy of this process: it has all that was defined before, and what it changes
    it changes for itself alone. ``torch.distributed`` is initialised in it.

    Args:
        size: how many ranks, from 1 to 8.
        function: what each of them runs; ``dist.get_rank()`` tells who it is.
        arguments: what the function gets.
        link: what connects the ranks, for the virtual clock.
        backend: "ranks" (ours) or "gloo" (PyTorch's own, over this computer's network).

    Raises:
        RanksFailed: a rank raised an error, or nobody can go on; the message says who and why.
    """
    if not hasattr(os, "fork"):
        raise LabError("ranks are forked processes: use Linux, macOS or Colab (or WSL on Windows)")
    if not 1 <= size <= MOST:
        raise LabError(f"from 1 to {MOST} ranks can run here, not {size}")
    import_module(_LOADED_BY_BACKWARD)  # once here, not in every rank
    call = partial(function, *arguments)
    if backend == "gloo":
        return Run(on_gloo(size, call), [])
    if backend != "ranks":
        raise LabError(f"the backend is 'ranks' or 'gloo', not {backend!r}")
    pairs = [socket.socketpair() for _ in range(size)]
    children: list[int] = []
    try:
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                for place, (ours, theirs) in enumerate(pairs):
                    ours.close()
                    if place != rank:
                        theirs.close()
                be_rank(rank, size, pairs[rank][1], call)
            children.append(pid)
        for _, theirs in pairs:
            theirs.close()
        switch = Switch([ours for ours, _ in pairs])
        switch.serve()
    finally:
        for ours, _ in pairs:
            ours.close()
        end_all(children)
    printed = [station.printed for station in switch.stations]
    for rank, text in enumerate(printed):
        for row in text.splitlines():
            print(f"rank {rank}: {row}")
    results = [station.result for station in switch.stations]
    return Run(results, [s.diary for s in switch.stations], link or DEFAULT, printed)
