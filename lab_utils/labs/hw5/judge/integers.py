"""What is right in notebook 5, a network in integers."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.hw5.judge.layers import (
    judge_accumulate,
    judge_forward,
    judge_net,
    judge_requantize,
)
from lab_utils.labs.hw5.judge.scales import judge_bias, judge_fixed_point, judge_multiplier

JUDGE: dict[str, Judge] = {
    "5.1": judged_in_parts(judge_multiplier),
    "5.2": judged_in_parts(judge_fixed_point),
    "5.3": judged_in_parts(judge_requantize),
    "5.4": judged_in_parts(judge_accumulate),
    "5.5": judge_forward,
    "5.6": judged_in_parts(judge_bias),
    "5.7": judge_net,
}
