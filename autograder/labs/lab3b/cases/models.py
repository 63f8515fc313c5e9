"""Cases of notebook 3, models of memory and time.

What is right, a run says: autograd on tensors without data, PyTorch's count of FLOPs, a schedule
and a ring gone through step by step, a search through all plans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab3b.cases import memory_slips, time_slips
from autograder.labs.lab3b.cases.model_settings import HIDDEN, PUBLIC, Settings
from autograder.reference.training import memory, search, time
from autograder.reference.training.blocks import layer_bytes
from lab_utils.instruments.parallel import SELECTIVE, Cluster, Job, Plan
from lab_utils.instruments.shapes import Transformer
from lab_utils.labs.lab3b.ask.models import cluster_data

Given = dict[str, Any]


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return _cases(PUBLIC)


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return _cases(HIDDEN)


def _cases(settings: Settings) -> dict[str, list[CaseData]]:
    return {
        task: [_case(task, name, arguments) for name, arguments in cases.items()]
        for task, cases in settings.items()
    }


def _case(task: str, name: str, arguments: tuple[Any, ...] | list[tuple[Any, ...]]) -> CaseData:
    """A list of arguments makes a case of several parts, which is right if all of them are."""
    if isinstance(arguments, list):
        return in_parts(name, [_case(task, name, part) for part in arguments])
    given, wanted = _MAKE[task](*arguments)
    return {"name": name, "given": given, "wanted": wanted}


def _setting(model: Transformer, job: Job, plan: Plan) -> Given:
    return {"model": asdict(model), "job": asdict(job), "plan": asdict(plan)}


def _parameters(model: Transformer, tp: int, pp: int) -> Any:
    given = {"model": asdict(model), "tp": tp, "pp": pp}
    right = {"parameters": memory.stage_parameters(model, tp, pp)}
    return given, {"parts": right, "slips": memory_slips.of_parameters(model, tp, pp)}


def _layer(model: Transformer, tokens: int, batch: int, dtype: str, plan: Plan) -> Any:
    given = {"model": asdict(model), "tokens": tokens, "batch": batch, "dtype": dtype}
    right = layer_bytes(memory.share_of(model, plan), tokens, batch, dtype)
    slips = memory_slips.of_layer(model, tokens, batch, dtype, plan)
    return {**given, "plan": asdict(plan)}, {"parts": {"bytes": [right]}, "slips": slips}


def _peak(model: Transformer, job: Job, plan: Plan) -> Any:
    stages = memory.stage_memory(model, job, plan)
    right = {n: [getattr(s, n) for s in stages] for n in ("state", "kept", "logits")}
    slips = memory_slips.of_peak(model, job, plan)
    return _setting(model, job, plan), {"parts": right, "slips": slips}


def _work(model: Transformer, job: Job, plan: Plan) -> Any:
    stages = time.stage_work(model, job, plan)
    right = {n: [getattr(s, n) for s in stages] for n in ("dense", "attention")}
    slips = time_slips.of_work(model, job, plan)
    return _setting(model, job, plan), {"parts": right, "slips": slips}


def _time(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> Any:
    given = {**_setting(model, job, plan), "cluster": cluster_data(cluster)}
    right = time.step_seconds(model, job, plan, cluster)
    slips = time_slips.of_time(model, job, plan, cluster)
    return given, {"parts": {"seconds": [right]}, "slips": slips}


def _told(plan: Plan) -> list[Any]:
    return [plan.tp, plan.pp, plan.dp, plan.recompute]


def _best(model: Transformer, job: Job, cluster: Cluster) -> Any:
    given = {"model": asdict(model), "job": asdict(job), "cluster": cluster_data(cluster)}
    plans = [[*_told(p), *price] for p, price in search.priced(model, job, cluster).items()]
    return given, {"plans": plans}


def _largest(model: Transformer, job: Job, cluster: Cluster, step: int) -> Any:
    given = {"model": asdict(model), "job": asdict(job), "cluster": cluster_data(cluster)}
    layers, plans = search.largest(model, job, cluster, step)
    slips = time_slips.of_largest(model, job, cluster, step)
    wrong = {name: number for name, number in slips.items() if number != layers}
    wanted = {"layers": layers, "plans": [_told(plan) for plan in plans], "slips": wrong}
    return {**given, "step": step}, wanted


_PRECISION = {"fp32": "no", "bf16": "bf16", "fp16": "fp16"}


def _yaml(plan: Plan, job: Job) -> Any:
    inside = {
        "megatron_lm_tp_degree": plan.tp,
        "megatron_lm_pp_degree": plan.pp,
        "megatron_lm_num_micro_batches": job.micro_batches,
        "megatron_lm_recompute_activations": plan.recompute == SELECTIVE,
        "megatron_lm_sequence_parallelism": plan.sequence_parallel,
    }
    wanted = {
        "num_processes": plan.cards,
        "mixed_precision": _PRECISION[job.dtype],
        "inside": inside,
        "dp": plan.dp,
    }
    return {"plan": asdict(plan), "job": asdict(job)}, wanted


def _speedup(dp: int, pp: int, micro_batches: int) -> Any:
    """By letting micro-batches through stages that take equally long."""
    alone = float(micro_batches * dp)
    line = time.through_the_line([1 / pp] * pp, micro_batches, 0.0)
    given = {"dp": dp, "pp": pp, "micro_batches": micro_batches}
    slips = time_slips.of_speedup(dp, pp, micro_batches)
    return given, {"parts": {"speedup": [alone / line]}, "slips": slips}


_MAKE: dict[str, Callable[..., Any]] = {
    "3.1": _parameters,
    "3.2": _layer,
    "3.3": _peak,
    "3.4": _work,
    "3.5": _time,
    "3.6": _best,
    "3.7": _largest,
    "3.8": _yaml,
    "3.9": _speedup,
}
