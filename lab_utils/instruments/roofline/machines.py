"""What a machine can do: operations a second for each data type, bytes a second, bytes in all.

Every rate is what the maker states for dense matrices. Add and multiply count as two
operations. Units are plain: operations a second, bytes a second, bytes, cycles a second; a GB
is 10⁹ bytes, as in every data sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab_utils.kit.errors import LabError

#: Bytes of one element. TF32 is a way to multiply FP32 numbers: they take 4 bytes in memory.
BYTES: Mapping[str, int] = MappingProxyType(
    {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
)


class UnknownDtype(LabError, KeyError):
    """A data type that a machine has no rate for, or that nobody knows."""

    def __str__(self) -> str:
        return str(self.args[0])


def item_bytes(dtype: str) -> int:
    """Bytes of one element of ``dtype``.

    Raises:
        UnknownDtype: nobody knows it; the message lists those that are known.
    """
    try:
        return BYTES[dtype]
    except KeyError:
        raise UnknownDtype(f"no data type {dtype!r}: take one of {', '.join(BYTES)}") from None


@dataclass(frozen=True)
class Machine:
    """One processor and its memory.

    Attributes:
        name: as people call it.
        rates: operations a second at best, for each data type.
        bandwidth: bytes a second between memory and chip.
        memory: bytes that fit.
        clock: cycles a second at which ``rates`` are reached.
        source: where the figures are from.
    """

    name: str
    rates: Mapping[str, float]
    bandwidth: float
    memory: float
    clock: float
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))
        positive = (self.bandwidth, self.memory, self.clock, *self.rates.values())
        if not self.rates or not all(value > 0 for value in positive):
            raise LabError(f"machine {self.name}: rates, bandwidth, memory and clock are above 0")

    def __reduce__(self) -> tuple[type[Machine], tuple[object, ...]]:
        fields = (self.bandwidth, self.memory, self.clock, self.source)
        return Machine, (self.name, dict(self.rates), *fields)

    def rate(self, dtype: str) -> float:
        """Operations a second at best with numbers of ``dtype``: the flat part of the roof.

        Raises:
            UnknownDtype: this machine has no rate for it; the message lists those it has.
        """
        try:
            return self.rates[dtype]
        except KeyError:
            known = ", ".join(self.rates)
            raise UnknownDtype(f"{self.name} has no rate for {dtype!r}: take {known}") from None

    def attainable(self, intensity: float, dtype: str) -> float:
        """The roof: operations a second that ``intensity`` operations for each byte allow."""
        return min(self.rate(dtype), intensity * self.bandwidth)

    def ridge(self, dtype: str) -> float:
        """Operations for each byte at which memory and arithmetic are both fully busy."""
        return self.rate(dtype) / self.bandwidth


A100 = Machine(
    name="A100",
    rates={
        "fp64": 9.7e12,
        "fp32": 19.5e12,
        "tf32": 156e12,
        "bf16": 312e12,
        "fp16": 312e12,
        "int8": 624e12,
    },
    bandwidth=1935e9,
    memory=80e9,
    clock=1410e6,
    source="NVIDIA A100 80GB PCIe data sheet; tensor cores from TF32 down, no sparsity",
)
H100 = Machine(
    name="H100",
    rates={
        "fp64": 34e12,
        "fp32": 67e12,
        "tf32": 494.5e12,
        "bf16": 989e12,
        "fp16": 989e12,
        "fp8": 1979e12,
        "int8": 1979e12,
    },
    bandwidth=3350e9,
    memory=80e9,
    clock=1830e6,
    source="NVIDIA H100 SXM data sheet; tensor cores from TF32 down, no sparsity (half of what "
    "is printed there)",
)
#: 512 CUDA cores and 16 tensor cores at 625 MHz. Its "20 TOPS" are INT8 with half of the
#: weights zero; dense INT8 is half of that, and each wider type half of the one before.
ORIN_NANO = Machine(
    name="Jetson Orin Nano",
    rates={
        "fp32": 512 * 2 * 625e6,
        "tf32": 2.5e12,
        "bf16": 5e12,
        "fp16": 5e12,
        "int8": 10e12,
    },
    bandwidth=34e9,
    memory=4e9,
    clock=625e6,
    source="NVIDIA Jetson Orin Nano 4GB data sheet (20 sparse INT8 TOPS, 34 GB/s)",
)
MACHINES: Mapping[str, Machine] = MappingProxyType(
    {"A100": A100, "H100": H100, "Jetson Orin Nano": ORIN_NANO}
)
