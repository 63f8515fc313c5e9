"""What is right in the searches of notebook 3, and in the files for Megatron."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.kit.words import size

Told = Sequence[Any]
"""A plan as plain data: tp, pp, dp, recompute."""

#: What somebody forgot whose largest model has this size.
LARGEST = {
    "weights": "You count 4 bytes a parameter: state takes 16.",
    "no activations": "You count the state alone: what layers keep must fit as well.",
    "no logits": "You leave the logits out: three buffers in the last stage.",
    "no recomputation": "You never recompute: selective recomputation makes room for more layers.",
    "sum": "You compare with the memory of all cards together: each rank must fit on its card.",
}


def _words(plan: Told) -> str:
    tp, pp, dp, recompute = plan
    return f"tp={tp}, pp={pp}, dp={dp}, recompute={str(recompute)[:20]!r}"


def _uneven(plan: Told, model: Mapping[str, Any], case: Case) -> str:
    """Why a plan is none for this case; empty if it is one."""
    tp, pp, dp, recompute = plan
    job, cards = case.given["job"], case.given["cluster"]["cards"]
    if tp * pp * dp != cards:
        return "tp times pp times dp is the number of cards: all of them work."
    if model["heads"] % tp or model["hidden"] % tp:
        return "tp must divide heads and hidden: ranks have equal shares."
    if model["layers"] % pp:
        return "pp must divide the layers: stages have equally many."
    if job["batch"] % (dp * job["micro_batches"]):
        return "dp times micro_batches must divide the batch."
    if recompute not in ("none", "selective"):
        return "Choose between 'none' and 'selective' here."
    return ""


def judge_best(case: Case, answer: Told | None) -> list[Finding]:
    """Task 3.6: no plan that fits is faster."""
    plans = {tuple(row[:4]): row[4:] for row in case.wanted["plans"]}
    memory = case.given["cluster"]["machine"]["memory"]
    fits = {plan: seconds for plan, (peak, seconds) in plans.items() if peak <= memory}
    if not fits:
        if answer is None:
            return []
        look = _uneven(answer, case.given["model"], case)
        look = look or "Every plan has a rank that is too full for its card: return None."
        return [Finding(_words(answer), "None", look)]
    best = min(fits, key=lambda plan: fits[plan])
    wanted = f"{_words(best)}: {fits[best]:.6g} s"
    if answer is None:
        return [Finding("None", wanted, "There is a plan whose every rank fits.")]
    plan = tuple(answer)
    if plan not in plans:
        look = _uneven(answer, case.given["model"], case) or "This is no plan for these cards."
        return [Finding(_words(answer), wanted, look)]
    peak, seconds = plans[plan]
    if plan not in fits:
        look = "It is fast, but a rank does not fit: look at the peak of every stage first."
        return [Finding(f"{_words(plan)}: {size(peak)} of {size(memory)}", wanted, look)]
    if seconds <= fits[best] * (1 + 1e-9):
        return []
    look = "A plan that fits as well is faster: try all of tp, pp, dp and both recompute."
    if plan[:3] == best[:3]:
        look = "It fits without recomputation: then running attention again only costs time."
    elif (*plan[:3], "none") in fits and plan[3] == "selective":
        look = "You recompute though it fits without: try both for every choice of degrees."
    elif peak == min(fit for fit, _ in plans.values()):
        look = "This plan takes the least memory: the fastest that fits is wanted."
    elif plan[3] == "none" and best[3] == "selective":
        look = "With recomputation another plan fits that is faster, recomputing included."
    return [Finding(f"{_words(plan)}: {seconds:.6g} s", wanted, look)]


def judge_largest(case: Case, answer: Sequence[Any] | None) -> list[Finding]:
    """Task 3.7: size and fit; which of several fitting plans is nobody's business."""
    layers, plans = case.wanted["layers"], [tuple(plan) for plan in case.wanted["plans"]]
    wanted = f"{layers} layers" if layers else "None"
    if answer is None:
        look = "A model of this many layers fits. Do you try recomputation, and every plan?"
        return [Finding("None", wanted, look)] if layers else []
    mine, plan = answer
    told = f"{mine} layers with {_words(plan)}"
    if not layers:
        return [Finding(told, wanted, "Not even the smallest one fits on these cards.")]
    step = case.given["step"]
    if mine <= 0 or mine % step:
        look = "The number of layers is a multiple of step, and above 0."
        return [Finding(told, wanted, look)]
    if mine != layers:
        known = [name for name, number in case.wanted["slips"].items() if number == mine]
        look = "A rank does not fit with so many." if mine > layers else "A larger one fits."
        return [Finding(told, wanted, LARGEST[known[0]] if known else look)]
    if tuple(plan) in plans:
        return []
    look = _uneven(plan, {**case.given["model"], "layers": mine}, case)
    look = look or "The size is right, but this plan does not hold it: a rank is too full."
    return [Finding(told, f"{wanted}, in a plan that holds them", look)]


