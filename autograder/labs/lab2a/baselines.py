"""What a learned model is measured against: the mean, the formula, a tree without physics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lab_utils.instruments.systolic.designs import DATAFLOWS, Design


def error(predicted: Sequence[float], cycles: Sequence[float]) -> float:
    """Mean relative error in per cent."""
    right = np.asarray(cycles, dtype=float)
    return float(100 * np.mean(np.abs(np.asarray(predicted) - right) / right))


def plain_tree(
    known: Sequence[Design], cycles: Sequence[float], asked: Sequence[Design]
) -> list[float]:
    """A decision tree on the numbers of the file, the dataflow as a number."""
    from sklearn.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor(random_state=0).fit(_plain(known), cycles)
    return [float(one) for one in tree.predict(_plain(asked))]


def _plain(designs: Sequence[Design]) -> list[list[int]]:
    return [[*design[:-1], DATAFLOWS.index(design.dataflow)] for design in designs]


def errors(
    known: Sequence[Design],
    cycles: Sequence[float],
    asked: Sequence[Design],
    right: Sequence[float],
    formula: Sequence[float],
) -> dict[str, float]:
    """By name, how far off each is on the designs that are asked for."""
    mean = sum(cycles) / len(cycles)
    return {
        "mean": error([mean] * len(asked), right),
        "tree": error(plain_tree(known, cycles, asked), right),
        "formula": error(formula, right),
    }
