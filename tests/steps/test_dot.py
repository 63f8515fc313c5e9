"""A .dot file is a picture and a program: what is written is what is read."""

from __future__ import annotations

import gc
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import fx, nn

from lab_utils.kit.errors import LabError
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot import plain as dot_plain
from lab_utils.steps.dot import read as dot_read
from lab_utils.steps.dot import syntax as dot_syntax
from lab_utils.steps.dot import write as dot_write
from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.limits import MAX_NODES
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.values import value_text
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import (
    Kind,
    Opaque,
    Phase,
    add_control_dependency,
    control_dependencies,
    copy_graph,
    is_opaque,
    kind,
    mark_recomputed,
    operator_name,
    phase,
)
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload
from tests.support.dot_files import PLAIN, THIN
from tests.support.same_graph import (
    assert_same,
    assert_same_but_for_order,
    labels,
    same_bits,
    shown,
)
from tests.support.strategies import random_step_graph
from tests.support.workloads import CASES

aten = torch.ops.aten


@cache
def traced(name: str) -> fx.Graph:
    """A traced model; no test may change it."""
    return CASES[name]().graph


def with_clones(graph: fx.Graph) -> fx.Graph:
    """A copy in which backward reads clones of some activations, each waiting for a gradient."""
    graph, _ = copy_graph(graph)
    nodes = list(graph.nodes)
    backward = [n for n in nodes if phase(n) is Phase.BACKWARD]
    for reader in backward:
        for read in reader.all_input_nodes:
            if phase(read) is Phase.FORWARD and operator_name(read) == "aten.silu.default":
                with graph.inserting_before(reader):
                    clone = mark_recomputed(graph.node_copy(read))
                add_control_dependency(clone, backward[0], reader.prev.prev)
                reader.replace_input_with(read, clone)
    return graph


# Round trips


@pytest.mark.parametrize("name", CASES)
def test_a_traced_model_survives_the_file(name: str) -> None:
    graph = traced(name)
    text = write_dot(graph)
    again = read_dot(text)
    assert_same(graph, again)
    assert write_dot(again) == text


@pytest.mark.parametrize("name", ["llm_mlp_adam", "attention", "bert_dropout", "resnet"])
def test_a_file_computes_the_same_bits(name: str) -> None:
    assert same_bits(traced(name), read_dot(write_dot(traced(name))))


def test_clones_and_control_dependencies_survive() -> None:
    graph = with_clones(traced("llm_mlp"))
    again = read_dot(write_dot(graph))
    assert_same(graph, again)
    clones = [node for node in again.nodes if phase(node) is Phase.RECOMPUTE]
    assert clones
    assert all(kind(clone) is Kind.RECOMP and control_dependencies(clone) for clone in clones)


@given(random_step_graph(random_numbers=True))
def test_a_random_graph_survives_the_file(graph: fx.Graph) -> None:
    text = write_dot(graph)
    again = read_dot(text)
    assert_same(graph, again)
    assert write_dot(again) == text


@settings(max_examples=15)
@given(random_step_graph(random_numbers=True), st.randoms(use_true_random=False))
def test_the_order_of_statements_is_not_needed(graph: fx.Graph, rng: Any) -> None:
    first, *statements, last = write_dot(graph).splitlines()
    defaults, statements = statements[:3], statements[3:]
    rng.shuffle(statements)
    again = read_dot("\n".join([first, *defaults, *statements, last]))
    assert_same_but_for_order(graph, again)
    assert same_bits(graph, again)
    given = [node.op == "placeholder" for node in again.nodes]
    assert given == sorted(given, reverse=True), "placeholders come first"


def test_other_processes_write_the_same_bytes(tmp_path: Path) -> None:
    script = (
        "import torch; from tests.support.workloads import CASES;"
        "from lab_utils.steps.dot.write import *;"
        f"write_dot(CASES['in_place']().graph, {str(tmp_path / 'other.dot')!r})"
    )
    root = Path(__file__).parent.parent
    subprocess.run([sys.executable, "-c", script], cwd=root, check=True)
    assert (tmp_path / "other.dot").read_text() == write_dot(traced("in_place"))


