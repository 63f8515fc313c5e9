"""The cheapest plan there is, if nothing runs more than twice: a proof by OR-tools.

Unlike our engine, the solver may let a clone run at any moment of backward.
"""

from __future__ import annotations

from typing import Any

from ortools.sat.python import cp_model

from autograder.reference.values import Step

#: Bytes and seconds are rounded to these, so that the numbers stay small.
KILOBYTE, MICROSECOND = 1024, 1e-6


def optimal_seconds(
    step: Step, budget: int, limit: float = 60.0, unit: int = KILOBYTE, workers: int = 2
) -> tuple[float, bool] | None:
    """Least recompute time within ``budget`` bytes, and whether that is proven.

    Bytes are counted in ``unit``; in units of 1 nothing is rounded. None where no plan is within
    the budget (or none was found in ``limit`` of its own seconds, which no load changes).
    """
    model = cp_model.CpModel()
    makers, length = step.makers, len(step.order)
    scale = len(makers) + 1
    horizon = (length + 1) * scale
    late = min((v.first_late for v in step.values), default=length)

    def at(place: int) -> int:
        return place * scale + scale - 1

    def until(name: str) -> cp_model.IntVar:
        return model.new_int_var(0, horizon, f"end {name}")

    again = [model.new_bool_var(f"again {m.name}") for m in makers]
    moment = []
    for rank, maker in enumerate(makers):
        slot = model.new_int_var(min(late, length), length, f"place {maker.name}")
        moment.append(slot * scale + rank)
    intervals, demands = [], []

    def hold(start: Any, end: Any, nbytes: int, present: Any = True) -> None:
        size = model.new_int_var(0, horizon, "")
        intervals.append(model.new_optional_interval_var(start, size, end, present, ""))
        demands.append(-(-nbytes // unit))

    dropped, ends, clone_ends = [], [], []
    for value in step.values:
        drop = model.new_bool_var(f"drop {value.name}")
        if value.pinned:
            model.add(drop == 0)
        end, clone_end = until(value.name), until(f"{value.name} again")
        model.add(end >= at(value.last_early) + 1)
        model.add(clone_end >= moment[value.maker] + 1).only_enforce_if(again[value.maker])
        if value.last_late >= 0:
            model.add_implication(drop, again[value.maker])
            model.add(end >= at(value.last_late) + 1).only_enforce_if(drop.negated())
            model.add(clone_end >= at(value.last_late) + 1).only_enforce_if(drop)
            model.add(moment[value.maker] < at(value.first_late)).only_enforce_if(drop)
        hold(at(value.born), end, value.nbytes)
        hold(moment[value.maker], clone_end, value.nbytes, again[value.maker])
        dropped.append(drop)
        ends.append(end)
        clone_ends.append(clone_end)
    for index, maker in enumerate(makers):
        for read in maker.reads:
            source = step.values[read].maker
            kept_case = [again[index], dropped[read].negated()]
            drop_case = [again[index], dropped[read]]
            model.add(ends[read] >= moment[index] + 1).only_enforce_if(kept_case)
            model.add_bool_or([again[source]]).only_enforce_if(drop_case)
            model.add(moment[source] < moment[index]).only_enforce_if(drop_case)
            model.add(clone_ends[read] >= moment[index] + 1).only_enforce_if(drop_case)
    for place, (nbytes, before) in enumerate(_fixed(step)):
        hold(place * scale, at(place), before)
        hold(at(place), at(place) + 1, nbytes)
    # Rounding up each size must not make the optimum worse than ours.
    model.add_cumulative(intervals, demands, budget // unit + (len(step.values) if unit > 1 else 0))
    costs = [round(m.seconds / MICROSECOND) for m in makers]
    model.minimize(sum(c * a for c, a in zip(costs, again, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = limit
    solver.parameters.num_workers = workers
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return solver.objective_value * MICROSECOND, status == cp_model.OPTIMAL


def _fixed(step: Step) -> list[tuple[int, int]]:
    """For each place, the bytes that no plan changes: while its node runs, and just before."""
    held = [[0, 0] for _ in step.order]
    for first, last, nbytes in step.fixed:
        for place in range(first, last + 1):
            held[place][0] += nbytes
            held[place][1] += nbytes if place > first or first == 0 else 0
    return [(now, before) for now, before in held]
