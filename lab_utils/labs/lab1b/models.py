"""Models as operators and the values between them, for the tasks about fusion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

Arrow = tuple[str, str]
"""Who makes a value, and who reads it: the names of two operators."""
_BF16 = 2  # bytes


class Op(NamedTuple):
    """An operator of a model."""

    name: str
    reads: tuple[str, ...]
    """The values that it needs: weights, inputs, what other operators make."""
    makes: str
    """The one value that it makes."""
    flops: float = 0.0


def arrows_of(ops: Sequence[Op]) -> list[Arrow]:
    """From each operator to each that reads what it makes, in the order of the model."""
    maker = {op.makes: op.name for op in ops}
    pairs = ((maker[v], op.name) for op in ops for v in op.reads if v in maker)
    return list(dict.fromkeys(pairs))


def groups_of(arrows: Iterable[Arrow]) -> list[list[str]]:
    """Operators that fused arrows join, directly or through others, as groups."""
    groups: list[list[str]] = []
    for pair in arrows:
        touched = [group for group in groups if set(pair) & set(group)]
        joined = list(dict.fromkeys([name for group in touched for name in group] + [*pair]))
        groups = [group for group in groups if group not in touched] + [joined]
    return groups


def course_chain() -> tuple[list[Op], dict[str, int]]:
    """Six matrix products in a row, as in the course's handout; bytes in bf16.

    The second makes many columns, which the third sums into one: a value that is large only
    between two operators.
    """
    shapes = [  # M, N, K
        (128, 128, 512),
        (128, 10240, 128),
        (128, 1, 10240),
        (128, 64, 1),
        (128, 128, 64),
        (128, 256, 128),
    ]
    ops, nbytes = [], {"x0": _BF16 * 128 * 512}
    for place, (m, n, k) in enumerate(shapes):
        weight, made = f"w{place}", f"x{place + 1}"
        ops.append(Op(f"gemm{place}", (f"x{place}", weight), made, 2.0 * m * n * k))
        nbytes |= {weight: _BF16 * k * n, made: _BF16 * m * n}
    return ops, nbytes


def transformer_layer(
    batch: int = 1, heads: int = 16, tokens: int = 1024, width: int = 1024
) -> tuple[list[Op], dict[str, int]]:
    """A transformer layer as the course draws it, on one arrow after the other; bytes in bf16.

    The product that makes queries, keys and values is cut in two, ``qk`` and ``v``, so that each
    operator makes one value.
    """
    rows, scores = batch * tokens, batch * heads * tokens * tokens
    wide = 4 * width
    ops = [
        Op("qk", ("x", "w_qk"), "queries_keys", 2.0 * rows * width * 2 * width),
        Op("v", ("x", "w_v"), "values", 2.0 * rows * width * width),
        Op("logit", ("queries_keys",), "scores", 2.0 * scores * (width // heads)),
        Op("softmax", ("scores",), "weights", 5.0 * scores),
        Op("attend", ("weights", "values"), "mixed", 2.0 * scores * (width // heads)),
        Op("project", ("mixed", "w_out"), "projected", 2.0 * rows * width * width),
        Op("ff1", ("projected", "w_ff1"), "hidden", 2.0 * rows * width * wide),
        Op("ff2", ("hidden", "w_ff2"), "y", 2.0 * rows * wide * width),
    ]
    narrow = _BF16 * rows * width
    nbytes = {
        **dict.fromkeys(("x", "values", "mixed", "projected", "y"), narrow),
        "queries_keys": 2 * narrow,
        "hidden": _BF16 * rows * wide,
        "scores": _BF16 * scores,
        "weights": _BF16 * scores,
        "w_qk": _BF16 * width * 2 * width,
        "w_v": _BF16 * width * width,
        "w_out": _BF16 * width * width,
        "w_ff1": _BF16 * width * wide,
        "w_ff2": _BF16 * wide * width,
    }
    return ops, nbytes
