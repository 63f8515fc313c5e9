"""What is right in Lab 2A, and what was misunderstood where it is not."""

from __future__ import annotations

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Judge
from lab_utils.labs.lab2a.judge import array, files, predict, search

JUDGE: dict[str, Judge] = {
    "1.1": array.judge_gemm,
    "1.2": judged_in_parts(array.judge_mapped),
    "1.3": judged_in_parts(array.judge_fold),
    "1.4": array.judge_cycles,
    "1.5": array.judge_efficiency,
    "2.1": files.judge_topology,
    "2.2": files.judge_config,
    "2.3": files.judge_totals,
    "2.4": judged_in_parts(search.judge_stalls),
    "2.5": search.judge_scores,
    "2.6": search.judge_best,
    "2.7": search.judge_swings,
    "2.8": search.judge_pareto,
    "3.1": predict.judge_error,
    "3.2": predict.judge_split,
    "3.3": predict.judge_predict,
}
