"""The tables of the course as the oracles fill them: by running, by counting, on an exact clock."""

from __future__ import annotations

import tempfile
from pathlib import Path

from autograder.labs.lab1b.build import elements
from autograder.labs.lab1b.fusion import Moved, moved_by_running, seconds_by_clock
from autograder.labs.lab1b.numbers import counted_bytes, counted_flops
from lab_utils.instruments.roofline import A100
from lab_utils.labs.lab1b.models import Op, course_chain, transformer_layer
from lab_utils.labs.lab1b.tables import FILES, write_fusion, write_tiling, write_types

_GEMMS = [(1024, 128, 512), (128, 256, 128), (1024, 512, 256)]


def tables() -> dict[str, bytes]:
    """The eleven files that a right hand-in has, by name."""
    with tempfile.TemporaryDirectory() as folder:
        _write_all(Path(folder))
        return {file.name: (Path(folder) / file.name).read_bytes() for file in FILES}


def _write_all(home: Path) -> None:
    _fused(
        home / "output_b1.csv", *course_chain(), [["gemm1", "gemm2", "gemm3"], ["gemm4", "gemm5"]]
    )
    _fused(home / "output_b2.csv", *transformer_layer(), [["logit", "softmax", "attend"]])
    for letter, keep in zip("abc", "ABC", strict=True):
        file = str(home / f"output_b3{letter}.csv")
        write_tiling(file, (4096, 1024, 6144), (4, 2, 3), keep, elements)
    for letter, stored in zip("abc", ("int8", "bf16", "fp64"), strict=True):
        write_types(str(home / f"output_b4{letter}.csv"), _GEMMS, stored, "bf16", A100, _times)
    for letter, both in zip("abc", ("int8", "fp32", "fp64"), strict=True):
        write_types(str(home / f"output_b5{letter}.csv"), _GEMMS, both, both, A100, _times)


def _fused(file: Path, ops: list[Op], nbytes: dict[str, int], groups: list[list[str]]) -> None:
    moved: Moved = moved_by_running(ops, nbytes, groups)

    def seconds(op: Op) -> float:
        return float(seconds_by_clock([op], moved, A100.rate("bf16"), A100.bandwidth))

    write_fusion(str(file), ops, groups, moved, seconds)


def _times(
    shape: tuple[int, int, int],
    stored: str,
    computed: str,
    rates: dict[str, float],
    bandwidth: float,
) -> tuple[float, float]:
    return counted_flops(shape) / rates[computed], counted_bytes(shape, stored) / bandwidth
