"""The process of one rank: it runs a function, and tells how that went."""

from __future__ import annotations

import gc
import io
import os
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks.errors import RanksFailed
from lab_utils.instruments.ranks.group import BACKEND, Port, connect
from lab_utils.instruments.ranks.wire import HungUp, put
from lab_utils.kit.ask import where
from lab_utils.kit.errors import LabError

_MOST_PRINTED = 20_000  # characters of a rank


def be_rank(rank: int, size: int, line: socket.socket, function: Callable[[], Any]) -> NoReturn:
    """Run ``function`` as one of the ranks, then end the process."""
    gc.freeze()  # what it was born with is no garbage: looking at it would copy its memory
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started the ranks ends them
    sys.stdout = sys.stderr = printed = io.StringIO()
    torch.set_num_threads(1)  # threads do not survive a fork
    torch.manual_seed(0)
    warnings.simplefilter("ignore")  # once, not once a rank
    connect(Port(rank, line))
    try:
        dist.init_process_group(BACKEND, store=dist.HashStore(), rank=rank, world_size=size)
        told: tuple[Any, ...] = ("ended", function(), _groups_made())
    except NotImplementedError:
        told = ("raised", "unwritten", "", "")
    except RanksFailed as error:
        told = ("raised", error.kind, str(error), error.look)
    except HungUp:
        os._exit(1)
    except BaseException as error:
        told = ("raised", "raised", in_words(rank, error), where(error))
    text = printed.getvalue()[:_MOST_PRINTED]
    with suppress(HungUp):
        try:
            put(line, (*told, text))
        except Exception as error:  # what cannot be packed cannot be told
            put(line, ("raised", "raised", in_words(rank, error), "", text))
    os._exit(0)


def _groups_made() -> int:
    """How often this rank has called ``new_group``, whether it is a member or not."""
    return dist.get_pg_count() - 1 if dist.is_initialized() else 0  # the first one is everybody


def in_words(rank: int, error: BaseException) -> str:
    """What a rank stumbled over."""
    lines = str(error).strip().splitlines()
    if isinstance(error, LabError) and lines:
        return f"rank {rank}: {lines[0]}"
    name = traceback.format_exception_only(error)[-1].partition(":")[0].rpartition(".")[2].strip()
    return f"rank {rank}: {name}: {lines[0]}" if lines else f"rank {rank}: {name}"