# The form of a file


def test_a_file_is_a_picture() -> None:
    text = write_dot(with_clones(traced("llm_mlp")))
    lines = text.splitlines()
    assert lines[0] == "digraph training_step {"
    assert (
        '  x [label="x: INPUT", fillcolor=lightblue, op=placeholder, value="f32[64,16]", ' in text
    )
    assert 'label="l0_gate_proj: MM", fillcolor=yellow, op="aten.mm.default", args="(_, _)"' in text
    assert '  x -> l0_gate_proj [arg="0"];' in lines
    clone = next(line for line in lines if "phase=recompute" in line)
    assert "fillcolor=orange" in clone
    assert any(line.endswith("[style=dashed];") for line in lines)
    assert any("_update [style=dotted" in line for line in lines)
    assert all(line.endswith(";") for line in lines[1:-1])


def test_every_kind_has_a_colour_of_its_own() -> None:
    assert set(COLOURS) == set(Kind)
    assert len(set(COLOURS.values())) == len(Kind)


def test_outputs_keep_their_order_and_may_share_a_node() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta = {"phase": Phase.FORWARD, "kind": Kind.INPUT, "val": torch.empty(2, device="meta")}
    y = graph.create_node("call_function", aten.relu.default, (x,), name="y")
    y.meta = {**x.meta, "kind": Kind.ACTIVATION}
    odd = 'grad:a|b %7C "quoted" \\ ü\n'
    graph.output({"loss": y, odd: x, "same": y, "grad:%": x})
    again = read_dot(write_dot(graph))
    assert labels(again) == [("loss", "y"), (odd, "x"), ("same", "y"), ("grad:%", "x")]


@pytest.mark.parametrize("names", [["a_1", "a", "a_2"], ["x_01", "x_1", "x"], ["Node", "edge"]])
def test_names_are_kept(names: list[str]) -> None:
    graph = fx.Graph()
    for index, name in enumerate(names):
        node = graph.create_node("placeholder", name, name=name)
        node.meta = {
            "phase": Phase.FORWARD,
            "kind": Kind.INPUT,
            "source": f"input:{index}",
            "val": torch.empty(2, device="meta"),
        }
    graph.output({})
    assert [node.name for node in read_dot(write_dot(graph)).nodes][:-1] == names


