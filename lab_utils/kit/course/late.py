"""What lateness costs: the tables ``[late]`` and ``[labs.….late]`` of the course file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lab_utils.kit.course.toml_table import NUMBER, Table

DAY = timedelta(days=1)


@dataclass(frozen=True)
class LatePolicy:
    """How late is late, and what it costs."""

    grace: timedelta = timedelta(0)
    """What is handed in no later than this after the due date is in time."""
    percent_per_day: float = 0.0
    """Per cent of a lab's points that each day costs which has begun."""
    late_days: int = 0
    """Days of the whole course that cost a student nothing; the first ones are used up first."""
    cap: float = 100.0
    """The most that lateness costs, in per cent of the lab's points."""

    def days(self, uploaded: datetime, due: datetime) -> int:
        """Days by which something is late, a day that has begun being a whole one."""
        over = uploaded - due
        return 0 if over <= self.grace else math.ceil(over / DAY)

    def percent(self, days: int) -> float:
        """What so many days cost, in per cent of the lab's points."""
        return min(self.cap, self.percent_per_day * days)


def read_late(table: Table, course: LatePolicy | None = None) -> LatePolicy:
    """The policy in a table; of a lab, what is not said there is as in the ``course``.

    Raises:
        BadValue: a value is not what it must be.
    """
    of_lab = course is not None
    names = ("grace_minutes", "percent_per_day", "cap_percent")
    table.allow(*names, *(() if of_lab else ("late_days",)))
    policy = course or LatePolicy()
    for name in table.names:
        kind = int if name == "late_days" else NUMBER
        value = table.get(name, kind)
        most = 100 if name in ("percent_per_day", "cap_percent") else math.inf
        if not 0 <= value <= most:
            allowed = f"from 0 to {most}" if most < math.inf else "0 or more"
            raise table.bad(name, f"{name} = {value:g} must be {allowed}")
        if name == "grace_minutes":
            policy = replace(policy, grace=timedelta(minutes=value))
        elif name == "percent_per_day":
            policy = replace(policy, percent_per_day=value)
        elif name == "cap_percent":
            policy = replace(policy, cap=value)
        else:
            policy = replace(policy, late_days=value)
    return policy