SECTION = "megatron_lm_config"


def judge_yaml(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 3.8: what the file makes Megatron do."""
    wanted, section = case.wanted, answer.get(SECTION)
    found = []
    if not isinstance(section, dict):
        look = f"What is Megatron's stands below '{SECTION}:', indented by two blanks."
        return [Finding(f"there is no section {SECTION}", f"a section {SECTION}", look)]
    by_hand = [key for key in (*answer, *section) if "dp" in key or "data_parallel" in key]
    if by_hand:
        look = "Nobody sets dp: Megatron takes what num_processes leaves over tp times pp."
        found.append(Finding(f"{by_hand[0][:60]} is set", "no such key", look))
    if answer.get("distributed_type") != "MEGATRON_LM":
        look = "Without this line Accelerate does not use Megatron at all."
        found.append(_key("distributed_type", answer, "MEGATRON_LM", look))
    for key, right in wanted["inside"].items():
        if not _equal(section.get(key), right):
            found.append(_key(key, section, right, _section_look(key, section, right)))
    if not found and not _equal(answer.get("num_processes"), wanted["num_processes"]):
        found.append(_key("num_processes", answer, wanted["num_processes"], _processes(case)))
    if answer.get("mixed_precision") != wanted["mixed_precision"]:
        look = "The dtype of the job, as Accelerate calls it: 'no' for fp32, else bf16 or fp16."
        if answer.get("mixed_precision") is False:
            look = "In YAML a bare no is the truth value false: write 'no' in quotes."
        found.append(_key("mixed_precision", answer, wanted["mixed_precision"], look))
    return found


def _equal(mine: Any, right: Any) -> bool:
    """Equal, and of one kind: true is not 1."""
    return type(mine) is type(right) and bool(mine == right)


def _key(key: str, table: Mapping[str, Any], right: Any, look: str) -> Finding:
    yours = f"{key}: {str(table[key])[:60]!r}" if key in table else f"{key} is missing"
    return Finding(yours, f"{key}: {right!r}", look)


def _section_look(key: str, section: Mapping[str, Any], right: Any) -> str:
    mine = section.get(key)
    if isinstance(mine, str):
        return "This is text: numbers and true or false stand without quotes."
    if isinstance(right, bool) and mine is not None and not isinstance(mine, bool):
        return "true or false is wanted here, not a number."
    return {
        "megatron_lm_tp_degree": "The degree of tensor parallel is plan.tp.",
        "megatron_lm_pp_degree": "The degree of pipeline parallel is plan.pp.",
        "megatron_lm_num_micro_batches": "How many micro-batches there are, the job says.",
        "megatron_lm_recompute_activations": "true is Megatron's selective recomputation.",
        "megatron_lm_sequence_parallelism": "The plan says whether it is sequence parallel.",
    }[key]


def _processes(case: Case) -> str:
    plan = case.given["plan"]
    if plan["dp"] > 1:
        return (
            "One process for each card of tp times pp times dp. With fewer of them Megatron takes "
            "fewer replicas."
        )
    return "One process for each card: tp times pp times dp."
