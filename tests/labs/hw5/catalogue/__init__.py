"""Cells that students might write in Homework 5, a module for each notebook."""

from __future__ import annotations

_BELOW = "a double below what int32 holds becomes -2**31 here, clamped or not"
_CUT = "it repeats the order once more, and what is too much is cut off at the end"
_FACTORS = "a product has the same value in any order, but for its last digit"
_HOOKS = "hooks are removed in any order"
_PROFILE = ("4.8", "4.9", "4.10")
_ORDER = "a table has the same cells in any order"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("1.1", "(('warm-up', 'timed'))", "these are only names: there are two epochs"),
    ("1.1", "seconds = 1.0", "it starts again from 0 in each epoch"),
    ("1.1", "in reversed(list(batches()))", "the steps of an epoch take as long in any order"),
    ("1.7", "the other way round", _ORDER),
    ("1.8", "the other way round", _ORDER),
    ("2.3", "the other way round", "hooks, buckets and what is in them come in any order"),
    ("2.3", "strict=False", "there are as many parts as gradients"),
    ("3.4", "order[:each * ranks + len(order)]", _CUT),
    ("3.4", "order += order[:each * ranks]", _CUT),
    ("3.6", "the other way round", "a log is added up in any order"),
    ("4.2", "size <= step / 2", "exactly half a step may go either way"),
    ("4.2", "without int", "a tensor of one number is that number"),
    *((task, "reversed(list(handles))", _HOOKS) for task in _PROFILE),
    *((task, "in reversed(list(sums.items()))", _ORDER) for task in _PROFILE),
    ("5.1", "reversed(list(earlier))", _FACTORS),
    ("5.6", "reversed(list(earlier))", _FACTORS),
    ("5.6", "2 ** 31 - 2)", "floats of 24 bits, which are allowed, do not tell them apart"),
    ("5.6", "clamp(-3 ** 31,", _BELOW),
    ("5.6", "clamp(-2 ** 32,", _BELOW),
    ("5.7", "strict=False", "there are as many of each as layers"),
)
"""Mutants of our solutions that are right as well: task, part of the changed line, the reason."""
