"""Lab 3A: PyTorch and the solution agree; mistakes are named, other ways are right."""

from __future__ import annotations

import csv
import operator
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import fx, nn
from torch.fx.node import map_arg

from autograder.grading.hidden import hidden_of
from autograder.labs.lab3a.build import derived_files
from autograder.labs.lab3a.encode import program_of
from autograder.labs.lab3a.noted import note_by_pytorch
from lab_utils.instruments.roofline import Machine
from lab_utils.kit.errors import LabError
from lab_utils.kit.judge import Verdict
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab3a import LAB, changes_its_input, gpt_layer, write_nodes
from lab_utils.labs.lab3a.ask import ask_file
from lab_utils.labs.lab3a.drawing import digraph, draw_nodes
from lab_utils.labs.lab3a.files import FILES
from lab_utils.labs.lab3a.judge.propagation import operators_of
from lab_utils.labs.lab3a.judge.tables import judge_table
from lab_utils.labs.lab3a.programs import inputs_of, meant, module_of, told
from lab_utils.labs.lab3a.show import SHOW
from lab_utils.labs.lab3a.show.strips import Strips, costs
from lab_utils.steps.clock import clock
from tests.labs.lab3a.catalogue import RIGHT, WRONG
from tests.support.catalogue import Catalogue, CatalogueTests
from tests.support.judged import points_of, verdict_of
from tests.support.solved_cells import functions_of

NAMES = {
    "fx": fx,
    "nn": nn,
    "torch": torch,
    "clock": clock,
    "time": time,
    "operator": operator,
    "changes_its_input": changes_its_input,
}


CATALOGUE = Catalogue("lab3a", WRONG, RIGHT, NAMES)
written = CATALOGUE.written


def solution() -> dict[str, Any]:
    """All that our solution defines, each time anew."""
    return functions_of("lab3a", **NAMES)


class TestCatalogue(CatalogueTests):
    catalogue = CATALOGUE

    def said(self, verdict: Verdict) -> str:
        """Every finding: of a graph with many nodes a student reads some."""
        return "\n".join(str(one) for _, findings in verdict.found for one in findings)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("with_values", "def with_values(argument, values):\n    return argument\n"),
        ("timed", "def timed(run, once):\n    return run(), 0.0\n"),
    ],
)
@pytest.mark.parametrize("task", ["1.4", "1.5"])
def test_a_mistake_is_paid_for_once(task: str, name: str, broken: str) -> None:
    """Who has the arguments or the times wrong is lent right ones in the interpreter."""
    space = solution()
    exec(broken, space)
    if (task, name) != ("1.4", "timed"):  # values and shapes do not hang on times
        assert not verdict_of("lab3a", task, space["NodeProp"]).passed
    assert points_of("lab3a", task, space["NodeProp"]) == LAB.task_called(task).points


def test_who_runs_in_place_again_pays_for_the_values_alone() -> None:
    (again,) = (cell for cell in WRONG if (cell.task, cell.name) == ("1.4", "in place again"))
    assert points_of("lab3a", "1.5", written(again)) == LAB.task_called("1.5").points


def test_all_six_kinds_of_nodes_are_in_the_layer() -> None:
    layer, tokens = gpt_layer(16, 4, 6, 20)
    kinds = Counter(node.op for node in layer.graph.nodes)
    assert set(kinds) == {
        *("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
    }
    arguments = str([(node.args, node.kwargs) for node in layer.graph.nodes])
    assert "slice(None, size_2, None)" in arguments
    assert any("." in str(n.target) for n in layer.graph.nodes if n.op == "get_attr")
    assert any(changes_its_input(node, layer) for node in layer.graph.nodes)
    assert layer(tokens).shape == (1, 6, 20)


def test_the_layer_attends_to_the_past_alone() -> None:
    layer, tokens = gpt_layer(16, 4, 6, 20)
    other = tokens.clone()
    other[0, -1] = (other[0, -1] + 1) % 20
    assert torch.equal(layer(tokens)[:, :-1], layer(other)[:, :-1])
    assert not torch.equal(layer(tokens)[:, -1], layer(other)[:, -1])


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 4), st.sampled_from([1, 2, 4]), st.integers(1, 9), st.integers(2, 40))
def test_by_hand_and_by_pytorch_are_the_same_bits(
    times: int, heads: int, tokens: int, words: int
) -> None:
    layer, given_ = gpt_layer(times * 8, heads, tokens, words)
    with torch.no_grad():
        mine = solution()["NodeProp"](layer).propagate(given_)
        assert torch.equal(mine, layer(given_))
        assert torch.equal(mine, fx.Interpreter(layer).run(given_))
    shapes = {node.name: node.meta["shape"] for node in layer.graph.nodes}
    note_by_pytorch(layer, given_)
    assert shapes == {node.name: node.meta["shape"] for node in layer.graph.nodes}


