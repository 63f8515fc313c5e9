"""What is right in the tasks of Lab 3A: PyTorch's own interpreter and shapes say it."""

from __future__ import annotations

from lab_utils.kit.task import Judge
from lab_utils.labs.lab3a.judge.graphs import judge_argument, judge_transform
from lab_utils.labs.lab3a.judge.propagation import judge_latencies, judge_timed, judge_values
from lab_utils.labs.lab3a.judge.tables import judge_heavy, judge_table

JUDGE: dict[str, Judge] = {
    "1.1": judge_transform,
    "1.2": judge_argument,
    "1.3": judge_timed,
    "1.4": judge_values,
    "1.5": judge_latencies,
    "1.6": judge_heavy,
    "1.7": judge_table,
}
