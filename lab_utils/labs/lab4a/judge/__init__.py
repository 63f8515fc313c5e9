"""What is right in the tasks of Lab 4A."""

from lab_utils.kit.task import Judge
from lab_utils.labs.lab4a.judge.files import judge_rewritten, judge_traced
from lab_utils.labs.lab4a.judge.inject import judge_inject, judge_recompute_set
from lab_utils.labs.lab4a.judge.profile import judge_classify, judge_lifetimes, judge_peak
from lab_utils.labs.lab4a.judge.profiler import judge_profiler
from lab_utils.labs.lab4a.judge.rewire import judge_rewire, judge_wait

JUDGE: dict[str, Judge] = {
    "1.1": judge_classify,
    "1.2": judge_lifetimes,
    "1.3": judge_profiler,
    "1.4": judge_peak,
    "1.5": judge_traced,
    "2.1": judge_recompute_set,
    "2.2": judge_inject,
    "3.1": judge_rewire,
    "4.1": judge_wait,
    "4.2": judge_rewritten,
}
