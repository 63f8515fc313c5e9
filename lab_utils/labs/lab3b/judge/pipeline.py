"""What is right in notebook 2, pipeline and data parallel."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.lab3b.judge.replicas import judge_buckets, judge_overlap
from lab_utils.labs.lab3b.judge.schedules import judge_gpipe, judge_micros, judge_one_f_one_b
from lab_utils.labs.lab3b.judge.stage import judge_stage, judge_tied

JUDGE: dict[str, Judge] = {
    "2.1": judged_in_parts(judge_gpipe),
    "2.2": judged_in_parts(judge_one_f_one_b),
    "2.3": judged_in_parts(judge_micros),
    "2.4": judge_stage,
    "2.5": judge_tied,
    "2.6": judged_in_parts(judge_buckets),
    "2.7": judge_overlap,
}
