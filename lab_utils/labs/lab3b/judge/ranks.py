"""What is right in notebook 1, ranks, collectives and tensor parallel."""

from __future__ import annotations

from lab_utils.kit.task import Judge
from lab_utils.labs.lab3b.judge.heads import judge_dropout, judge_shard
from lab_utils.labs.lab3b.judge.ring import judge_all_gather, judge_reduce_scatter
from lab_utils.labs.lab3b.judge.tensor_parallel import judge_block, judge_column, judge_row

JUDGE: dict[str, Judge] = {
    "1.1": judge_reduce_scatter,
    "1.2": judge_all_gather,
    "1.3": judge_column,
    "1.4": judge_row,
    "1.5": judge_shard,
    "1.6": judge_dropout,
    "1.7": judge_block,
}
