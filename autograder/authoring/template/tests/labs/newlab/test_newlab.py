"""The catalogue: wrong versions with words that they are told, right ones that look different."""

from __future__ import annotations

from lab_utils.labs.newlab import LAB
from tests.support.catalogue import Catalogue, NamedOnHidden, cell

WRONG = [
    cell(LAB, "1.1", "no additions", "return m * k * n", "the additions are missing"),
    cell(LAB, "1.1", "one addition too many", "return 2 * m * k * n", "has k - 1 additions"),
    cell(LAB, "1.1", "one row", "return n * (2 * k - 1)", "count"),
]
RIGHT = [
    cell(LAB, "1.1", "a loop", "return sum(2 * k - 1 for _ in range(m * n))"),
    cell(LAB, "1.1", "products, then sums", "return m * n * k + m * n * (k - 1)"),
    cell(LAB, "1.1", "a float", "return float(m * n * (2 * k - 1))"),
]


class TestCatalogue(NamedOnHidden):
    catalogue = Catalogue("newlab", WRONG, RIGHT)
