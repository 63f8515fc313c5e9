"""Reads AstraSim's own descriptions of a machine: ``network.yml`` and ``system.json``.

Its GB/s of a link are 2³⁰ bytes a second, its latencies nanoseconds, its ``peak-perf`` 10¹²
operations and its ``local-mem-bw`` 10⁹ bytes a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.network.dims import FULLY_CONNECTED, RING, SWITCH, Dim, System
from lab_utils.instruments.roofline import Machine
from lab_utils.kit.errors import LabError

LINK_GB = 2**30
PER_SECOND = 1e9  # nanoseconds
ALGORITHM = {RING: "ring", FULLY_CONNECTED: "direct", SWITCH: "halvingDoubling"}
"""What runs on each kind of dimension."""
_LISTS = ("topology", "npus_count", "bandwidth", "latency")


def read_network(text: str, ways: int = 1) -> tuple[Dim, ...]:
    """The dimensions of a ``network.yml``; rings send in ``ways`` directions at once.

    Raises:
        LabError: it is none; the message names the key.
    """
    import yaml

    try:
        told = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise LabError(f"network.yml{where}: no YAML. A line is 'key: [ … ]'") from None
    if not isinstance(told, Mapping):
        raise LabError("network.yml: keys and lists are wanted, as in 'topology: [ Ring ]'")
    lists = []
    for key in _LISTS:
        value = told.get(key)
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise LabError(f"network.yml: {key} is a list with an entry for each dimension")
        lists.append(value)
    if len({len(one) for one in lists}) != 1:
        raise LabError(f"network.yml: {', '.join(_LISTS)} are equally long")
    dims = []
    for kind, size, bandwidth, latency in zip(*lists, strict=True):
        if kind not in ALGORITHM:
            raise LabError(f"network.yml: a topology is one of {', '.join(ALGORITHM)}")
        if type(size) is not int or not all(
            isinstance(n, (int, float)) for n in (bandwidth, latency)
        ):
            raise LabError("network.yml: npus_count, bandwidth and latency are numbers")
        here = ways if kind == RING and size > 2 else 1
        dims.append(Dim(kind, size, bandwidth * LINK_GB, latency / PER_SECOND, here))
    return tuple(dims)


def read_system(name: str, network: str, system: str, memory: float) -> System:
    """A machine from the texts of both files, with devices of ``memory`` bytes.

    Data that is cut into several parts (``preferred-dataset-splits``) goes round a ring both ways.

    Raises:
        LabError: a file cannot be read, or asks for what is not known here.
    """
    try:
        told = json.loads(system)
    except ValueError as error:
        raise LabError(f"system.json: no JSON ({error})") from None
    if not isinstance(told, Mapping):
        raise LabError("system.json: keys and values are wanted")
    dims = read_network(network, 2 if _number(told, "preferred-dataset-splits") > 1 else 1)
    for collective in ("all-reduce", "all-gather", "reduce-scatter"):
        key = f"{collective}-implementation"
        wanted = [ALGORITHM[dim.kind] for dim in dims]
        if told.get(key) != wanted:
            words = ", ".join(f"{algorithm} on {kind}" for kind, algorithm in ALGORITHM.items())
            raise LabError(f"system.json: {key} is {wanted} for this network ({words})")
    rate, bandwidth = _number(told, "peak-perf") * 1e12, _number(told, "local-mem-bw") * 1e9
    rates = dict.fromkeys(("bf16", "fp16", "int8"), rate)
    return System(name, dims, Machine(name, rates, bandwidth, memory, 1e9, "its system.json"))


def _number(told: Mapping[str, Any], key: str) -> float:
    value = told.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise LabError(f"system.json: {key} is a number above 0")
    return value
