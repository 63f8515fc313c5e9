"""Right versions of notebook 3's functions, for tasks that call them: counted, not by formula."""

from __future__ import annotations

from typing import Any

from lab_utils.instruments.parallel import Job, Plan
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError
from lab_utils.kit.parts import PARTS
from lab_utils.kit.task import Case
from lab_utils.labs.lab3b.ask.models import cluster_of

LENT: dict[str, tuple[str, ...]] = {
    "3.3": ("rank_parameters", "layer_bytes"),
    "3.5": ("rank_parameters", "rank_work"),
    "3.6": ("peak_memory", "step_time"),
    "3.7": ("peak_memory",),
}
_MOST = {"layers": 2000, "width": 10**5, "heads": 4096, "hidden": 10**6, "vocab": 10**6}
_MOST_RANKS = 4096


def lend(name: str, case: Case, arguments: Any) -> Any:
    """What a right version answers.

    Raises:
        LabError, TypeError, ValueError, KeyError: the arguments are none of an honest call.
    """
    from autograder.reference.training import blocks, memory, time

    model = _model(arguments[0])
    if name == "rank_parameters":
        tp, pp = arguments[1:]
        _evenly(model, Plan(tp, pp))
        return memory.stage_parameters(model, tp, pp)
    if name == "layer_bytes":
        tokens, batch, dtype, plan_data = arguments[1:]
        plan, job = Plan(**plan_data), Job(tokens, batch)
        _evenly(model, plan)
        return blocks.layer_bytes(memory.share_of(model, plan), job.tokens, job.batch, dtype)
    job, plan = Job(**arguments[1]), Plan(**arguments[2])
    _evenly(model, plan, job)
    if name == "peak_memory":
        return [list(stage) for stage in memory.stage_memory(model, job, plan)]
    if name == "rank_work":
        return [list(stage) for stage in time.stage_work(model, job, plan)]
    if name == "step_time":
        if (known := _known(case, arguments)) is not None:
            return known
        return time.step_seconds(model, job, plan, cluster_of(arguments[3]))
    raise LabError(f"{name} is not lent")


def _known(case: Case, arguments: Any) -> float | None:
    """The seconds of a plan that the case tells already: a search asks for many."""
    plan = [arguments[2][name] for name in ("tp", "pp", "dp", "recompute")]
    pairs = [(case.given, case.wanted)]
    if PARTS in case.given:
        pairs = list(zip(case.given[PARTS], case.wanted[PARTS], strict=True))
    for given, wanted in pairs:
        asked = [given.get(name) for name in ("model", "job", "cluster")]
        if asked == [arguments[0], arguments[1], arguments[3]]:
            return next((row[5] for row in wanted.get("plans", []) if row[:4] == plan), None)
    return None


def _model(data: Any) -> Transformer:
    if any(type(data[name]) is not int or data[name] > most for name, most in _MOST.items()):
        raise LabError("the model is too large")
    return Transformer(**data)


def _evenly(model: Transformer, plan: Plan, job: Job | None = None) -> None:
    """What is cut is cut evenly, and into few enough parts to count."""
    parts = (plan.tp, plan.pp, plan.dp, job.micro_batches if job else 1)
    if any(type(n) is not int or n > _MOST_RANKS for n in parts):
        raise LabError("a degree is a whole number, and not too large")
    if model.heads % plan.tp or model.hidden % plan.tp or model.layers % plan.pp:
        raise LabError("this plan cuts heads, hidden or layers into unequal parts")
    if job and job.batch % (plan.dp * job.micro_batches):
        raise LabError("this plan cuts the batch into unequal parts")