plain = st.none() | st.booleans() | st.integers(-9, 9) | st.text("xy", max_size=2)
arguments = st.recursive(
    plain | st.sampled_from(["a", "b"]).map(lambda name: {"node": name}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(lambda parts: {"tuple": parts})
        | st.lists(inner, min_size=3, max_size=3).map(lambda parts: {"slice": parts})
        | st.dictionaries(st.text("kl", max_size=2), inner, max_size=3).map(
            lambda parts: {"dict": [list(pair) for pair in parts.items()]}
        )
    ),
    max_leaves=8,
)


@given(arguments)
def test_arguments_as_map_arg_has_them(argument: Any) -> None:
    graph = fx.Graph()
    nodes = {name: graph.placeholder(name) for name in "ab"}
    values: dict[fx.Node, Any] = {nodes["a"]: 5, nodes["b"]: (1, 2)}
    given_ = meant(argument, nodes)
    mine = solution_of_arguments()(given_, values)
    assert told(mine) == told(map_arg(given_, lambda node: values[node]))
    assert told(given_) == argument


@cache
def solution_of_arguments() -> Any:
    return solution()["with_values"]


def test_a_program_computes_what_its_module_does() -> None:
    for task in ("1.1", "1.4"):
        for case in hidden_of("lab3a").graded_cases(task):
            program = case.given["program"]
            module, inputs = module_of(program), inputs_of(program)
            before = [one.clone() for one in inputs]
            again = module_of(program_of(module_of(program), *inputs_of(program)))
            assert told(module(*inputs)) == told(again(*before)), case.name


def test_who_changes_its_input_is_known() -> None:
    """By the counter that every tensor of PyTorch has for being written to."""
    for case in hidden_of("lab3a").graded_cases("1.4"):
        module = module_of(case.given["program"])

        class Watching(fx.Interpreter):
            def run_node(self, n: fx.Node) -> Any:
                tensors = [self.env[m] for m in n.all_input_nodes]
                tensors = [one for one in tensors if isinstance(one, torch.Tensor)]
                before = [one._version for one in tensors]
                value = super().run_node(n)
                changed = [one._version for one in tensors] != before
                assert changed == changes_its_input(n, self.module), n.name
                return value

        with torch.no_grad():
            Watching(module).run(*inputs_of(case.given["program"]))


def test_no_two_nodes_of_a_case_share_a_pretended_time() -> None:
    """So that it does not matter in which order a student times them."""
    for case in hidden_of("lab3a").graded_cases("1.5"):
        keys = Counter(key for called in operators_of(case).values() for key in called)
        assert max(keys.values()) == 1, (case.name, keys)


@pytest.fixture
def noted() -> tuple[fx.GraphModule, torch.Tensor]:
    layer, tokens = gpt_layer(16, 4, 6, 20)
    note_by_pytorch(layer, tokens)
    return layer, tokens


