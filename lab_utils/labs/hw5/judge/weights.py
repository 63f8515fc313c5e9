"""What is right in notebook 4, weights and what enters the layers."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.hw5.judge.profiles import judge_held, judge_profile, judge_tidy
from lab_utils.labs.hw5.judge.ranges import judge_lost, judge_range
from lab_utils.labs.hw5.judge.rounding import (
    judge_channels,
    judge_clipped,
    judge_quantized,
    judge_weights,
)

JUDGE: dict[str, Judge] = {
    "4.1": judged_in_parts(judge_range),
    "4.2": judged_in_parts(judge_lost),
    "4.3": judged_in_parts(judge_quantized),
    "4.5": judged_in_parts(judge_weights),
    "4.6": judged_in_parts(judge_clipped),
    "4.7": judged_in_parts(judge_channels),
    "4.8": judge_profile,
    "4.9": judge_tidy,
    "4.10": judge_held,
}
