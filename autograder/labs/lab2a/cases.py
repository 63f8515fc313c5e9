"""A case as plain data, and names that do not tell what a hidden one holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograder.authoring.derived import CaseData


def case(name: str, given: dict[str, Any], **wanted: Any) -> CaseData:
    """One case; what is wanted may be nothing, where what is given says it all."""
    return {"name": name, "given": given, "wanted": wanted}


def numbered(cases: Iterable[CaseData], what: str, which: str) -> list[CaseData]:
    """Hidden cases under names that do not tell what they hold: feedback shows names."""
    made = list(cases)
    if which == "public":
        return made
    return [
        {**one, "name": f"{what} {number} of {len(made)}"} for number, one in enumerate(made, 1)
    ]
