"""What is right in notebook 2, collectives and a training job."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.lab4b.judge.job_numbers import (
    judge_memory,
    judge_seconds,
    judge_stage,
    judge_traffic,
)
from lab_utils.labs.lab4b.judge.job_schedules import judge_dimensions, judge_schedule
from lab_utils.labs.lab4b.judge.job_search import (
    judge_best,
    judge_strategies,
    judge_turning,
    judge_winner,
    judge_yml,
)

JUDGE: dict[str, Judge] = {
    "2.1": judged_in_parts(judge_schedule),
    "2.2": judged_in_parts(judge_schedule),
    "2.3": judged_in_parts(judge_dimensions),
    "2.4": judged_in_parts(judge_seconds),
    "2.5": judged_in_parts(judge_traffic),
    "2.6": judged_in_parts(judge_memory),
    "2.7": judged_in_parts(judge_strategies),
    "2.8": judged_in_parts(judge_best),
    "2.9": judged_in_parts(judge_turning),
    "2.10": judged_in_parts(judge_yml),
    "2.11": judged_in_parts(judge_winner),
    "2.12": judged_in_parts(judge_stage),
}
