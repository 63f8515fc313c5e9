"""What is right in notebook 3, models of memory and time.

No formula stands here. A case brings what is right, and what each usual slip would answer; the
sentence that belongs to a slip is below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Case, Finding, Judge
from lab_utils.labs.lab3b.judge.plans import judge_best, judge_largest, judge_yaml

#: By task and slip.
LOOK: dict[str, dict[str, str]] = {
    "3.1": {
        "": "Stage by stage: its layers, then what only the first and the last stage have.",
        "unpadded": "The table of words is padded: to the next multiple of 128 times tp.",
        "pad 128": "You pad to a multiple of 128: with tensor parallel it is 128 times tp.",
        "pad tp": "You pad to a multiple of tp: it is 128 times tp.",
        "no biases": "Every linear has a bias: 3 width, width, hidden and width in a layer.",
        "no norms": "Each LayerNorm has a weight and a bias: two norms a layer, one at the end.",
        "no positions": "The first stage also has a table of positions: context by width.",
        "no copy": "The last stage needs the table of words as its head. With pp > 1 the first "
        "stage has it too: there are two copies.",
        "everywhere": "Only the first and the last stage have the table of words.",
        "second table": "The head is the table of words itself: on one stage it counts once.",
        "whole": "You split nothing: tp ranks share the table of words and the four matrices.",
        "all split": "You split everything: norms, positions and the biases of the row parallel "
        "linears are on every rank.",
        "positions": "The table of positions is not split: every rank has all of it.",
        "row bias": "The biases of the row parallel linears (out, down) are whole on every rank.",
        "column bias": "The biases of the column parallel linears (qkv, up) are split as well.",
        "four": "You take hidden as four times width: use model.hidden.",
    },
    "3.2": {
        "": "Go through the table line by line: how many numbers, how many bytes, split or not.",
        "masks": "A dropout mask takes one byte for each number, whatever the dtype.",
        "no masks": "Dropout keeps its mask: one byte for each number, three times in a layer.",
        "no statistics": "Each LayerNorm keeps a mean and a deviation for every token: two "
        "numbers of 4 bytes.",
        "statistics": "What a LayerNorm keeps for a token (mean, deviation) is FP32 always.",
        "all split": "You split everything by tp: without sequence parallel the norms, their "
        "outputs and two dropout masks are whole on every rank.",
        "whole": "You split nothing by tp: heads and hidden numbers are shared by the ranks.",
        "not sequence": "With sequence parallel each rank also has only its share of the tokens "
        "in norms and dropouts.",
        "scores": "The scores before the softmax are not kept: its backward needs its output.",
        "no qkv": "Selective recomputation needs queries, keys and values: they are kept.",
        "four": "You take hidden as four times width: use model.hidden.",
        "four bytes": "You take 4 bytes for every number: ask item_bytes(dtype).",
        "two bytes": "You take 2 bytes for every number: ask item_bytes(dtype).",
        "not again": "You forget what is made again: it need not be kept.",
        "whole layer": "Selective recomputation drops the core of attention alone, not the layer.",
        "core alone": "Full recomputation drops everything but the input of the layer.",
        "one head": "Every head has softmax, mask and dropout output of its own.",
        "one gelu": "Both are kept: what enters GELU, and what leaves it (down's input).",
    },
    "3.3": {
        "": "State: 16 bytes a parameter. Kept: layers, micro-batches in flight, the layer in "
        "work. Logits: three buffers, in the last stage.",
        "weights": "These are the weights alone: gradients and two moments are as large each.",
        "no moments": "AdamW's two moments are missing: 4 bytes each for every parameter.",
        "no gradients": "The gradients are missing: 4 bytes for every parameter.",
        "18": "16 bytes: the kinds of mixed precision that keep more are not meant here.",
        "zero": "You share the state among the replicas (as ZeRO does): here each has all of it.",
        "all in flight": "You keep all micro-batches (as GPipe does): under 1F1B a stage has at "
        "most as many in flight as there are stages from it to the end.",
        "one in flight": "Several micro-batches are in flight: the first stage has gone forward "
        "with more of them before one comes back.",
        "stages": "Not every stage has pp micro-batches in flight: the last one has 1.",
        "turned round": "The stages are turned round: the first one has most in flight.",
        "no work": "The layer in work is missing: what it makes again lives while it is worked on.",
        "no saving": "Only one layer at a time is whole again: the others keep what the plan says.",
        "all layers": "A stage has only its own layers: model.layers divided by pp.",
        "no micro": "One micro-batch goes through at a time: divide the share by micro_batches.",
        "whole batch": "A replica has only its share of the batch: batch divided by dp.",
        "one buffer": "Three buffers are alive: logits, their softmax, their gradient.",
        "logits dtype": "The loss works in FP32 whatever the dtype: 4 bytes a logit.",
        "unpadded": "There is a logit for each padded word: the table's rows, as in task 3.1.",
        "logits whole": "The logits are split by tp, as the table of words is.",
        "every stage": "Only the last stage has logits: the others have 0.",
    },
    "3.4": {
        "": "A product is 2 M N K. Forward, then twice as much backward, then what runs again.",
        "forward": "This is the forward pass alone: backward takes two products for each one.",
        "twice": "Backward has two products for each one of forward: for input and weight.",
        "macs": "You count a multiplication and its addition as one: FLOPs count both.",
        "causal": "You count half of the scores: the product computes all, the mask comes later.",
        "not again": "You forget what runs again in backward.",
        "all again": "Selective recomputation runs the core of attention again, nothing else.",
        "core again": "Full recomputation runs all of a layer's forward again.",
        "whole": "tp ranks share every product: this is the work of all of them.",
        "whole batch": "A replica has only its share of the batch: batch divided by dp.",
        "all micro": "The work for one micro-batch is asked for, not for all of them.",
        "all layers": "A stage has its own layers only, and the head is in the last one.",
        "no head": "The head is missing: in the last stage every token meets the table of words.",
        "every head": "Only the last stage has the head.",
        "unpadded": "The head has as many columns as the padded table of words has rows.",
        "head again": "The head is no layer: it does not run again.",
    },
    "3.5": {
        "": "Stages, each with its all-reduces; the pipeline; then gradients and table of words.",
        "pipeline": "You divide by pp: stages wait for each other. All of them once, then the "
        "slowest for each further micro-batch.",
        "no bubble": "The pipeline has to fill: the first micro-batch goes through all stages.",
        "no overlap": "Stages work at the same time: a further micro-batch costs the slowest "
        "stage, not all of them.",
        "forward messages": "Backward has two all-reduces a layer as well: four in all.",
        "no all-reduce": "Tensor parallel ranks meet four times a layer: those are all-reduces.",
        "no ends": "The embedding (first stage) and the head (last stage) have one all-reduce "
        "each.",
        "no gradients": "Replicas add up their gradients once a step: an all-reduce of 4 bytes a "
        "parameter.",
        "no table": "With pp > 1 the two copies of the table of words must stay equal: their "
        "gradients meet in an all-reduce of two ranks.",
        "no messages": "Stages send what they made to the next one: 2 (pp - 1) messages.",
        "one way": "Gradients go back from stage to stage: messages in both directions.",
        "one message": "An all-reduce is more than a message: a ring takes 2 (n - 1) steps with "
        "1/n of the bytes each.",
        "whole chunks": "A step of the ring carries 1/n of the bytes, not all of them.",
        "half a ring": "A ring goes round twice: to add up, and to hand out.",
        "one latency": "Every step of the ring pays the latency, 2 (n - 1) times.",
        "same share": "Attention reaches another share of the rate: cluster.attention.",
        "best": "No card reaches its rate: use cluster.dense and cluster.attention.",
        "not again": "Full recomputation runs forward again, with its two all-reduces a layer.",
    },
    "3.9": {
        "": "Time on one card divided by time with the plan, nothing paid for communication.",
        "ideal": "This is the number of cards: a pipeline is idle while it fills and drains.",
        "bubble": "This is the bubble, the share of time that is lost: 1 minus that is of use.",
        "no replicas": "dp replicas share the batch: they are dp times as fast.",
        "no pipeline": "Stages do work at the same time once there are several micro-batches.",
        "over m": "A step takes m + pp - 1 beats of one stage; one card would need m times pp.",
        "bubble over work": "pp - 1 beats are lost of m + pp - 1, not of m.",
    },
}


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal but for rounding."""
    return isclose(one, other, rel_tol=1e-7, abs_tol=1e-12)


