"""Makes the graphs, cases and pictures of Lab 4A; ``make notebooks`` writes them.

All are derived from the models and the reference engine, and the same bytes on every run. The
two reference graphs go to ``autograder/reference``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import fx

from autograder.authoring.derived import CaseData, Files, case_files
from autograder.labs.graphs.naming import without_nodes
from autograder.labs.lab4a.cases import (
    peak_case,
    profile_cases,
    rewrite_cases,
    set_cases,
    toy_cases,
    with_lasting_peak,
    with_squares,
)
from autograder.labs.lab4a.models import HIDDEN_MODELS, large_weights
from autograder.labs.lab4a.pictures import pictures
from autograder.reference.renamed import renamed
from autograder.reference.rewrite import block_activations, rewrite, wide_activations
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload, attention, llm_mlp

REFERENCE = Path("autograder/reference")

_PUBLIC_MODELS: dict[str, tuple[str, Callable[[], Workload]]] = {
    "llm_mlp": ("llm_mlp with 4 blocks", lambda: llm_mlp(4, 64, 256, 512)),
    "attention": ("attention with 2 blocks", lambda: attention(2, 16, 8, 4)),
}
#: Graphs whose weights Adam updates; SGD does it for the others.
_WITH_ADAM = ("attention with 2 blocks", "blocks with GELU and biases")
#: Graphs whose nodes have other names, so that nothing can go by them.
_RENAMED = ("other blocks, other sizes, other names",)


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    graphs: dict[str, str] = {}
    public: dict[str, list[CaseData]] = {}
    for short, (name, build) in _PUBLIC_MODELS.items():
        graph = _trace(name, build)
        for task, case in _all_cases(name, graph).items():
            public.setdefault(task, []).extend(case)
        names = {"2.2": short, "3.1": f"{short}.injected", "4.1": f"{short}.rewired"}
        for task, stem in names.items():
            graphs[f"{stem}.dot"] = public[task][-1]["given"]["graph"]
    base = graphs["llm_mlp.dot"]
    public["2.1"] = [*toy_cases(), *public["2.1"]]
    public["1.4"].append(peak_case(f"{name}, a peak that lasts", with_lasting_peak(graph)))
    saves = {"eager_budget": public["4.1"][0]["wanted"]["eager_budget"]}
    for task, budget in (("1.5", {}), ("4.2", saves)):
        wanted = {"graph": base, **budget}
        public[task] = [{"name": "the file to hand in", "given": {}, "wanted": wanted}]

    hidden: dict[str, list[CaseData]] = {}
    for name, build in HIDDEN_MODELS.items():
        graph = _named(name, _trace(name, build))
        cases = _all_cases(name, graph)
        cases["1.1"] = [profile_cases(name, _with_state(name, build))["1.1"]]
        for task, case in cases.items():
            hidden.setdefault(task, []).extend(without_nodes(case, name, graph))

    name = "large weights, a small batch"
    for task, single in profile_cases(name, with_squares(_trace(name, large_weights))).items():
        hidden[task].append(single)
    for shown in hidden["1.4"][:-1:2]:  # of the same bytes, but held for several steps
        lasting = with_lasting_peak(read_dot(shown["given"]["graph"]))
        shown.update(peak_case(shown["name"], lasting))
    hidden["1.3"] = hidden["1.3"][::2]  # each is run several times, and none has a trap of its own
    for timed in hidden["1.3"]:
        del timed["given"]["pace"]  # the grader tells the times, run by run

    original = _trace(*_PUBLIC_MODELS["llm_mlp"])
    rewritten = rewrite(original, block_activations(original)).graph
    return {
        **case_files("lab4a", public, hidden, graphs),
        REFERENCE / "llm_mlp.dot": base,
        REFERENCE / "llm_mlp_ar.dot": write_dot(rewritten),
        **pictures(),
    }


def _trace(name: str, build: Callable[[], Workload]) -> fx.Graph:
    torch.manual_seed(0)
    return trace_workload(build(), torch.optim.Adam if name in _WITH_ADAM else torch.optim.SGD)


def _with_state(name: str, build: Callable[[], Workload]) -> fx.Graph:
    """The same graph with Adam: the kinds of what an optimizer keeps are asked for everywhere."""
    return _named(name, trace_workload(build(), torch.optim.Adam))


def _named(name: str, graph: fx.Graph) -> fx.Graph:
    return renamed(graph) if name in _RENAMED else graph


def _all_cases(name: str, graph: fx.Graph) -> dict[str, list[CaseData]]:
    drop = block_activations(graph) or wide_activations(graph)
    single = profile_cases(name, graph) | rewrite_cases(name, graph, drop)
    return {"2.1": set_cases(name, graph, drop), **{task: [c] for task, c in single.items()}}
