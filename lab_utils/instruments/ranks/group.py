"""The backend of ``torch.distributed`` that a rank talks through.

Each call becomes a line to the switch. A call that starts something returns at once; ``wait``
returns when the switch says so, with what has arrived.
"""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks.errors import RanksFailed
from lab_utils.instruments.ranks.wire import put, take

BACKEND = "ranks"
_ProcessGroup: Any = dist.ProcessGroup  # what Python may override there is not in its types
_Work: Any = dist.Work


class Port:
    """Where a rank is connected to the switch."""

    def __init__(self, rank: int, line: socket.socket) -> None:
        self.rank, self._line, self._requests = rank, line, 0

    def start(self, what: str, *details: Any) -> int:
        """Start something; the number by which to wait for it."""
        request, self._requests = self._requests, self._requests + 1
        put(self._line, (what, request, *details))
        return request

    def note(self, *entry: Any) -> None:
        """Tell something that needs no answer."""
        put(self._line, entry)

    def wait(self, request: int, is_work: bool = True) -> list[bytes]:
        """What has arrived, once it is done; without ``is_work`` the diary does not tell."""
        put(self._line, ("wait" if is_work else "fetch", request))
        kind, arrived = take(self._line)
        if kind != "done":
            raise RanksFailed(kind, arrived)
        data: list[bytes] = arrived
        return data


_port: list[Port] = []


def connect(port: Port) -> None:
    """From here on this process is a rank."""
    _port[:] = [port]


def compute(seconds: float, label: str = "compute") -> None:
    """Let the virtual clock of this rank run: work that takes ``seconds``.

    Somewhere else than in a rank of ours (in a process on gloo, in a notebook) nothing happens.
    """
    if _port:
        _port[0].note("compute", float(seconds), str(label)[:80])


def hold(nbytes: int) -> None:
    """This rank takes ``nbytes`` of memory, or gives them back (below 0)."""
    if _port:
        _port[0].note("hold", int(nbytes))


class _Request(_Work):
    """Something that was started; ``wait`` puts what arrives into the tensors."""

    def __init__(
        self, port: Port, request: int, into: list[torch.Tensor], sent: torch.Tensor | None = None
    ) -> None:
        super().__init__()
        self._port, self._request, self._into = port, request, into
        self._sent, self._as_sent = sent, None if sent is None else raw(sent)
        self._done = False

    def wait(self, timeout: timedelta | None = None, is_work: bool = True) -> bool:
        if not self._done:
            arrived = self._port.wait(self._request, is_work)
            if self._sent is not None and raw(self._sent) != self._as_sent:
                words = f"rank {self._port.rank} changed a tensor before its isend was done"
                raise RanksFailed("changed", words)
            for tensor, data in zip(self._into, arrived, strict=True):
                fill(tensor, data)
            self._done = True
        return True

    def is_completed(self) -> bool:
        return self.wait()

    def is_success(self) -> bool:
        return self._done

    def synchronize(self) -> None:
        self.wait()

    def result(self) -> list[torch.Tensor]:
        return self._into

    def get_future(self) -> Any:
        self.wait(is_work=False)  # who takes a future goes on, as PyTorch's own data parallel does
        future: Any = torch.futures.Future()
        future.set_result(self._into)
        return future


