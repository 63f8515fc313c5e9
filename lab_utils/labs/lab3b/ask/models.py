"""How the tasks are asked of notebook 3, models of memory and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from operator import index
from typing import Any

from lab_utils.instruments.parallel import Cluster, Job, Memory, Plan, Work
from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.answers import a_type, collection, fields_told, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow, Call

Parts = dict[str, list[float]]
"""By name, a number for each stage."""


def whole(value: Any, what: str) -> float:
    """A number; one that is whole, whatever type it has, comes as an int."""
    try:
        return index(value)
    except TypeError:
        told = number(value, what)
    return int(told) if told.is_integer() else told


def cluster_of(data: Mapping[str, Any]) -> Cluster:
    """A cluster from plain data."""
    return Cluster(**{**data, "machine": Machine(**data["machine"])})


def cluster_data(cluster: Cluster) -> dict[str, Any]:
    """A cluster as plain data."""
    machine = cluster.machine
    card = {
        "name": machine.name,
        "rates": dict(machine.rates),
        "bandwidth": machine.bandwidth,
        "memory": machine.memory,
        "clock": machine.clock,
    }
    names = ("cards", "latency", "link", "dense", "attention")
    return {"machine": card, **{name: getattr(cluster, name) for name in names}}


def _setting(given: Mapping[str, Any]) -> tuple[Transformer, Job, Plan]:
    return Transformer(**given["model"]), Job(**given["job"]), Plan(**given["plan"])


def _stages(told: Any, stages: int) -> list[Any]:
    found = list(collection(told, "what you return"))
    if len(found) != stages:
        look = "One entry for each stage of the pipeline: as many as pp."
        raise BadAnswer(f"what you return has {len(found)} entries", look, f"{stages} entries")
    return found


def ask_parameters(function: Any, given: Mapping[str, Any]) -> Parts:
    """A number for each stage."""
    told = function(Transformer(**given["model"]), given["tp"], given["pp"])
    stages = _stages(told, given["pp"])
    return {"parameters": [whole(n, f"the number of stage {i}") for i, n in enumerate(stages)]}


def ask_layer(function: Any, given: Mapping[str, Any]) -> Parts:
    """One number of bytes."""
    model, plan = Transformer(**given["model"]), Plan(**given["plan"])
    told = function(model, given["tokens"], given["batch"], given["dtype"], plan)
    return {"bytes": [whole(told, "what you return")]}


def ask_peak(function: Any, given: Mapping[str, Any]) -> Parts:
    """Three numbers for each stage."""
    return _records(function(*_setting(given)), given["plan"]["pp"], Memory)


def ask_work(function: Any, given: Mapping[str, Any]) -> Parts:
    """Two numbers for each stage."""
    return _records(function(*_setting(given)), given["plan"]["pp"], Work)


def _records(told: Any, stages: int, record: Any) -> Parts:
    rows = [
        fields_told(one, f"stage {place}", record)
        for place, one in enumerate(_stages(told, stages))
    ]
    return {
        name: [whole(row[place], f"{name} of stage {i}") for i, row in enumerate(rows)]
        for place, name in enumerate(record._fields)
    }


def ask_time(function: Any, given: Mapping[str, Any]) -> Parts:
    """One number of seconds."""
    told = function(*_setting(given), cluster_of(given["cluster"]))
    return {"seconds": [number(told, "what you return")]}


def ask_best(function: Any, given: Mapping[str, Any]) -> list[Any] | None:
    """A plan as plain data."""
    model, job = Transformer(**given["model"]), Job(**given["job"])
    told = function(model, job, cluster_of(given["cluster"]))
    return None if told is None else _plan_told(told, "what you return")


def ask_largest(function: Any, given: Mapping[str, Any]) -> list[Any] | None:
    """Layers, and a plan."""
    model, job = Transformer(**given["model"]), Job(**given["job"])
    told = function(model, job, cluster_of(given["cluster"]), given["step"])
    if told is None:
        return None
    parts = list(collection(told, "what you return"))
    if len(parts) != 2:
        look = "Return a pair: how many layers, and a Plan that holds them."
        raise BadAnswer(f"what you return has {len(parts)} parts", look)
    return [whole(parts[0], "the number of layers"), _plan_told(parts[1], "the plan")]


def _plan_told(value: Any, what: str) -> list[Any]:
    if not isinstance(value, Plan):
        look = "Return a Plan, as in Plan(tp=2, pp=1, dp=1, recompute='none')."
        raise BadAnswer(f"{what} is {a_type(value)}", look)
    degrees = [whole(getattr(value, name), f"{name} of {what}") for name in ("tp", "pp", "dp")]
    return [*degrees, value.recompute]


def ask_yaml(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says: keys and values as plain data."""
    text = function(Plan(**given["plan"]), Job(**given["job"]))
    if not isinstance(text, str):
        raise BadAnswer(f"what you return is {a_type(text)}", "Return the text of the file.")
    return read_yaml(text)


