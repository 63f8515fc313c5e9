"""Makes the cases and the picture of Lab 0; ``make notebooks`` writes them.

How many bytes are right, numpy says: it is not our formula that judges.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autograder.authoring.derived import CaseData, Files, case_files, in_parts
from lab_utils.labs.lab0.model import tiny_model
from lab_utils.labs.lab0.show import Strip, squares

Tensor = tuple[tuple[int, ...], str]

PUBLIC: dict[str, Tensor] = {
    "a matrix: (2, 3), float32": ((2, 3), "float32"),
    "a vector: (4,), float16": ((4,), "float16"),
    "three tiny pictures: (3, 2, 2), int8": ((3, 2, 2), "int8"),
    "more than any computer holds: (10**6, 10**6, 1000), float32": (
        (10**6, 10**6, 1000),
        "float32",
    ),
}
#: The corners of the task's text, and sizes that no public case has, several in each case: who
#: forgets one of them, or what a truth takes, or that most elements have several bytes, loses half.
#: No tensor stands in two corners in which a slip gives the same number: it has to be told of one.
HIDDEN: dict[str, list[Tensor]] = {
    "a single number, and a mask": [((), "float32"), ((7, 9), "bool"), ((31, 17), "float16")],
    "a batch of nothing, and a mask for each head": [
        ((5, 0, 3), "float64"),
        ((2, 16, 33, 33), "bool"),
        ((3, 5, 7), "float16"),
    ],
    "a single digit, a truth for each word, and a model that nobody has trained": [
        ((), "int8"),
        ((23,), "bool"),
        ((96, 4, 12_288, 49_152), "float16"),
    ],
    "an empty list, and who has ever met whom": [
        ((0,), "int64"),
        ((6, 11), "float64"),
        ((10**9, 10**9), "bool"),
    ],
    "a single word, and a column of truths": [
        ((), "int64"),
        ((29, 1), "bool"),
        ((13, 21), "int64"),
    ],
    "an empty mask, and a matrix that fits nowhere": [
        ((3, 0), "bool"),
        ((41,), "bool"),
        ((10**7, 10**8), "float64"),
    ],
}


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    table = {name: [array.size, array.nbytes] for name, array in tiny_model().items()}
    public = {
        "1.1": [_case(name, tensor) for name, tensor in PUBLIC.items()],
        "1.2": [{"name": "the file to hand in", "given": {}, "wanted": {"rows": table}}],
    }
    hidden = {
        "1.1": [
            in_parts(name, [_case("", tensor) for tensor in tensors])
            for name, tensors in HIDDEN.items()
        ]
    }
    return {
        **case_files("lab0", public, hidden),
        Path("solutions/lab0/images/bytes.svg"): _picture(),
    }


def counted(shape: tuple[int, ...], dtype: str) -> int:
    """The bytes of a tensor by numpy's own count; nothing of that size is made."""
    whole = as_strided(np.zeros((), dtype), shape, (0,) * len(shape))
    return int(whole.nbytes)


def _case(name: str, tensor: Tensor) -> CaseData:
    shape, dtype = tensor
    given = {"shape": list(shape), "dtype": dtype}
    return {"name": name, "given": given, "wanted": {"nbytes": counted(shape, dtype)}}


def _picture() -> str:
    """Six numbers in three dtypes, a square a byte."""
    sizes = {dtype: np.zeros((2, 3), dtype) for dtype in ("float32", "float16", "bool")}
    strips = [
        Strip(f"2 × 3 elements of {dtype}: {a.nbytes} bytes", a.nbytes, a.itemsize)
        for dtype, a in sizes.items()
    ]
    return squares(strips).svg
