"""Shows in a notebook what was answered, beside what is wanted."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.kit.judge import Verdict
from lab_utils.kit.task import Case, Reply, Show


def show(draw: Show, cases: Sequence[Case], replies: Sequence[Reply], verdict: Verdict) -> None:
    """Draw the first case that went wrong, or else the first one."""
    if not cases or not in_notebook():
        return
    wrong = [place for place in range(len(cases)) if verdict.found[place][1]]
    place = wrong[0] if wrong else 0
    if "answer" not in replies[place]:
        return
    try:
        figure = draw(cases[place], replies[place]["answer"])
    except Exception:  # a wrong answer may be beyond drawing; the verdict tells it in words
        return
    if figure is not None:
        from IPython.display import display

        display(figure)


def in_notebook() -> bool:
    """Whether there is a page that could show a picture."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")