def test_the_table_of_nodes(tmp_path: Path, noted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    layer, _ = noted
    (case,) = LAB.public_cases("1.7")
    table, picture = FILES
    assert judge_table(case, ask_file(write_nodes(layer))) == []
    content = Path("nodes.csv").read_bytes()
    assert table.problem(content) == ""
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert list(rows[0]) == ["", "op", "target", "args", "kwargs", "shape", "latency"]
    assert len(rows) == len(layer.graph.nodes)
    assert [row[""] for row in rows] == [str(n) for n in range(len(rows))]
    text = content.decode()
    for old, new, says in (
        ("op,target", "kind,target", "op,target"),
        ("call_method", "call_function", "call_method"),
        ("[1, 6, 16]", "a shape", "a shape such as"),
        (rows[-2]["latency"], "quick", "a latency in milliseconds"),
        (rows[-2]["latency"], "0", "above 0"),
        (text.splitlines()[3] + "\n", "", "rows, one a node"),
    ):
        (finding,) = judge_table(
            case,
            {
                "file": "nodes.csv",
                "text": text.replace(old, new, 1)
                if old != rows[-2]["latency"]
                else new.join(text.rsplit(old, 1)),
            },
        )
        assert says in finding.wanted, finding
    (finding,) = judge_table(case, {"file": "nodes.csv", "text": None})
    assert "no such file" in finding.yours
    other = text.replace(rows[-2]["latency"], "7.5")
    assert table.difference(other.encode(), content) == ""
    assert table.difference(text.replace("gelu", "relu").encode(), content)
    assert "first line" in table.problem(b"")
    assert picture.problem(b"GIF89a")


def test_without_a_latency_there_is_no_table(tmp_path: Path) -> None:
    layer, _ = gpt_layer(8, 2, 4, 9)
    with pytest.raises(LabError, match="node .* has no shape and no latency yet: run NodeProp"):
        write_nodes(layer, str(tmp_path / "nodes.csv"))


def test_what_an_earlier_task_broke_is_that_task_s(
    tmp_path: Path, noted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    layer, _ = noted
    (case,) = LAB.public_cases("1.7")
    for node in list(layer.graph.nodes)[20:]:  # as if NodeProp had failed there
        del node.meta["shape"], node.meta["latency"]
    (finding,) = judge_table(case, ask_file(write_nodes(layer)))
    assert "1.4" in finding.belongs.split()


@pytest.mark.parametrize("dot", [True, False])
def test_the_picture_is_a_png_with_or_without_graphviz(
    dot: bool,
    tmp_path: Path,
    noted: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not dot:
        monkeypatch.setenv("PATH", str(tmp_path))
    file = draw_nodes(noted[0], str(tmp_path / "graph.png"))
    assert FILES[1].problem(Path(file).read_bytes()) == ""
    if not dot:
        assert "dot is not installed" in capsys.readouterr().out
    source = digraph(noted[0].graph).source
    assert "softmax (" in source
    assert "1×4×6×6" in source


def test_measured_beside_the_roof(noted: Any) -> None:
    layer, tokens = noted
    machine = Machine("slow", {"fp32": 1e9}, 1e9, 1e9, 1e9)
    by_name = {cost.name: cost for cost in costs(layer, machine, tokens)}
    up = by_name["up"]
    assert up.flops == 2 * 6 * 16 * 64
    assert up.nbytes == 4 * (6 * 16 + 16 * 64 + 64 + 6 * 64)
    assert up.roof == pytest.approx(1e3 * max(up.flops, up.nbytes) / 1e9)
    assert by_name["view"].nbytes == by_name["size"].nbytes == 0
    assert by_name["gelu"].flops == 0
    assert by_name["gelu"].nbytes == 4 * 2 * 6 * 64
    assert by_name["masked_fill_"].nbytes > 0
    picture = Strips(list(by_name.values()), machine).drawing()
    assert "under the roof" in picture.words
    assert 'aria-label="measured' in picture.svg
    assert "Python: nothing is computed" in picture.svg or len(by_name) > 12


@pytest.mark.parametrize("task", SHOW)
def test_a_picture_shows_yours_and_wanted(task: str) -> None:
    case = LAB.public_cases(task)[0]
    picture = SHOW[task](case, {"latencies": {"x": 0.0}})
    assert "aria-label" in picture.svg
    assert "wanted" in picture.words


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"
