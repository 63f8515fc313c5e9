"""What is right in notebook 1, a mesh and the messages on it."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.lab4b.judge.links import judge_connect
from lab_utils.labs.lab4b.judge.log import judge_log
from lab_utils.labs.lab4b.judge.own_routes import judge_own_routes
from lab_utils.labs.lab4b.judge.routes import judge_route
from lab_utils.labs.lab4b.judge.times import judge_arrivals
from lab_utils.labs.lab4b.judge.waits import judge_circle

JUDGE: dict[str, Judge] = {
    "1.1": judged_in_parts(judge_connect),
    "1.2": judge_route,
    "1.3": judged_in_parts(judge_circle),
    "1.4": judged_in_parts(judge_arrivals),
    "1.5": judge_own_routes,
    "1.6": judge_log,
}