Place = tuple[str, int]
"""A part, and the stage."""


def _slips(case: Case, wrong: Mapping[Place, float]) -> dict[Place, str]:
    """For each wrong number the slip that gives it: the one that explains most, and says least."""
    ranked = []
    for place, (name, parts) in enumerate(case.wanted["slips"]):
        says = {
            (part, stage): value
            for part, values in parts.items()
            for stage, value in enumerate(values)
            if value is not None
        }
        explains = [at for at, mine in wrong.items() if at in says and same(says[at], mine)]
        ranked.append((-len(explains), len(says), place, str(name), explains))
    found: dict[Place, str] = {}
    for *_, name, explains in sorted(ranked):
        found.update({at: name for at in explains if at not in found})
    return found


def _judge(task: str, unit: str) -> Judge:
    """Numbers by part and stage; places with the same cause are told once."""

    def judge(case: Case, answer: Mapping[str, Sequence[float]]) -> list[Finding]:
        wanted: Mapping[str, Sequence[float]] = case.wanted["parts"]
        wrong = {
            (part, stage): answer[part][stage]
            for part, values in wanted.items()
            for stage, right in enumerate(values)
            if not same(answer[part][stage], right)
        }
        slips = _slips(case, wrong)
        by_look: dict[str, list[Place]] = {}
        for at in wrong:
            by_look.setdefault(LOOK[task][slips.get(at, "")], []).append(at)
        found = []
        for look, places in by_look.items():
            part, stage = places[0]
            where = f"stage {stage}, " if len(wanted[part]) > 1 else ""
            more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
            yours, right = (_told(one[part][stage], unit) for one in (answer, wanted))
            found.append(Finding(f"{where}{part}: {yours}{more}", f"{where}{part}: {right}", look))
        return found

    return judge


def _told(value: float, unit: str) -> str:
    words = f"{value:,}" if isinstance(value, int) else f"{value:.8g}"
    return f"{words} {unit}".strip()


_JUDGE: dict[str, Judge] = {
    "3.1": _judge("3.1", "parameters"),
    "3.2": _judge("3.2", "bytes"),
    "3.3": _judge("3.3", "bytes"),
    "3.4": _judge("3.4", "FLOPs"),
    "3.5": _judge("3.5", "s"),
    "3.6": judge_best,
    "3.7": judge_largest,
    "3.8": judge_yaml,
    "3.9": _judge("3.9", ""),
}
JUDGE: dict[str, Judge] = {task: judged_in_parts(judge) for task, judge in _JUDGE.items()}
