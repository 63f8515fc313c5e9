"""Cases for the tasks of notebook 05, made from graphs by the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import fsum
from random import Random
from typing import Any
from zlib import crc32

from torch import fx

from autograder.authoring.derived import CaseData
from autograder.labs.project import reference
from autograder.labs.project.careless import (
    CHOOSE_RULES,
    SIMULATE_RULES,
    UPDATE_RULES,
    Update,
    careless_peak,
    careless_plan,
    careless_update,
)
from autograder.labs.project.mistakes import mistaken_peaks, mistaken_seconds
from lab_utils.kit.task import Case
from lab_utils.labs.project.ask.candidates import Fields, fields_of
from lab_utils.labs.project.judge.greedy import judge_choose
from lab_utils.steps.candidate import Candidate
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.kept import kept_values
from lab_utils.steps.storage import is_operation, storages

Seconds = Mapping[fx.Node, float]

#: The largest number of candidates of which every set is looked at.
FEW = 12
#: Orders of choice, and sets of drops, among which the telling ones are looked for.
_ORDERS = 24
#: How the times of operators differ; the first is that of most cases.
_PACES = (37, 11, 29, 17, 7, 43)
#: Sets of drops that are asked about.
_TELLING = 3
#: Budgets of a plan, as shares of what recomputation can save.
BUDGETS = {
    "half of what can be saved": 0.5,
    "most of what can be saved": 0.8,
    "nearly all that can be saved": 0.95,
    "a budget below the floor": 1.2,
}


def pretended_seconds(place: int, pace: int) -> int:
    """A known time for the operator at ``place``: neither rising nor falling, rarely equal."""
    return 3 + place * pace % 61


def selection_cases(name: str, graph: fx.Graph) -> dict[str, list[CaseData]]:
    """Cases of the tasks 5.1 to 5.6 on one graph."""
    dot = write_dot(graph)
    seconds = _seconds(graph, _PACES[0])
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
    drop = _rewritten_drop(graph, list(found), reference.choose(graph, seconds, 0).drop)
    line = reference.memory_line(graph, drop)
    cases["6.3"] = [
        _case(
            name,
            {"graph": dot, "drop": [node.name for node in drop]},
            {"nbytes": line.peak, "line": line.total},
        )
    ]
    if 2 <= len(found) <= FEW:
        cases["5.4"] = _update_cases(name, dot, graph, seconds)
        cases["5.5"] = _simulate_cases(name, dot, graph, list(found))
        cases["5.6"] = plan_cases(name, graph)
    return cases


def plan_cases(name: str, graph: fx.Graph, most: int = 1) -> list[CaseData]:
    """Task 5.6 on one graph: budgets, and times of the operators, on which most rules show."""
    dot, found = write_dot(graph), list(reference.candidates(graph))
    outcomes = reference.Outcomes(graph, {})

    @cache
    def peak(drop: frozenset[fx.Node]) -> tuple[int, fx.Node]:
        result = outcomes.of(drop)
        return result.nbytes, result.nodes[0]

    def peak_of(drop: list[fx.Node]) -> tuple[int, fx.Node]:
        return peak(frozenset(drop))

    cases: dict[tuple[int, str], CaseData] = {}
    shows: dict[tuple[int, str], set[str]] = {}
    for turn, pace in enumerate(_PACES):
        seconds = _seconds(graph, pace)
        records, plans = reference.describe(graph, seconds), _Plans(graph, found, seconds)
        given = {"graph": dot, "seconds": {n.name: cost for n, cost in seconds.items() if cost}}
        for place, (words, share) in enumerate(BUDGETS.items()):
            title = f"{name}, {words}" + f", other times {pace}" * (pace != _PACES[0])
            exact = turn > 0 or place == 0  # the budget is just what the plan comes to
            data = _choose_case(title, given, graph, seconds, plans, share, exact)
            case, cases[pace, words] = Case(**data), data
            budget = case.given["budget"]
            wrong = {rule: careless_plan(records, peak_of, budget, rule) for rule in CHOOSE_RULES}
            shows[pace, words] = {
                rule
                for rule, (drop, nbytes) in wrong.items()
                if judge_choose(case, {"drop": drop, "nbytes": nbytes})
            }
    return [cases[key] for key in _telling(shows, most)]


def _seconds(graph: fx.Graph, pace: int) -> dict[fx.Node, float]:
    return {
        node: float(pretended_seconds(place, pace)) if is_operation(node) else 0.0
        for place, node in enumerate(graph.nodes)
    }


def _telling(shows: dict[Any, set[str]], most: int) -> list[Any]:
    """Keys that show most, each above all what those before it do not; ``shows`` is used up."""
    chosen: list[Any] = []
    seen: Counter[str] = Counter()
    while shows and len(chosen) < most:
        best = max(shows, key=lambda key: fsum(1 / (1 + seen[rule]) ** 2 for rule in shows[key]))
        seen.update(shows.pop(best))
        chosen.append(best)
    return chosen


def _rebuild_cases(name: str, dot: str, graph: fx.Graph, found: list[fx.Node]) -> list[CaseData]:
    """The value whose path shares most, when all is kept and when every other one is dropped."""
    memory = storages(graph)
    cases = []
    for drop in ([], found[::2]):
        kept = kept_values(graph, drop)
        ways = {node: reference.rebuild(node, kept, memory) for node in found}
        target = max(ways, key=lambda node: (_shared(ways[node].path), len(ways[node].path)))
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


def _shared(path: list[fx.Node]) -> int:
    """How often an operator of the path is read by more than one other."""
    again = set(path)
    reads = [r for n in path for r in n.all_input_nodes if r in again]
    return len(reads) - len(set(reads))


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
    """Choices in some order after which most rules of the account show."""
    chance = Random(crc32(dot.encode()))
    cases: list[tuple[int, CaseData]] = []
    for _ in range(_ORDERS):
        records = reference.describe(graph, seconds)
        chance.shuffle(records)
        for place, t in enumerate(records[:-1]):
            chosen, remaining = records[:place], records[place + 1 :]
            before = [[fields_of(c) for c in part] for part in ([t], chosen, remaining)]
            forgotten = sum(
                _after(careless_update(rule), t, chosen, remaining)
                != _after(careless_update(""), t, chosen, remaining)
                for rule in UPDATE_RULES
            )
            wanted = _after(reference.update, t, chosen, remaining)
            given = {"graph": dot, "t": before[0][0], "chosen": before[1], "remaining": before[2]}
            case = _case(f"{name}, {t.node.name} is chosen", given, {"after": wanted})
            cases.append((forgotten, case))
            reference.update(t, chosen, remaining)
    best = sorted(cases, key=lambda case: -case[0])[:2]
    return [case for shown, case in best if shown]


def _after(
    update: Update, t: Candidate, chosen: Sequence[Candidate], remaining: Sequence[Candidate]
) -> list[Fields]:
    """The records after ``update``, which is given copies of them."""
    copies = [[replace(c) for c in part] for part in ([t], chosen, remaining)]
    update(copies[0][0], copies[1], copies[2])
    return [fields_of(c) for part in copies for c in part]


def _simulate_cases(name: str, dot: str, graph: fx.Graph, found: list[fx.Node]) -> list[CaseData]:
    """Nothing dropped, and two choices on which most rules of the simulation show."""
    cases = []
    outcomes = reference.Outcomes(graph, {})
    for words, drop in {"nothing is dropped": [], **_telling_drops(graph, found)}.items():
        exact = outcomes.of(drop)
        line = reference.memory_line(graph, drop)
        wrong = mistaken_peaks(graph, drop)
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


def _rewritten_drop(graph: fx.Graph, found: list[fx.Node], plan: list[fx.Node]) -> list[fx.Node]:
    """For task 6.3: what to drop so that tuples matter, and as much as possible besides."""
    chance = Random(len(graph.nodes))
    pool = [plan, found, *([n for n in found if chance.random() < 0.7] for _ in range(_ORDERS))]

    def tells(drop: list[fx.Node]) -> tuple[int, int]:
        right = careless_peak(graph, drop, "")
        tuples = sum(isinstance(n.meta["val"], tuple) for n in drop)
        return sum(careless_peak(graph, drop, r) != right for r in ("tuples", "early")), tuples

    return max(pool, key=tells)


def _telling_drops(graph: fx.Graph, found: list[fx.Node]) -> dict[str, list[fx.Node]]:
    """Some sets of drops, by name: those that show most, each what the ones before do not."""
    chance = Random(len(graph.nodes))
    pool = [found, *([n for n in found if chance.random() < 0.6] for _ in range(_ORDERS))]
    shows: dict[int, set[str]] = {}
    for place, drop in enumerate(pool):
        right = careless_peak(graph, drop, "")
        shows[place] = {r for r in SIMULATE_RULES if careless_peak(graph, drop, r) != right}
    names: dict[str, list[fx.Node]] = {}
    for place in _telling(shows, _TELLING):
        drop = pool[place]
        words = "all are dropped" if len(drop) == len(found) else f"{len(drop)} are dropped"
        while words in names:
            words += ", others"
        names[words] = drop
    return names


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
    name: str,
    given: CaseData,
    graph: fx.Graph,
    seconds: Seconds,
    plans: _Plans,
    share: float,
    exact: bool,
) -> CaseData:
    peak, floor = plans.peaks[0], reference.choose(graph, seconds, 0).nbytes
    budget = round(peak - share * (peak - floor))
    ratios: list[dict[str, float]] = []

    def watch(t: Candidate, _chosen: list[Candidate], remaining: list[Candidate]) -> None:
        ratios.append({c.node.name: c.ratio for c in (t, *remaining)})

    if exact and share < 1:
        budget = min(budget, reference.choose(graph, seconds, budget).nbytes)
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