def read_yaml(text: str) -> dict[str, Any]:
    """The keys of a YAML file, those of inner sections among them.

    Raises:
        BadAnswer: it is no YAML, or no list of keys; the message says where.
    """
    import yaml

    try:
        told = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        words = f"{where}{getattr(error, 'problem', None) or 'it cannot be read'}"
        look = "Each line is 'key: value'; the keys of a section are indented by two blanks."
        raise BadAnswer(f"no YAML, {words}", look, "a YAML file") from None
    if not isinstance(told, dict):
        look = "A file of this kind is a list of keys and values: 'num_processes: 2'."
        raise BadAnswer(f"the file holds {a_type(told)}", look, "keys and values")
    return {str(key): _plain(value) for key, value in told.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _simple(inner) for key, inner in value.items()}
    return _simple(value)


def _simple(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) or value is None else str(value)


def ask_speedup(function: Any, given: Mapping[str, Any]) -> Parts:
    """One number."""
    told = function(given["dp"], given["pp"], given["micro_batches"])
    return {"speedup": [number(told, "what you return")]}


_ASK: dict[str, Ask] = {
    "3.1": ask_parameters,
    "3.2": ask_layer,
    "3.3": ask_peak,
    "3.4": ask_work,
    "3.5": ask_time,
    "3.6": ask_best,
    "3.7": ask_largest,
    "3.8": ask_yaml,
    "3.9": ask_speedup,
}
ASK: dict[str, Ask] = {task: asked_in_parts(ask) for task, ask in _ASK.items()}


def _data(values: Iterable[Any]) -> list[Any]:
    """Arguments as plain data."""
    return [
        cluster_data(value)
        if isinstance(value, Cluster)
        else asdict(value)
        if isinstance(value, (Transformer, Job, Plan))
        else value
        if isinstance(value, str)
        else index(value)
        for value in values
    ]


def _parameters(call: Call) -> Any:
    def rank_parameters(model: Transformer, tp: int, pp: int) -> Any:
        return call(_data((model, tp, pp)))

    return rank_parameters


def _layer(call: Call) -> Any:
    def layer_bytes(model: Transformer, tokens: int, batch: int, dtype: str, plan: Plan) -> Any:
        return call(_data((model, tokens, batch, dtype, plan)))

    return layer_bytes


def _peak(call: Call) -> Any:
    def peak_memory(model: Transformer, job: Job, plan: Plan) -> Any:
        told: Sequence[Sequence[int]] = call(_data((model, job, plan)))
        return [Memory(*row) for row in told]

    return peak_memory


def _work(call: Call) -> Any:
    def rank_work(model: Transformer, job: Job, plan: Plan) -> Any:
        told: Sequence[Sequence[int]] = call(_data((model, job, plan)))
        return [Work(*row) for row in told]

    return rank_work


def _time(call: Call) -> Any:
    def step_time(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> Any:
        return call(_data((model, job, plan, cluster)))

    return step_time


BORROWED: dict[str, Borrow] = {
    "rank_parameters": _parameters,
    "layer_bytes": _layer,
    "peak_memory": _peak,
    "rank_work": _work,
    "step_time": _time,
}
