"""What the packer found, in lines that a student can act on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from lab_utils.kit.task import plural


class Level(StrEnum):
    """How bad a finding is: FAIL keeps the packer from packing until it is told to."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


def points_in_words(points: float, bonus: float = 0) -> str:
    """``1 point``, ``0.75 points``, ``8 points and a bonus of 1``."""
    more = f" and a bonus of {bonus:g}" if bonus else ""
    return f"{points:g} point{'s' * (points != 1)}{more}"


@dataclass
class Report:
    """Findings in the order in which they were made, and points of the public checks."""

    lines: list[tuple[Level, str]] = field(default_factory=list)
    points: float = 0.0
    by_hand: float = 0.0
    """What is graded by a person."""
    possible: float = 0.0
    bonus: float = 0.0
    """What can be had beyond what is possible without it."""
    noun: str = "case"
    """What the lab calls a case."""
    has_run: bool = False

    def ok(self, text: str) -> None:
        """Something is as it should be."""
        self.lines.append((Level.OK, text))

    def warn(self, text: str) -> None:
        """Something costs points, or may."""
        self.lines.append((Level.WARN, text))

    def fail(self, text: str) -> None:
        """Something is not ready to be handed in."""
        self.lines.append((Level.FAIL, text))

    @property
    def ready(self) -> bool:
        """Whether nothing has failed."""
        return all(level is not Level.FAIL for level, _ in self.lines)

    def __str__(self) -> str:
        lines = [f"{level:4}  {text}" for level, text in self.lines]
        if self.has_run:
            checked = points_in_words(self.possible - self.by_hand, self.bonus)
            text = f"Public checks: {self.points:g} of {checked}."
            if self.by_hand:
                is_or_are = "is" if self.by_hand == 1 else "are"
                text += f" {points_in_words(self.by_hand)} {is_or_are} graded by hand."
            lines.append(f"{text} Grading uses other {plural(self.noun)} as well.")
        return "\n".join(lines)
