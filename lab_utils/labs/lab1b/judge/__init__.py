"""What is right in the tasks of Lab 1B, and what a wrong answer was probably thinking."""

from lab_utils.kit.task import Judge
from lab_utils.labs.lab1b.judge.fusion import judge_fusions, judge_time, judge_traffic
from lab_utils.labs.lab1b.judge.tiling import (
    judge_best_order,
    judge_better_order,
    judge_stationary,
    judge_tiles,
)
from lab_utils.labs.lab1b.judge.types import judge_gemm_times, judge_quantize

JUDGE: dict[str, Judge] = {
    "1.1": judge_traffic,
    "1.2": judge_time,
    "1.3": judge_fusions,
    "2.1": judge_stationary,
    "2.2": judge_better_order,
    "2.3": judge_best_order,
    "2.4": judge_tiles,
    "2.5": judge_gemm_times,
    "2.6": judge_quantize,
}
