"""What is right in the tasks of Lab 2B, and what a wrong answer was probably thinking."""

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.lab2b.judge.buffers import (
    judge_anomaly,
    judge_cycles,
    judge_misses,
    judge_two_levels,
)
from lab_utils.labs.lab2b.judge.designs import judge_top_ten
from lab_utils.labs.lab2b.judge.latency import judge_latency, judge_product
from lab_utils.labs.lab2b.judge.laws import judge_laws
from lab_utils.labs.lab2b.judge.rows import judge_row_stationary

JUDGE: dict[str, Judge] = {
    "1.1": judged_in_parts(judge_misses),
    "1.2": judged_in_parts(judge_two_levels),
    "1.3": judge_anomaly,
    "1.4": judged_in_parts(judge_cycles),
    "1.5": judged_in_parts(judge_top_ten),
    "2.1": judge_product,
    "2.2": judged_in_parts(judge_latency),
    "2.3": judged_in_parts(judge_row_stationary),
    "2.4": judged_in_parts(judge_laws),
}
