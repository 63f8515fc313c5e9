"""A check whose points count more or less, for a lab that borrows another one's notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[str, Any], float]


def scaled(check: Check, factor: float) -> Check:
    """``check``, with ``factor`` times its points."""

    def check_scaled(task_id: str, answer: Any) -> float:
        return round(factor * check(task_id, answer), 4)

    return check_scaled
