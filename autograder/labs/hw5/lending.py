"""Right versions of functions of part B, for tasks that call them: numpy and fractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case
from lab_utils.labs.hw5.judge import exact
from lab_utils.labs.hw5.judge.numbers import array_of

LENT: dict[str, tuple[str, ...]] = {
    "4.5": ("quantized",),
    "4.6": ("quantized",),
    "4.7": ("quantized",),
    "5.5": ("accumulate", "requantize"),
    "5.7": ("output_multiplier", "fixed_point", "quantized_bias"),
}
_MOST = 100_000  # numbers of one tensor: cases have fewer


def lend(name: str, _case: Case, arguments: Any) -> Any:
    """What a right version answers.

    Raises:
        LabError, TypeError, ValueError, KeyError: the arguments are none of an honest call.
    """
    if name == "quantized":
        values, scale = arguments
        return _told(exact.nearest(_array(values).astype(np.float64), scale), "int8")
    if name == "output_multiplier":
        return float(exact.multiplier_of(*arguments))
    if name == "fixed_point":
        (multiplier,) = arguments
        if not 2.0**-90 < multiplier < 2.0**30:
            raise LabError("no multiplier of any network")
        return list(exact.fixed_point_of(multiplier))
    if name == "requantize":
        acc, m0, shift = arguments
        if not 0 <= shift <= 120:
            raise LabError("a shift of another size")
        return _told(exact.requantized(_array(acc), m0, shift), "int8")
    if name == "accumulate":
        x, weight, bias, padding = arguments
        if not 0 <= padding <= 16:
            raise LabError("a padding of another size")
        offset = None if bias is None else _array(bias)
        return _told(exact.accumulated(_array(x), _array(weight), offset, padding), "int32")
    if name == "quantized_bias":
        bias, *scales = arguments
        found = exact.bias_exact(_array(bias).astype(np.float64), *scales)
        return _told(exact.within_int32(found), "int32")
    raise LabError(f"{name} is not lent")


def _array(data: Any) -> np.ndarray:
    if len(data["values"]) > _MOST:
        raise LabError("the tensor is too large")
    return array_of(data)


def _told(values: np.ndarray, dtype: str) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(values.shape), "values": values.reshape(-1).tolist()}
