"""What is right in the tasks of the project."""

from lab_utils.kit.task import Judge
from lab_utils.labs.project.judge.candidates import (
    judge_candidates,
    judge_describe,
    judge_rebuild,
)
from lab_utils.labs.project.judge.experiments import (
    judge_analyse,
    judge_baseline,
    judge_latency,
    judge_recompute,
    judge_recomputed,
)
from lab_utils.labs.project.judge.greedy import judge_choose, judge_simulate, judge_update

JUDGE: dict[str, Judge] = {
    "5.1": judge_candidates,
    "5.2": judge_rebuild,
    "5.3": judge_describe,
    "5.4": judge_update,
    "5.5": judge_simulate,
    "5.6": judge_choose,
    "6.1": judge_analyse,
    "6.2": judge_baseline,
    "6.3": judge_recompute,
    "6.4": judge_recomputed,
    "6.5": judge_latency,
}
