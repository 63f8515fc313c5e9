"""Machines and their roofs."""

from __future__ import annotations

import pickle
import time
from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.instruments.roofline import (
    A100,
    BYTES,
    H100,
    MACHINES,
    ORIN_NANO,
    Machine,
    UnknownDtype,
    item_bytes,
    measure,
)
from lab_utils.kit.errors import LabError


def test_the_figures_are_those_of_the_data_sheets() -> None:
    assert A100.rate("bf16") == 312e12
    assert A100.bandwidth == 1935e9
    assert H100.rate("bf16") / A100.rate("bf16") == pytest.approx(3.17, abs=0.01)
    assert ORIN_NANO.rate("fp32") == 0.64e12
    assert ORIN_NANO.memory == 4e9


@pytest.mark.parametrize("machine", MACHINES.values(), ids=lambda m: m.name)
def test_fewer_bits_are_never_slower(machine: Machine) -> None:
    for one, rate in machine.rates.items():
        assert all(rate <= r for other, r in machine.rates.items() if BYTES[other] < BYTES[one])


@given(st.sampled_from(list(MACHINES.values())), st.floats(1e-3, 1e6))
def test_the_roof_has_its_corner_at_the_ridge(machine: Machine, intensity: float) -> None:
    for dtype, rate in machine.rates.items():
        roof, ridge = machine.attainable(intensity, dtype), machine.ridge(dtype)
        assert roof <= rate
        assert (roof == rate) == (intensity * machine.bandwidth >= rate)
        assert machine.attainable(ridge, dtype) == pytest.approx(rate)


def test_an_unknown_type_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UnknownDtype, match="Jetson Orin Nano has no rate for 'fp64': take fp32"):
        ORIN_NANO.rate("fp64")
    with pytest.raises(LabError, match="no data type 'fp4': take one of fp64"):
        item_bytes("fp4")
    assert item_bytes("tf32") == 4


def test_a_machine_is_a_value() -> None:
    assert deepcopy(A100) == A100
    assert pickle.loads(pickle.dumps(A100)) == A100
    with pytest.raises(TypeError):
        A100.rates["bf16"] = 1  # type: ignore[index]
    with pytest.raises(LabError, match="above 0"):
        Machine("none", {"fp32": 1e9}, bandwidth=0, memory=1, clock=1)


def test_what_is_shorter_than_a_tick_of_the_clock_takes_some_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some processors' clocks stand still between ticks; a product took no time at all there."""
    real = time.process_time
    monkeypatch.setattr(measure.time, "process_time", lambda: round(real(), 3))
    assert 0 < measure._seconds(lambda: None, least=0.003) < 1e-3
