"""Reads AstraSim's own descriptions of a machine: ``network.yml`` and ``system.json``.

Its GB/s of a link are 2³⁰ bytes a second, its latencies nanoseconds, its ``peak-perf`` 10¹²
operations and its ``local-mem-bw`` 10⁹ bytes a second. What an *operation* is, its files do not
say: the workloads that STAGE writes for it count a multiplication with its addition as one, and the
numbers of a tensor as its bytes. ``multiply_add=1`` and a job of ``"int8"`` read them like that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab_utils.instruments.network.dims import ALGORITHM, RING, Dim, System
from lab_utils.instruments.roofline import Machine
from lab_utils.kit.errors import LabError

LINK_GB = 2**30
PER_SECOND = 1e9  # nanoseconds
_ACTIVE = "active-chunks-per-dimension"
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


def read_system(
    name: str, network: str, system: str, memory: float, multiply_add: int = 2
) -> System:
    """A machine from the texts of both files.

    Data that is cut into several parts (``preferred-dataset-splits``) of which several are under
    way at once (``active-chunks-per-dimension``) goes round a ring both ways.

    Args:
        name: as people call it.
        network: the text of ``network.yml``.
        system: the text of ``system.json``.
        memory: bytes of a device; AstraSim has no key for it.
        multiply_add: operations that ``peak-perf`` counts for a multiplication with its addition:
            2 as in data sheets, 1 as in AstraSim's published runs.

    Raises:
        LabError: a file cannot be read, or asks for what is not known here.
    """
    try:
        told = json.loads(system)
    except ValueError as error:
        raise LabError(f"system.json: no JSON ({error})") from None
    if not isinstance(told, Mapping):
        raise LabError("system.json: keys and values are wanted")
    if multiply_add not in (1, 2):
        raise LabError("multiply_add: a multiplication with its addition is 1 operation, or 2")
    is_cut = _number(told, "preferred-dataset-splits") > 1
    is_cut = is_cut and _number({_ACTIVE: 2, **told}, _ACTIVE) > 1
    dims = _with_algorithms(read_network(network, 2 if is_cut else 1), told)
    rate, bandwidth = _number(told, "peak-perf") * 1e12, _number(told, "local-mem-bw") * 1e9
    rates = dict.fromkeys(("bf16", "fp16", "int8"), rate * 2 / multiply_add)
    return System(name, dims, Machine(name, rates, bandwidth, memory, 1e9, "its system.json"))


def _with_algorithms(dims: Sequence[Dim], told: Mapping[str, Any]) -> tuple[Dim, ...]:
    """What runs on each dimension; it must be the same for all that the lab has."""
    lists = {}
    for collective in ("all-reduce", "all-gather", "reduce-scatter"):
        key = f"{collective}-implementation"
        value = told.get(key)
        if not isinstance(value, list) or len(value) != len(dims):
            raise LabError(f"system.json: {key} is a list with an entry for each dimension")
        lists[key] = value
    first, *others = lists.values()
    if any(other != first for other in others):
        raise LabError(f"system.json: {', '.join(lists)} are the same list here")
    found = []
    for dim, algorithm in zip(dims, first, strict=True):
        try:
            how = "" if algorithm == ALGORITHM[dim.kind] else str(algorithm)
            found.append(replace(dim, algorithm=how))
        except LabError as error:
            raise LabError(f"system.json: all-reduce-implementation: {error}") from None
    return tuple(found)


def _number(told: Mapping[str, Any], key: str) -> float:
    value = told.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise LabError(f"system.json: {key} is a number above 0")
    return value
