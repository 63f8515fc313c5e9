"""Lab 2A: oracles, SCALE-Sim, solution and cases agree; mistakes are named."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.host.cut import Cut
from autograder.labs.lab2a import oracle
from autograder.labs.lab2a.build import derived_files
from autograder.labs.lab2a.model_cases import HIDDEN_BANDWIDTH, stall_free, totals
from autograder.labs.lab2a.record import chosen, config_text, recorded, rows_of, topology_text
from lab_utils.instruments.systolic.designs import DATAFLOWS, Conv, Design, Gemm, design_space
from lab_utils.instruments.systolic.show import peer
from lab_utils.instruments.systolic.show.peer import compute_report, installed
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab2a import (
    CONVS,
    GEMMS,
    LAB,
    explore_designs,
    model_rows,
    pareto_film,
    read_config,
    simulators,
    stall_free_cycles,
)
from lab_utils.labs.lab2a.judge import JUDGE
from lab_utils.labs.lab2a.show import SHOW
from tests.labs.lab2a.catalogue import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden, assert_hidden_cases_are_other

needs_scalesim = pytest.mark.skipif(not installed(), reason="scalesim 2.0.2 is not installed")
NAMES = {
    "Conv": Conv,
    "Gemm": Gemm,
    "Design": Design,
    "DATAFLOWS": DATAFLOWS,
    "read_config": read_config,
    "stall_free_cycles": stall_free_cycles,
    "model_rows": model_rows,
    "math": math,
    "np": np,
}
CATALOGUE = Catalogue("lab2a", WRONG, RIGHT, NAMES)
OURS, space_of, verdict = CATALOGUE.solution, CATALOGUE.space_of, CATALOGUE.verdict


class TestCatalogue(NamedOnHidden):
    catalogue = CATALOGUE


def test_points_are_eight() -> None:
    by_hand = 0.25 + 0.25
    assert sum(task.points for task in LAB.tasks) + by_hand == 8


# The array

SIZE = st.integers(1, 12)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(DATAFLOWS), SIZE, SIZE, SIZE, st.integers(1, 6), st.integers(1, 6))
def test_the_registers_and_the_solution_agree(
    dataflow: str, m: int, n: int, k: int, height: int, width: int
) -> None:
    from lab_utils.instruments.systolic.show.registers import run

    ran = run(dataflow, np.ones((m, k)), np.ones((k, n)), height, width)
    rows, columns, steps = OURS["mapped"](dataflow, m, n, k)
    fold = OURS["fold_cycles"](dataflow, height, width, steps)
    assert OURS["compute_cycles"](rows, columns, height, width, fold) == ran.cycles - 1
    used = np.array([ran.busy[ran.folds == one].any(axis=0).mean() for one in set(ran.folds)])
    percent = OURS["mapping_efficiency"](rows, columns, height, width)
    assert percent == pytest.approx(100 * used.mean(), rel=1e-9)


@given(
    st.builds(
        Conv,
        st.just("c"),
        *(st.integers(5, 12),) * 2,
        *(st.integers(1, 5),) * 2,
        *(st.integers(1, 6),) * 2,
        st.integers(1, 4),
    )
)
def test_pytorch_and_the_solution_agree(conv: Conv) -> None:
    assert list(OURS["gemm_of"](conv)) == oracle.gemm_by_pytorch(conv)


# SCALE-Sim


def recorded_rows() -> list[tuple[Design, dict[str, str], Conv | Gemm]]:
    return [
        (design, row, layer)
        for design, rows in recorded().items()
        for row, layer in zip(rows, (*CONVS, *GEMMS), strict=True)
    ]


def test_scale_sim_and_the_solution_agree_on_every_recorded_run() -> None:
    """Compute cycles equal, mapping efficiency to 1e-9."""
    for design, row, layer in recorded_rows():
        gemm = OURS["gemm_of"](layer) if isinstance(layer, Conv) else layer[1:]
        rows, columns, steps = OURS["mapped"](design.dataflow, *gemm)
        array = design.height, design.width
        fold = OURS["fold_cycles"](design.dataflow, *array, steps)
        computed = OURS["compute_cycles"](rows, columns, *array, fold)
        assert computed == int(row["total"]) - int(row["stall"]), (design, layer)
        percent = OURS["mapping_efficiency"](rows, columns, *array)
        assert percent == pytest.approx(float(row["mapping_efficiency"]), rel=1e-9)


def test_our_model_stalls_as_scale_sim_does_in_every_recorded_run() -> None:
    ours = model_rows(list(recorded()))
    for design, rows in recorded().items():
        for mine, theirs in zip(ours[design], rows, strict=True):
            assert (mine.total, mine.stall) == (int(theirs["total"]), int(theirs["stall"]))
            assert mine.overall_util == pytest.approx(float(theirs["overall_util"]), rel=1e-9)


def test_the_notebook_tells_how_far_the_model_is_from_scale_sim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = dict(list(simulators.recorded().items())[:4])
    monkeypatch.setattr(simulators, "recorded", lambda: few)
    assert "4 designs, 20 layer runs: 20 equal to the cycle" in simulators.deviation()
    design, (first, *rest) = next(iter(few.items()))
    few[design] = [first._replace(total=2 * first.total), *rest]
    assert "19 equal to the cycle; largest deviation of the total 50 %" in simulators.deviation()


def test_recorded_designs_are_spread_over_the_space() -> None:
    designs = chosen()
    assert len(set(designs)) >= 250
    assert set(designs) <= set(design_space())
    for field in Design._fields:
        values = [getattr(one, field) for one in designs]
        counts = [values.count(value) for value in set(values)]
        assert max(counts) - min(counts) <= 2, field


@needs_scalesim
@pytest.mark.slow
def test_scale_sim_itself_reads_the_solution_s_files_and_gives_what_was_recorded() -> None:
    """A real run, of the products alone: they take a second."""
    design = next(iter(recorded()))
    config, topology = OURS["system_cfg"](design, 50), OURS["topology"](list(GEMMS))
    report = compute_report(config, topology, is_gemm=True)
    cycles, stalls, _ = OURS["totals"](report.splitlines()[0] + "\n", report)
    rows = recorded()[design][len(CONVS) :]
    assert cycles == sum(int(row["total"]) for row in rows)
    assert stalls == sum(int(row["stall"]) for row in rows)
    assert config_text(design).split() == OURS["system_cfg"](design, 50).split()
    assert topology == topology_text(GEMMS)


@needs_scalesim
@pytest.mark.slow
@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_our_model_and_scale_sim_agree_on_layers_and_bandwidths_of_other_sizes(
    dataflow: str,
) -> None:
    """Small layers of which much misses, so that a run takes a second."""
    from lab_utils.instruments.systolic.show.space import explore

    layers = (Gemm("a", 7, 90, 40), Gemm("b", 33, 21, 60))
    for design, bandwidth in (
        (Design(4, 6, 1, 1, 1, dataflow), 20),
        (Design(7, 3, 2, 1, 1, dataflow), 9),
    ):
        text = compute_report(config_text(design, bandwidth), topology_text(layers), is_gemm=True)
        theirs = [line.split(",")[1:3] for line in text.splitlines()[1:]]
        ours = explore(layers, [design], bandwidth)[design]
        assert [(one.total, one.stalls) for one in ours] == [(int(a), int(b)) for a, b in theirs]


@needs_scalesim
@pytest.mark.slow
def test_scale_sim_reports_the_same_with_and_without_its_logs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = config_text(Design(5, 4, 1, 1, 1, "ws"), 10), topology_text(GEMMS[1:2])
    lean = compute_report(*texts, is_gemm=True)
    monkeypatch.setattr(peer, "without_logs", nullcontext)
    assert compute_report(*texts, is_gemm=True) == lean
    assert int(lean.splitlines()[1].split(",")[2]) > 0, "nothing stalls: nothing was fetched"


@needs_scalesim
def test_recording_goes_on_where_it_stopped() -> None:
    assert callable(rows_of)
    assert len(recorded()) >= 1
    whole = [len(rows) for rows in recorded().values()]
    assert set(whole) == {len(CONVS) + len(GEMMS)}, "all five layers of a design, or none"


def test_without_scale_sim_recorded_runs_stand_in_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulators, "has_scalesim", lambda: False)
    design, rows = next(iter(simulators.recorded().items()))
    texts = [OURS["topology"](list(layers)) for layers in (CONVS, GEMMS)]
    ((conv, gemm),) = simulators.scale_sim_runs([OURS["system_cfg"](design, 50)], *texts)
    assert "SCALE-Sim does not run here: this is a recorded run of" in capsys.readouterr().out
    assert OURS["totals"](conv, gemm)[0] == sum(row.total for row in rows)
    unknown = Design(3, 3, 4, 4, 4, "os")
    assert unknown not in simulators.recorded()
    with pytest.raises(LabError, match="not among the recorded runs"):
        simulators.scale_sim(OURS["system_cfg"](unknown, 50), texts[0])


def test_a_product_that_is_taken_for_a_convolution_is_told() -> None:
    config = OURS["system_cfg"](next(iter(recorded())), 50)
    with pytest.raises(LabError, match="SCALE-Sim's option -i gemm"):
        simulators.scale_sim(config, OURS["topology"](list(GEMMS)))
    with pytest.raises(LabError, match="lists convolutions"):
        simulators.scale_sim(config, OURS["topology"](list(CONVS)), gemm=True)


# Stalls and search


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 5)), max_size=8),
    st.integers(2, 40),
)
def test_waiting_cycle_by_cycle_and_the_solution_agree(
    steps: list[tuple[int, int]], period: int
) -> None:
    cycles = np.cumsum([one for one, _ in steps]).astype(int)
    halves = np.cumsum([two for _, two in steps]).astype(int)
    waited = oracle.stalls_cycle_by_cycle(cycles.tolist(), halves.tolist(), period)
    assert OURS["stall_cycles"](cycles, halves, period) == waited


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=30))
def test_comparing_all_with_all_and_the_solution_agree(points: list[tuple[int, int]]) -> None:
    assert sorted(OURS["pareto"](points)) == oracle.front_by_comparing(points)


@given(st.lists(st.integers(-5, 9).map(float), min_size=1, max_size=40))
def test_searching_and_the_solution_find_the_same_scores(scores: list[float]) -> None:
    assert [scores[one] for one in OURS["ten_best"](scores)] == oracle.best_by_searching(scores)


@pytest.mark.slow
def test_the_best_designs_of_the_course_are_the_known_ones() -> None:
    """Objective 1: 5 x 4 ws with 53,367 cycles; objective 2: 3 x 3 ws, 2.073 with three SRAMs."""
    table = explore_designs()
    assert len(table) == 12_288
    designs = [
        Design(*row) for row in table[list(Design._fields)].itertuples(index=False, name=None)
    ]
    rows = zip(designs, table["cycles"].tolist(), table["efficiency"].tolist(), strict=True)
    both = [OURS["scores"](*row) for row in rows]
    first, second = ([round(pair[number], 9) for pair in both] for number in (0, 1))
    best = [first[place] for place in OURS["ten_best"](first)]
    assert [round(one, 3) for one in best[:1]] == [784.396]
    place = OURS["ten_best"](first)[0]
    assert (designs[place][:2], designs[place].dataflow) == ((5, 4), "ws")
    assert table["cycles"][place] == 53_367
    place = OURS["ten_best"](second)[0]
    assert (designs[place][:2], designs[place].dataflow) == ((3, 3), "ws")
    assert second[place] == pytest.approx(2.073, abs=5e-4)
    assert (
        table.groupby(["height", "width", "ifmap_kb", "filter_kb", "dataflow"])["cycles"]
        .nunique()
        .max()
        == 1
    ), "the memory for outputs never matters: twins"


# Prediction


def test_there_is_enough_to_learn_from_and_to_test_with() -> None:
    shipped, held = totals()
    assert not {one._replace(ofmap_kb=0) for one in shipped} & {
        one._replace(ofmap_kb=0) for one in held
    }, "a held-out design has a twin that students have"
    assert len(held) >= len(shipped) / 10


def test_the_mean_is_the_worst_and_the_target_the_hardest() -> None:
    limits = {
        case.wanted["against"]: case.wanted["limit"]
        for case in hidden_of("lab2a").graded_cases("3.3")[len(LAB.public_cases("3.3")) :]
    }
    assert limits["mean"] > max(limits["tree"], limits["formula"])
    assert limits["target"] <= 0.76 * min(limits["tree"], limits["formula"])


def test_a_table_of_the_whole_space_is_no_prediction() -> None:
    """Students can compute it, for the bandwidth of the notebook: what it earns, a learner can."""
    hidden = hidden_of("lab2a").graded_cases("3.3")[len(LAB.public_cases("3.3")) :]
    by_heart = list(totals()[1].values())
    assert [tuple(one) for one in hidden[0].given["asked"]] == [tuple(one) for one in totals()[1]]
    passed = [case for case in hidden if not JUDGE["3.3"](case, by_heart)]
    assert {case.wanted["against"] for case in passed} <= {"mean", "formula"}


@needs_scalesim
@pytest.mark.slow
def test_scale_sim_gives_hidden_cycles_at_their_bandwidth() -> None:
    """A real run of the products on one design, beside the model that made the hidden case."""
    from lab_utils.instruments.systolic.show.space import explore

    design = min(totals()[1], key=lambda one: (one.ifmap_kb + one.filter_kb, -one.height))
    text = compute_report(config_text(design, HIDDEN_BANDWIDTH), topology_text(GEMMS), is_gemm=True)
    theirs = [int(line.split(",")[1]) for line in text.splitlines()[1:]]
    assert theirs == [one.total for one in explore(GEMMS, [design], HIDDEN_BANDWIDTH)[design]]


def test_the_reference_has_room_to_spare() -> None:
    case = hidden_of("lab2a").graded_cases("3.3")[-1]
    told = LAB.ask("3.3")(OURS["predict"], case.given)
    error = OURS["relative_error"](told, case.wanted["cycles"])
    assert error < 0.9 * case.wanted["limit"]


def test_the_table_without_stalls_is_what_the_solution_computes() -> None:
    designs = [Design(5, 4, 1, 1, 1, flow) for flow in DATAFLOWS]
    assert [stall_free_cycles(one) for one in designs] == stall_free(designs)
    assert stall_free_cycles(designs[1]) == 53_367


# The lab as a whole


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab2a", fewer={"3.3": 4})


def test_what_simulates_is_not_in_the_sandbox(tmp_path: Any) -> None:
    """Registers, traffic and stalls answer tasks: where student code runs they are not there."""
    Cut().copy_to(tmp_path / "lab_utils")
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.py")}
    assert "lab_utils/instruments/systolic/designs.py" in there
    assert "lab_utils/labs/lab2a/ask.py" in there
    ours = [path for path in there if "/systolic/" in path or "/lab2a/" in path]
    texts = "\n".join((tmp_path / path).read_text() for path in ours)
    for half in (
        "class Run:",
        "def stall_cycles",
        "def stall_free_cycles(layer",
        "def compute_report",
        "PE_AREA *",
    ):
        assert half not in texts, half


def test_a_prediction_that_is_far_off_is_marked() -> None:
    case = LAB.public_cases("3.3")[0]
    near, far = (SHOW["3.3"](case, [by * one for one in case.wanted["cycles"]]) for by in (1, 9))
    assert "✗" not in near.svg
    assert "✗ more than" in far.svg


def test_choosing_a_design_on_the_front_plays_its_film() -> None:
    designs = [
        Design(3, 3, 1, 1, 1, "os"),
        Design(6, 4, 1, 1, 1, "ws"),
        Design(9, 9, 4, 4, 4, "is"),
    ]
    film = pareto_film(designs, [(90.0, 10.0), (50.0, 20.0), (95.0, 60.0)], [0, 1])
    assert film is not None
    assert "1 of 2 on the front: 6 x 4 ws" in film.picture.value
    before = film.film
    film.chosen.value = 2
    assert "2 of 2 on the front: 3 x 3 os" in film.picture.value
    assert film.film is not before
    assert film.film.play.playing
    assert film.film.takes[0].dataflow == "os"
