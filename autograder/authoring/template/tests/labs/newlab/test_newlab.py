"""The solution has full marks; mistakes lose points and are told why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.judged import verdict_of
from tests.support.solved_cells import functions_of

LAB = "newlab"
Function = Callable[[int, int, int], float]

WRONG: dict[str, tuple[Function, str]] = {
    "no additions": (lambda m, k, n: m * k * n, "the additions are missing"),
    "one addition too many": (lambda m, k, n: 2 * m * k * n, "has k - 1 additions"),
    "one row": (lambda m, k, n: n * (2 * k - 1), "count"),
}
RIGHT: dict[str, Function] = {
    "a loop": lambda m, k, n: sum(2 * k - 1 for _ in range(m * n)),
    "products, then sums": lambda m, k, n: m * n * k + m * n * (k - 1),
    "a float": lambda m, k, n: float(m * n * (2 * k - 1)),
}


def test_the_solution_has_full_marks() -> None:
    own = functions_of(LAB)["product_operations"]
    verdict = verdict_of(LAB, "1.1", own)
    assert verdict.passed, verdict


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named(name: str) -> None:
    function, says = WRONG[name]
    verdict = verdict_of(LAB, "1.1", function)
    assert verdict.points < verdict.task.points
    assert says in str(verdict)


@pytest.mark.parametrize("name", RIGHT)
def test_another_way_is_right_too(name: str) -> None:
    verdict = verdict_of(LAB, "1.1", RIGHT[name])
    assert verdict.passed, verdict
