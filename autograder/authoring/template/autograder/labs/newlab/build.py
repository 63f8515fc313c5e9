"""Makes the cases of the lab; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import CaseData, Files, case_files

PUBLIC = {"2 x 3 times 3 x 2": (2, 3, 2), "a row times a column": (1, 4, 1)}
HIDDEN = {"an outer product": (5, 1, 7), "a square": (6, 6, 6), "a long one": (3, 29, 2)}


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public, hidden = ([_case(*case) for case in cases.items()] for cases in (PUBLIC, HIDDEN))
    return case_files("newlab", {"1.1": public}, {"1.1": hidden})


def counted(m: int, k: int, n: int) -> int:
    """What is right comes from something that is not the formula: here, from doing it."""
    operations = 0
    for _row in range(m):
        for _column in range(n):
            for place in range(k):
                operations += 1 if place == 0 else 2  # a product; then a product and a sum
    return operations


def _case(name: str, sizes: tuple[int, int, int]) -> CaseData:
    given = dict(zip("mkn", sizes, strict=True))
    return {"name": name, "given": given, "wanted": {"operations": counted(*sizes)}}