def test_names_that_torch_fx_forbids_do_not_push_others_aside() -> None:
    attributes = 'op=placeholder, value="f32[2]", phase=forward, kind=INPUT'
    names = ["sum", '"layer 0"', "sum_1", "layer_0", "layer_0_1", '"class"', "7"]
    text = "".join(f"{name} [{attributes}]; " for name in names)
    got = [node.name for node in read_dot(f"digraph {{ {text} }}").nodes][:-1]
    assert got == ["sum_2", "layer_0_2", "sum_1", "layer_0", "layer_0_1", "class_1", "_7_1"]


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "step.dot"
    text = write_dot(traced("shared"), path)
    assert path.read_text() == text
    assert_same(read_dot(path), read_dot(str(path)))

    def broken(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(DotError, match=r"step\.dot: it cannot be written \(No space left"):
        write_dot(traced("in_place"), path)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


# Graphviz


@pytest.mark.needs_dot
@pytest.mark.parametrize("form", ["dot", "canon"])
@pytest.mark.parametrize("name", ["llm_mlp_adam", "in_place"])
def test_what_graphviz_makes_of_a_file_is_read(form: str, name: str) -> None:
    graph = with_clones(traced(name))
    assert_same_but_for_order(graph, read_dot(_graphviz(form, write_dot(graph))))


@pytest.mark.needs_dot
@settings(max_examples=10)
@given(random_step_graph(max_operators=12))
def test_what_graphviz_makes_of_a_random_file_is_read(graph: fx.Graph) -> None:
    assert_same_but_for_order(graph, read_dot(_graphviz("dot", write_dot(graph))))


def _graphviz(form: str, text: str) -> str:
    return subprocess.run(
        ["dot", f"-T{form}"], input=text, capture_output=True, text=True, check=True
    ).stdout


# Writing


def test_what_a_file_cannot_hold_is_told() -> None:
    def broken(change: Any) -> str:
        graph, _ = copy_graph(read_dot(PLAIN))
        nodes = {node.name: node for node in graph.nodes}
        change(graph, nodes)
        with pytest.raises(DotError, match=r"^cannot write node|^the graph|^output") as caught:
            write_dot(graph)
        return str(caught.value)

    def set_(name: str, attribute: str, value: Any) -> Any:
        return lambda _, nodes: setattr(nodes[name], attribute, value)

    assert "node c: operator aten.resize_.default is not on the list" in broken(
        set_("c", "target", aten.resize_.default)
    )
    assert "node c: operator MM is not on the list" in broken(set_("c", "target", Opaque("MM")))
    assert "argument dtype is a object, which" in broken(set_("c", "kwargs", {"dtype": object()}))
    assert "argument 1 is a complex" in broken(lambda g, n: setattr(n["c"], "args", (n["b"], 1j)))
    assert "no phase or kind" in broken(lambda g, n: n["c"].meta.pop("kind"))
    assert "no meta['val']" in broken(lambda g, n: n["c"].meta.pop("val"))
    assert "reads c, which is not made before it" in broken(
        lambda g, n: n["b"].replace_input_with(n["a"], n["c"])
    )
    other = read_dot(PLAIN)
    assert "waits for c, which is not in the graph" in broken(
        lambda g, n: n["c"].meta.update(waits_for=(list(other.nodes)[2],))
    )
    assert "a placeholder is given" in broken(lambda g, n: add_control_dependency(n["a"], n["c"]))
    assert "has no output" in broken(lambda g, n: g.erase_node(n["output"]))
    assert "node c: it is handed back, but is not in the graph" in broken(
        lambda g, n: set_("output", "args", ({"loss": list(other.nodes)[2]},))(g, n)
    )
    assert "must be a node" in broken(lambda g, n: set_("output", "args", ({"loss": 3},))(g, n))


# The older, thinner form


def test_the_older_form_is_a_graph_that_cannot_run() -> None:
    graph = read_dot(THIN)
    nodes = {node.name: node for node in graph.nodes}
    assert [*nodes] == ["x", "w", "n2", "n3", "d_h", "h_recomp", "d_w", "n7", "output"]
    assert [nodes[name].op for name in ("x", "w", "n2")] == ["placeholder"] * 2 + ["call_function"]
    assert [nodes[name].target for name in ("n2", "n3")] == [Opaque("MM"), Opaque("RELU")]
    assert [n.name for n in nodes["d_w"].args] == ["d_h", "h_recomp", "h_recomp"]
    assert control_dependencies(nodes["h_recomp"]) == (nodes["d_h"],)
    assert [kind(node) for node in graph.nodes][:-1] == [
        *(Kind.INPUT, Kind.WEIGHT, Kind.ACTIVATION, Kind.ACTIVATION),
        *(Kind.GRAD_ACT, Kind.RECOMP, Kind.GRAD_WEIGHT, Kind.OTHER),
    ]
    assert phase(nodes["h_recomp"]) is Phase.RECOMPUTE
    assert phase(nodes["d_h"]) is Phase.BACKWARD
    assert phase(nodes["n7"]) is Phase.OPTIMIZER
    assert "val" not in nodes["n2"].meta
    assert labels(graph) == [("n7", "n7")]
    assert is_opaque(graph)
    with pytest.raises(LabError, match="cannot be run"):
        nodes["n2"].target(1)


@pytest.mark.needs_dot
@pytest.mark.parametrize("form", ["dot", "canon"])
def test_the_older_form_laid_out_by_graphviz(form: str) -> None:
    # Graphviz sorts edges by their tail, so that the order of operands is lost.
    def drawn(text: str) -> dict[str, tuple[Any, ...]]:
        return {
            n.name: (n.op, n.target, kind(n), sorted(shown(n.args)[1:]), control_names(n))
            for n in read_dot(text).nodes
            if n.op != "output"
        }

    def control_names(node: fx.Node) -> set[str]:
        return {other.name for other in control_dependencies(node)}

    assert drawn(THIN) == drawn(_graphviz(form, THIN))


def test_the_older_form_has_no_circles_either() -> None:
    with pytest.raises(
        DotError, match="<text>: no order is legal, .*: n2 -> n3 -> n2|n3 -> n2 -> n3"
    ):
        read_dot(THIN.replace("n2 -> n4", "n3 -> n2 [style=dashed]"))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_round_trip_of_other_precisions(dtype: torch.dtype) -> None:
    """The CPU keeps the statistics of a norm in another type than ``meta`` says."""
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)).to(dtype)
    batch = torch.randn(5, 8, dtype=dtype)
    text = write_dot(trace_workload(Workload(model, batch, batch, nn.MSELoss())))
    assert write_dot(read_dot(text)) == text