class SwitchedGroup(_ProcessGroup):
    """Some of the ranks, as ``torch.distributed`` sees them."""

    def __init__(self, rank: int, size: int, members: list[int], name: str) -> None:
        super().__init__(rank, size)
        self._rank, self._members, self._name = rank, members, name
        (self._port,) = _port

    def getBackendName(self) -> str:
        return BACKEND

    def size(self) -> int:
        return len(self._members)

    def send(self, tensors: list[torch.Tensor], to: int, tag: int = 0) -> _Request:
        (tensor,) = tensors
        told = (self._member(to, "sends to"), tag, kind_of(tensor), raw(tensor))
        return _Request(self._port, self._port.start("send", *told), [], tensor)

    def recv(self, tensors: list[torch.Tensor], source: int, tag: int = 0) -> _Request:
        (tensor,) = tensors
        told = (self._member(source, "receives from"), tag, kind_of(tensor), tensor.nbytes)
        return _Request(self._port, self._port.start("recv", *told), [tensor])

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int = 0) -> _Request:
        words = f"rank {self._port.rank} receives from anybody: say from whom (src=…)"
        raise RanksFailed("mismatch", words)

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None) -> _Request:
        (tensor,) = tensors
        return self._join("all_reduce", tensor, [tensor], reduction_of(opts))

    def broadcast(self, tensors: list[torch.Tensor], opts: Any = None) -> _Request:
        (tensor,) = tensors
        root = opts.rootRank if opts is not None else 0
        return self._join("broadcast", tensor, [tensor], str(root))

    def allgather(
        self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = None
    ) -> _Request:
        return self._join("all_gather", inputs[0], outputs[0])

    def all_gather_single(
        self, output: torch.Tensor, given: torch.Tensor, opts: Any = None
    ) -> _Request:
        parts = list(output.view(-1).chunk(self.size())) if output.numel() else []
        return self._join("all_gather", given, parts)

    def reduce_scatter(
        self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any = None
    ) -> _Request:
        given = torch.cat([part.reshape(-1) for part in inputs[0]])
        return self._join("reduce_scatter", given, [outputs[0]], reduction_of(opts))

    def reduce_scatter_single(
        self, output: torch.Tensor, given: torch.Tensor, opts: Any = None
    ) -> _Request:
        return self._join("reduce_scatter", given, [output], reduction_of(opts))

    def barrier(self, opts: Any = None) -> _Request:
        return self._join("barrier", torch.empty(0), [])

    _allgather_base = all_gather_single
    _reduce_scatter_base = reduce_scatter_single

    def _member(self, number: int, does: str) -> int:
        """The rank with this number in the group; a number below 0 does not count from the end."""
        if not 0 <= number < len(self._members):
            words = f"rank {self._port.rank} {does} rank {number}: there are ranks 0 to "
            raise RanksFailed("nobody", f"{words}{len(self._members) - 1}")
        return self._members[number]

    def _join(
        self, what: str, given: torch.Tensor, into: list[torch.Tensor], how: str = ""
    ) -> _Request:
        told = (what, how, tuple(self._members), self._name, kind_of(given), raw(given))
        return _Request(self._port, self._port.start("collective", *told), into)


def reduction_of(opts: Any) -> str:
    """The name of a reduction: sum, avg, max, min or product."""
    op = getattr(opts, "reduceOp", dist.ReduceOp.SUM)
    for name in ("SUM", "AVG", "MAX", "MIN", "PRODUCT"):
        if op == getattr(dist.ReduceOp, name):
            return name.lower()
    raise RanksFailed("mismatch", f"the reduction {op} is not known here: take the sum")


def kind_of(tensor: torch.Tensor) -> str:
    """The type of its elements, as in ``float32``."""
    return str(tensor.dtype).removeprefix("torch.")


def raw(tensor: torch.Tensor) -> bytes:
    """The bytes of a tensor, element by element."""
    flat = tensor.detach().contiguous().reshape(-1)
    flat = flat.as_strided(flat.shape, (1,))  # one element counts as contiguous at any stride
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def fill(tensor: torch.Tensor, data: bytes) -> None:
    """Put bytes into a tensor."""
    if data:
        flat = torch.frombuffer(bytearray(data), dtype=tensor.dtype)
        tensor.data.copy_(flat.view(tensor.shape))  # as real backends write: autograd sees nothing


def _new_group(options: Any, _: Any = None) -> SwitchedGroup:
    members = list(options.global_ranks_in_group) or list(range(options.group_size))
    return SwitchedGroup(options.group_rank, options.group_size, members, str(options.group_id))


if BACKEND not in dist.Backend.backend_list:
    dist.Backend.register_backend(BACKEND, _new_group, extended_api=True, devices=["cpu"])
