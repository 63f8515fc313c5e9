"""The verdict on two graphs, by the parts of the lab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab_utils.kit.task import Finding

#: The parts of the lab, and what each of them asks for.
PARTS = {
    "A-1": "the clones rebuild what was dropped, from kept values only",
    "A-2": "backward reads the clones, forward does not, and every value is the same",
    "A-3": "the clones wait until backward reaches them",
}


@dataclass(frozen=True)
class PairVerdict:
    """What is wrong with each part, peaks in ``unit`` (bytes, or values for a drawing).

    ``hints`` are worth a word, and cost nothing.
    """

    findings: dict[str, tuple[Finding, ...]]
    peaks: dict[str, int]
    unit: str
    differences: str
    hints: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not any(self.findings.values())

    def as_dict(self) -> dict[str, Any]:
        """Plain data under stable names, for JSON."""
        return {
            "passed": self.passed,
            "parts": {
                part: {
                    "passed": not found,
                    "findings": [vars(one) for one in found],
                }
                for part, found in self.findings.items()
            },
            "peaks": self.peaks,
            "unit": self.unit,
            "differences": self.differences,
            "hints": list(self.hints),
        }

    def __str__(self) -> str:
        lines = []
        for part, found in self.findings.items():
            lines.append(f"{part}  {'passed' if not found else 'FAILED'}: {PARTS[part]}")
            lines += [str(one) for one in found[:3]]
            if len(found) > 3:
                lines.append(f"  … and {len(found) - 3} more like this")
        lines += [f"peak, {name}: {held:,} {self.unit}" for name, held in self.peaks.items()]
        lines += [f"hint: {hint}" for hint in self.hints]
        if self.differences:
            lines += ["beside the reference:", *(f"  {x}" for x in self.differences.splitlines())]
        return "\n".join(lines)
