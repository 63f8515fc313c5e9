"""What is right in the tasks, and what a wrong answer was probably thinking."""

from __future__ import annotations

from lab_utils.kit.task import Case, Finding


def judge_operations(case: Case, answer: float) -> list[Finding]:
    """Task 1.1."""
    wanted = case.wanted["operations"]
    if answer == wanted:
        return []
    m, k, n = (case.given[name] for name in ("m", "k", "n"))
    look = "Write out one number of the result, and count."
    if answer == m * k * n:
        look = "These are the multiplications; the additions are missing."
    elif answer == 2 * m * k * n:
        look = "A sum of k products has k - 1 additions."
    return [Finding(f"{answer:,g} operations", f"{wanted:,} operations", look)]


JUDGE = {"1.1": judge_operations}
