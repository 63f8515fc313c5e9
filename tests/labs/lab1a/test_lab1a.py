"""Lab 1A: what counts, what PyTorch counts and the solution agree; mistakes are named."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.labs.lab1a import clockwork
from autograder.labs.lab1a import definitions as d
from autograder.labs.lab1a.build import derived_files, network
from autograder.labs.lab1a.torch_layer import decoder_layer, memory
from lab_utils.instruments.counting import Tally, added_up
from lab_utils.instruments.roofline import MACHINES, Machine, item_bytes
from lab_utils.instruments.shapes import LLAMA_7B, MODELS, Transformer
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab1a import (
    COLUMNS,
    HANDOUT,
    INSTANCES,
    LAB,
    ROW,
    Times,
    layer_names,
    write_counts,
    write_table,
)
from lab_utils.labs.lab1a.judge.looks import LOOK
from lab_utils.labs.lab1a.show import SHOW
from tests.labs.lab1a.catalogue import RIGHT, WRONG
from tests.support.catalogue import Catalogue, CatalogueTests
from tests.support.judged import points_of, verdict_of
from tests.support.solved_cells import solution_cells

NAMES = {
    "Machine": Machine,
    "ROW": ROW,
    "Tally": Tally,
    "Times": Times,
    "Transformer": Transformer,
    "added_up": added_up,
    "item_bytes": item_bytes,
    "layer_names": layer_names,
    "math": math,
}


CATALOGUE = Catalogue("lab1a", WRONG, RIGHT, NAMES)


def solution() -> dict[str, Any]:
    """All functions of our solution."""
    return CATALOGUE.solution


class TestCatalogue(CatalogueTests):
    catalogue = CATALOGUE


@pytest.mark.parametrize("task", ["1.2", "1.3"])
def test_attention_does_not_pay_for_what_it_calls(task: str) -> None:
    """Who has GEMM or SoftMax wrong is lent right ones in task 1.5."""
    asked = LAB.task_called(task).asks
    space = dict(solution()) | {asked: lambda *_: 7}
    exec(solution_cells("lab1a")["t15"], space)
    assert not verdict_of("lab1a", "1.5", space["attention_ops"]).passed
    assert points_of("lab1a", "1.5", space["attention_ops"]) == LAB.task_called("1.5").points


#: Slips that are seen without comparing numbers.
_WITHOUT_A_VALUE = {
    "2.1": {"bound"},
    "2.2": {"count"},
    "2.3": {"letter"},
    "2.7": {"never", "always"},
}


def test_every_sentence_can_be_heard() -> None:
    """Each slip that has a sentence is in some case, and each slip in a case has a sentence."""
    for task, looks in LOOK.items():
        cases = hidden_of("lab1a").graded_cases(task)
        known = {name for case in cases for name, _ in case.wanted.get("slips", [])}
        known |= _WITHOUT_A_VALUE.get(task, set())
        assert known | {""} == set(looks), task


def test_what_a_slip_answers_is_never_right() -> None:
    for task in LAB.tasks:
        for case in hidden_of("lab1a").graded_cases(task.id):
            wanted = next(v for k, v in case.wanted.items() if k != "slips")
            assert all(value != wanted for _, value in case.wanted["slips"]), case.name


lengths = st.integers(1, 5)


@settings(max_examples=25)
@given(st.tuples(lengths, lengths, lengths, lengths), st.integers(1, 20))
def test_counting_and_the_solution_agree(dims: tuple[int, int, int, int], w: int) -> None:
    names = solution()
    B, M, N, _ = dims
    assert d.run(d.gemm, dims).operations(w) == names["gemm_ops"](*dims)
    assert d.run(d.softmax, (B, M)).operations(w) == names["softmax_ops"](B, M, w)
    assert d.run(d.attention, dims).operations(w) == names["attention_ops"](*dims, w)
    shape = (B, M, N + 1)  # the deviation of one number is 0
    assert d.run(d.layernorm, shape).operations(w) == names["layernorm_ops"](*shape, w)
    for operator, at in (
        ("gemm", dims),
        ("attention", dims),
        ("softmax", (B, M)),
        ("layernorm", shape),
    ):
        counted = d.run(d.RIGHT[operator], at)
        assert tuple(counted.elements) == names["elements"](operator, list(at))


@settings(max_examples=15)
@given(st.tuples(lengths, lengths, lengths, lengths))
def test_what_is_extended_is_what_is_counted(dims: tuple[int, int, int, int]) -> None:
    for definition in (d.gemm, d.attention, d.gemm_from_zero, d.attention_from_zero):
        assert d.cost(definition, dims) == d.run(definition, dims)


KNOWN = [
    ("softmax", (2, 256), 12_798),
    ("gemm", (32, 16, 8, 32), 258_048),
    ("layernorm", (2, 8, 512), 131_616),
    ("attention", (1, 256, 384, 12), 109_707_020),
    ("layernorm", (64, 512, 4096), 2_148_597_760),
    ("attention", (64, 512, 4096, 4096), 3_573_479_866_380),
    ("gemm", (64, 512, 11008, 4096), 2_954_576_789_504),
    ("gemm", (64, 512, 4096, 11008), 2_954_803_281_920),
    ("softmax", (64 * 512, 4096), 3_355_410_432),
]


@pytest.mark.parametrize(("operator", "dims", "right"), KNOWN)
def test_known_figures_of_the_course(operator: str, dims: tuple[int, ...], right: int) -> None:
    assert d.cost(d.RIGHT[operator], dims).operations(12) == right


def test_the_published_layernorm_is_one_addition_too_many() -> None:
    wrong = d.layernorm_by(d.norm_one_more)
    assert d.cost(wrong, (2, 8, 512)).operations(12) == 131_632


models = st.builds(
    lambda layers, width, groups, kv, head, hidden, gated, vocab: Transformer(
        "m", layers, width, groups * kv, kv, head, hidden, gated, vocab, 64
    ),
    *(st.integers(1, 4), st.integers(1, 40), st.integers(1, 4), st.integers(1, 4)),
    *(st.integers(1, 9), st.integers(1, 50), st.booleans(), st.integers(1, 99)),
)
small = st.integers(1, 9)


@settings(max_examples=25, deadline=None)
@given(models, small, small, st.integers(0, 20))
def test_pytorch_and_the_solution_agree(
    model: Transformer, batch: int, new: int, past: int
) -> None:
    layer, names = decoder_layer(model, batch, new, past), solution()
    assert names["layer_flops"](model, batch, new, past) == layer.flops
    assert names["layer_elements"](model, batch, new, past) == layer.elements
    for dtype in ("fp32", "int8"):
        right = tuple(memory(model, batch, new + past, dtype))
        assert names["memory_needed"](model, batch, new + past, dtype) == right


def test_llama_7b_as_published() -> None:
    flops = LLAMA_7B.layers * sum(decoder_layer(LLAMA_7B, 1, 512, 0).flops.values())
    assert flops + 2 * 512 * LLAMA_7B.width * LLAMA_7B.vocab == 6_903_086_186_496
    published = {
        "LLaMA-7B": 6_738_415_616,
        "Llama 3 8B": 8_030_261_248,
        "Llama 2 70B": 68_976_648_192,
    }
    for name, parameters in published.items():
        assert memory(MODELS[name], 1, 1, "int8")[0] == parameters


@pytest.mark.slow
@pytest.mark.parametrize(("new", "past"), [(7, 0), (1, 12), (3, 5)])
def test_the_real_llama_agrees(new: int, past: int) -> None:
    """Hugging Face's model, with grouped queries and a cache, counted by PyTorch."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    model = Transformer("small", 3, 64, 8, 2, 16, 160, True, 101, 64)
    config = LlamaConfig(
        hidden_size=model.width,
        intermediate_size=model.hidden,
        num_hidden_layers=model.layers,
        num_attention_heads=model.heads,
        num_key_value_heads=model.kv_heads,
        head_dim=model.head,
        vocab_size=model.vocab,
        tie_word_embeddings=False,
    )
    real, seen = LlamaForCausalLM(config), DynamicCache()
    real.set_attn_implementation("eager")  # the counter knows no fused attention of the CPU
    with torch.no_grad():
        if past:
            real(torch.ones(2, past, dtype=torch.long), past_key_values=seen)
        with FlopCounterMode(display=False) as counter:
            real(torch.ones(2, new, dtype=torch.long), past_key_values=seen)
    layers = model.layers * sum(solution()["layer_flops"](model, 2, new, past).values())
    tables = 2 * 2 * new * model.width * model.vocab
    # The rotary angles are a product too: each position with each frequency, once.
    angles = counter.get_total_flops() - layers - tables
    assert angles in (0, 2 * new * model.head // 2, 2 * 2 * new * model.head // 2)
    assert memory(model, 2, 9, "fp32")[0] == sum(p.nbytes for p in real.parameters())


@settings(max_examples=40)
@given(
    st.tuples(
        st.integers(0, 10**14),
        st.integers(1, 10**11),
        st.sampled_from(["fp32", "bf16", "int8"]),
        st.sampled_from(list(MACHINES.values())),
        st.floats(0.05, 1),
        st.floats(0.05, 1),
    )
)
def test_a_clock_and_the_solution_agree(work: Any) -> None:
    mine, right = solution()["times"](*work), clockwork.times(*work)
    for name in ("compute", "memory", "execution", "intensity"):
        assert getattr(mine, name) == pytest.approx(right[name], rel=1e-12, abs=1e-40)
    if abs(mine.compute - mine.memory) > 1e-3 * mine.execution:
        assert mine.bound == right["bound"]


@settings(max_examples=40)
@given(
    st.integers(0, 10**14),
    st.tuples(st.integers(1, 10**10), st.integers(0, 10**10), st.integers(1, 10**10)),
    st.sampled_from(list(MACHINES.values())),
)
def test_exact_units_and_the_solution_agree(
    work: int, moved: tuple[int, int, int], machine: Machine
) -> None:
    took = clockwork.times(work, sum(moved), "fp32", machine, 0.75, 0.7)
    mine = solution()["table_row"](work, moved, Times(**took), machine.clock)
    right = clockwork.row(work, list(moved), took, machine.clock)
    assert list(right) == list(ROW)
    assert mine.pop("Bound") == right.pop("Bound")
    assert mine == pytest.approx(right, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(64, 9000),
    st.integers(64, 9000),
    st.sampled_from(["fp32", "bf16", "int8"]),
    st.sampled_from(list(MACHINES.values())),
)
def test_a_scan_and_the_closed_form_agree(K: int, N: int, dtype: str, machine: Machine) -> None:
    try:
        scanned = clockwork.ridge_batch(K, N, dtype, machine)
    except ValueError:  # it crosses far away
        return
    assert solution()["ridge_batch"](K, N, dtype, machine) == scanned


@given(st.tuples(*[st.integers(1, 50)] * 5))
def test_tensors_and_the_list_of_operators_agree(sizes: Any) -> None:
    mine = [[name, list(dims)] for name, dims in solution()["network"](*sizes)]
    assert mine == network(*sizes)


def _operations(name: str, dims: Any) -> int:
    counts = solution()
    return int(counts["gemm_ops"](*dims) if name == "gemm" else counts[f"{name}_ops"](*dims, 12))


def test_the_tables_of_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = solution()
    write_counts("output_a1.csv", names["elements"], _operations)
    rows = list(csv.reader(Path("output_a1.csv").read_text().splitlines()))
    assert len(rows) == len(INSTANCES) == 8
    assert rows[0] == ["softmax [2, 256]", "[512, 0, 512]", "12798"]
    llama = names["network"](64, 512, 4096, 4096, 11008)
    counts = (names["elements"], _operations, names["times"], names["table_row"])
    write_table("output_a3i.csv", llama, *counts, HANDOUT["A100"])
    table = list(csv.DictReader(Path("output_a3i.csv").read_text().splitlines()))
    assert list(table[0]) == list(COLUMNS)
    assert "".join(row["Bound"] for row in table) == "MCCCMM"
    attention = table[1]
    seconds = 3_573_479_866_380 / (156e12 * 0.75)
    assert float(attention["Latency (msec)"]) == pytest.approx(1e3 * seconds)
    assert float(attention["Cycles"]) == pytest.approx(1095e6 * seconds)
    assert float(attention["Input_w (MB)"]) == 48
    files = {file.name: file for file in LAB.files}
    for name in ("output_a1.csv", "output_a3i.csv"):
        assert files[name].problem(Path(name).read_bytes()) == ""
        assert files[name].problem(b"")
    assert files["output_a3i.csv"].problem(b"a,b\n1,2\n")
    written = Path("output_a3i.csv").read_text()
    short, odd = written.rpartition("softmax")[0], written.replace(",48,", ",many,")
    assert "5 rows of 6" in files["output_a3i.csv"].problem(short.encode())
    assert "the row of attention has" in files["output_a3i.csv"].problem(odd.encode())


@pytest.mark.parametrize("task", SHOW)
def test_a_picture_shows_yours_and_wanted(task: str) -> None:
    case = LAB.public_cases(task)[0]
    (key,) = set(case.wanted) - {"slips"}
    right = case.wanted[key]
    picture = SHOW[task](case, right)
    assert "aria-label" in picture.svg
    assert "yours" in picture.words
    if task == "2.1":
        picture = SHOW[task](case, {**right, "execution": 2 * right["execution"]})
        assert "wanted" in picture.words


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"
