"""Cases for the tasks of notebook 05, made from graphs by the reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import fx

from autograder.authoring.derived import CaseData
from autograder.labs.project import reference
from autograder.labs.project.mistakes import mistaken_peaks, mistaken_seconds
from lab_utils.labs.project.ask.candidates import fields_of
from lab_utils.labs.project.records import Candidate
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.kept import kept_values
from lab_utils.steps.storage import is_operation, storages

Seconds = Mapping[fx.Node, float]

#: The largest number of candidates of which every set is looked at.
FEW = 9
#: Budgets of a plan, as shares of what recomputation can save.
BUDGETS = {"half of what can be saved": 0.5, "a budget below the floor": 1.2}


def pretended_seconds(place: int) -> int:
    """A known time for the operator at ``place``: neither rising nor falling, rarely equal."""
    return 3 + place * 37 % 61


def selection_cases(name: str, graph: fx.Graph) -> dict[str, list[CaseData]]:
    """Cases of the tasks 5.1 to 5.6 on one graph."""
    dot = write_dot(graph)
    seconds = {
        node: float(pretended_seconds(place)) if is_operation(node) else 0.0
        for place, node in enumerate(graph.nodes)
    }
    given = {
        "graph": dot,
        "seconds": {node.name: cost for node, cost in seconds.items() if cost},
    }
    found = reference.candidates(graph)
    cases: dict[str, list[CaseData]] = {
        "5.1": [_case(name, {"graph": dot}, {"nbytes": {n.name: b for n, b in found.items()}})],
        "5.2": _rebuild_cases(name, dot, graph, list(found)),
        "5.3": [_case(name, given, _described(graph, seconds))],
    }
    cases["6.1"] = [_case(name, given, {"rows": _analysed(graph, seconds)})]
    drop = reference.choose(graph, seconds, 0).drop
    line = reference.memory_line(graph, drop)
    cases["6.3"] = [
        _case(
            name,
            {"graph": dot, "drop": [node.name for node in drop]},
            {"nbytes": line.peak, "line": line.total},
        )
    ]
    if 2 <= len(found) <= FEW:
        plans = _Plans(graph, list(found), seconds)
        cases["5.4"] = _update_cases(name, dot, graph, seconds)
        cases["5.5"] = _simulate_cases(name, dot, graph, list(found))
        cases["5.6"] = [
            _choose_case(f"{name}, {words}", given, graph, seconds, plans, share)
            for words, share in BUDGETS.items()
        ]
    return cases


def _rebuild_cases(name: str, dot: str, graph: fx.Graph, found: list[fx.Node]) -> list[CaseData]:
    """The value with the longest path when all is kept, and when every other one is dropped."""
    memory = storages(graph)
    cases = []
    for drop in ([], found[::2]):
        kept = kept_values(graph, drop)
        ways = {node: reference.rebuild(node, kept, memory) for node in found}
        target = max(ways, key=lambda node: len(ways[node].path))
        told = "nothing is dropped" if not drop else f"{len(drop)} values are dropped"
        cases.append(
            _case(
                f"{name}, rebuild {target.name}, {told}",
                {"graph": dot, "target": target.name, "drop": [n.name for n in drop]},
                {
                    "sources": sorted(n.name for n in ways[target].sources),
                    "path": [n.name for n in ways[target].path],
                },
            )
        )
    return cases


def _analysed(graph: fx.Graph, seconds: Seconds) -> dict[str, list[float]]:
    """Bytes, idle seconds and recompute seconds of each candidate."""
    return {
        c.node.name: [
            c.nbytes,
            sum(cost for n, cost in seconds.items() if c.last_forward < n < c.first_backward),
            c.seconds,
        ]
        for c in reference.describe(graph, seconds)
    }


def _described(graph: fx.Graph, seconds: Seconds) -> CaseData:
    records = reference.describe(graph, seconds)
    return {
        "candidates": {c.node.name: fields_of(c) for c in records},
        "mistakes": {c.node.name: mistaken_seconds(c, seconds) for c in records},
    }


def _update_cases(name: str, dot: str, graph: fx.Graph, seconds: Seconds) -> list[CaseData]:
    """The choices of the greedy after which most of the records are different."""
    cases: list[tuple[int, CaseData]] = []

    def watch(t: Candidate, chosen: list[Candidate], remaining: list[Candidate]) -> None:
        before = [[fields_of(c) for c in part] for part in ([t], chosen, remaining)]
        after = [[replace(c) for c in part] for part in ([t], chosen, remaining)]
        reference.update(after[0][0], after[1], after[2])
        wanted = [fields_of(c) for part in after for c in part]
        old = [fields for part in before for fields in part]
        changed = sum(a != b for a, b in zip(wanted, old, strict=True))
        given = {"graph": dot, "t": before[0][0], "chosen": before[1], "remaining": before[2]}
        cases.append((changed, _case(f"{name}, {t.node.name} is chosen", given, {"after": wanted})))

    reference.choose(graph, seconds, 0, watch)
    best = sorted(cases, key=lambda case: -case[0])[:2]
    return [case for changed, case in best if changed]


def _simulate_cases(name: str, dot: str, graph: fx.Graph, found: list[fx.Node]) -> list[CaseData]:
    cases = []
    outcomes = reference.Outcomes(graph, {})
    drops = {"nothing is dropped": [], "every other one is dropped": found[::2]}
    for words, drop in (drops | {"all are dropped": found}).items():
        exact = outcomes.of(drop)
        line = reference.memory_line(graph, drop)
        wrong = mistaken_peaks(graph, drop) if drop else {}
        cases.append(
            _case(
                f"{name}, {words}",
                {"graph": dot, "drop": [n.name for n in drop]},
                {
                    "nbytes": exact.nbytes,
                    "nodes": [n.name for n in exact.nodes],
                    "mistakes": {h: held for h, held in wrong.items() if held != exact.nbytes},
                    "line": {k: held for k, held in line.by_kind.items() if any(held)},
                },
            )
        )
    return cases


class _Plans:
    """What every set of drops leads to; a set is the sum of the bits of its members."""

    def __init__(self, graph: fx.Graph, found: list[fx.Node], seconds: Seconds) -> None:
        self.peaks, self.idle, self.work = [], [], []
        records = {c.node: c for c in reference.describe(graph, seconds)}
        outcomes = reference.Outcomes(graph, seconds)
        for chosen in range(1 << len(found)):
            drop = [node for bit, node in enumerate(found) if chosen >> bit & 1]
            result = outcomes.of(drop)
            idle = 0
            for at in result.nodes:
                for bit, node in enumerate(found):
                    c = records[node]
                    if c.last_forward < at < c.first_backward and node not in drop:
                        idle |= 1 << bit
            self.peaks.append(result.nbytes)
            self.idle.append(idle)
            self.work.append(result.seconds)


def _choose_case(
    name: str, given: CaseData, graph: fx.Graph, seconds: Seconds, plans: _Plans, share: float
) -> CaseData:
    peak, floor = plans.peaks[0], reference.choose(graph, seconds, 0).nbytes
    budget = round(peak - share * (peak - floor))
    ratios: list[dict[str, float]] = []

    def watch(t: Candidate, _chosen: list[Candidate], remaining: list[Candidate]) -> None:
        ratios.append({c.node.name: c.ratio for c in (t, *remaining)})

    plan = reference.choose(graph, seconds, budget, watch)
    nbytes = {n.name: size for n, size in reference.candidates(graph).items()}
    return _case(
        name,
        {**given, "budget": budget},
        {
            "candidates": list(nbytes),
            "nbytes": nbytes,
            "drop": [n.name for n in plan.drop],
            "ratios": ratios,
            "plans": vars(plans),
        },
    )


def _case(name: str, given: CaseData, wanted: CaseData) -> CaseData:
    return {"name": name, "given": given, "wanted": wanted}