def test_strides_that_nobody_steps_by_make_no_difference() -> None:
    odd = torch.empty_strided((1, 8, 6), (48, 1, 8), device="meta")
    even = torch.empty_strided((1, 8, 6), (8, 1, 8), device="meta")
    assert value_text(odd) == value_text(even)
    assert value_text(torch.empty_strided((3, 1), (1, 7), device="meta")) == "f32[3,1]"
    assert value_text(torch.empty_strided((3, 2), (1, 3), device="meta")) == "f32[3,2]{1,3}"


def test_what_could_not_be_read_is_not_written() -> None:
    """Backward of a loss without reduction trusts its targets: no file may hold it."""
    work = Workload(
        nn.Linear(4, 8),
        torch.randn(5, 4),
        torch.randint(8, (5,)),
        lambda r, t: nn.functional.cross_entropy(r, t, reduction="none").mean(),
    )
    with pytest.raises(DotError, match=r"cannot write node .*reduction must be 1"):
        write_dot(trace_workload(work))


def chain(nodes: int) -> fx.Graph:
    """One value, and an operator after the other."""
    graph = fx.Graph()
    val = torch.empty(2, device="meta")
    node = graph.placeholder("x")
    node.meta = {"phase": Phase.FORWARD, "kind": Kind.INPUT, "val": val, "source": "input:0"}
    for _ in range(nodes - 1):
        node = graph.call_function(torch.ops.aten.relu.default, (node,))
        node.meta = {"phase": Phase.FORWARD, "kind": Kind.ACTIVATION, "val": val}
    graph.output({"loss": node})
    return graph


def test_the_largest_graph_that_is_written_is_the_largest_that_is_read() -> None:
    largest = chain(MAX_NODES)
    assert len(read_dot(write_dot(largest)).nodes) == len(largest.nodes)
    with pytest.raises(DotError, match="the graph has 50,001 nodes, but a file holds at most"):
        write_dot(chain(MAX_NODES + 1))


@pytest.mark.parametrize("limit", ["MAX_NODES", "MAX_EDGES", "MAX_BYTES"])
def test_one_limit_holds_for_writing_and_reading(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = chain(9)
    text = write_dot(graph)
    most = {"MAX_NODES": 9, "MAX_EDGES": 8, "MAX_BYTES": len(text)}[limit]
    for allowed in (most, most - 1):
        for module in (dot_read, dot_plain, dot_syntax, dot_write):
            if hasattr(module, limit):
                monkeypatch.setattr(module, limit, allowed)
        if allowed == most:
            assert write_dot(read_dot(text)) == text
            continue
        for refused in (lambda: read_dot(text), lambda: write_dot(graph)):
            with pytest.raises(DotError, match="more than|larger than|at most"):
                refused()


def test_reading_and_comparing_leave_the_garbage_collector_as_it_was() -> None:
    text = write_dot(chain(3))
    for on in (True, False):
        gc.enable() if on else gc.disable()
        try:
            diff(read_dot(text), read_dot(text))
            with pytest.raises(DotError):
                read_dot("digraph {")
            assert gc.isenabled() == on
        finally:
            gc.enable()
