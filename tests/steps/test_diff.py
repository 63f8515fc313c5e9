"""Graphs are compared by structure: what is the same is equal, what differs is found and told."""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import fx
from torch.utils._pytree import tree_flatten_with_path

from lab_utils.kit.errors import LabError
from lab_utils.steps.compare import reach
from lab_utils.steps.compare.diff import Difference, Differs, diff
from lab_utils.steps.graph import (
    CycleError,
    Kind,
    Opaque,
    Phase,
    add_control_dependency,
    clear_control_dependencies,
    control_dependencies,
    copy_graph,
    kind,
    mark_recomputed,
    operator_name,
    phase,
)
from lab_utils.steps.storage import dependencies
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import attention, llm_mlp
from tests.support.strategies import random_step_graph

aten = torch.ops.aten
Nodes = dict[fx.Node, fx.Node]
Before = dict[fx.Node, list[fx.Node]]
seeds = st.integers(0, 1000)


# The same step under other names and in another order


def reordered(graph: fx.Graph, before: Before, seed: int = 0) -> tuple[fx.Graph, Nodes]:
    """A copy in a random order that obeys ``before``, with names that tell nothing."""
    chance = random.Random(seed)
    waiting = nx.DiGraph((other, node) for node in graph.nodes for other in before[node])
    waiting.add_nodes_from(graph.nodes)
    place = {node: chance.random() + (node.op == "output") for node in graph.nodes}
    order = list(nx.lexicographical_topological_sort(waiting, place.__getitem__))
    numbers = chance.sample(range(len(order)), len(order))
    copy = fx.Graph()
    new: Nodes = {}
    for node, number in zip(order, numbers, strict=True):
        args, kwargs = fx.map_arg((node.args, node.kwargs), new.__getitem__)
        new[node] = copy.create_node(node.op, node.target, args, kwargs, name=f"n{number}")
        new[node].meta = dict(node.meta)
    for node in order:
        if waits := control_dependencies(node):
            new[node].meta["waits_for"] = tuple(new[other] for other in waits)
    return copy, new


def disguised(graph: fx.Graph, seed: int = 0) -> fx.Graph:
    return reordered(graph, dependencies(graph), seed)[0]


def drawn(graph: fx.Graph) -> fx.Graph:
    """The graph as a drawing in the thin form tells it."""
    copy, _ = copy_graph(graph)
    for node in copy.nodes:
        node.meta.pop("val", None)
        if node.op == "call_function":
            name = operator_name(node)
            node.args, node.kwargs = tuple(reversed(node.all_input_nodes)), {}
            node.target = Opaque(name)
    return copy


# An independent opinion, good for small graphs


def same_by_search(a: fx.Graph, b: fx.Graph) -> bool:
    """Whether some one-to-one map keeps nodes, data edges and the whole forced order."""
    return nx.is_isomorphic(
        _closure(a),
        _closure(b),
        node_match=lambda m, n: m["what"] == n["what"],
        edge_match=operator.eq,
    )


def _closure(graph: fx.Graph) -> nx.DiGraph:
    """An edge for each forced pair; it tells the arguments that it feeds, if any.

    Edges tie each parameter to its gradient, too.
    """
    order = nx.DiGraph((n, node) for node, before in dependencies(graph).items() for n in before)
    order.add_nodes_from(graph.nodes)
    closed = nx.transitive_closure_dag(order)
    for edge in closed.edges.values():
        edge |= {"feeds": [], "forced": True}
    for node in graph.nodes:
        closed.nodes[node]["what"] = _what(node)
        for path, read in _paths(node):
            feeds = closed.edges[read, node]["feeds"]
            feeds.append(path)
            feeds.sort()
    parameters = {n.meta["source"]: n for n in graph.find_nodes(op="placeholder")}
    for label, node in _returned(graph).items():
        parameter = parameters.get(label.replace("grad:", "param:"))
        if parameter is not None:
            if not closed.has_edge(parameter, node):
                closed.add_edge(parameter, node, feeds=[], forced=False)
            closed.edges[parameter, node]["tied"] = True
    return closed


def _what(node: fx.Node) -> str:
    if node.op == "output":
        return "output"
    if node.op == "placeholder":
        does = node.meta["source"].split(":")[0]
    else:
        does = f"{node.target} {fx.map_arg((node.args, node.kwargs), lambda _: None)}"
    val = node.meta["val"]
    shapes = [(v.dtype, v.shape) for v in (val if isinstance(val, tuple) else (val,))]
    return f"{does} {shapes} {phase(node)} {kind(node)}"


def _paths(node: fx.Node) -> list[tuple[str, fx.Node]]:
    if node.op == "output":
        return [(label.split(":")[0], read) for label, read in _returned(node.graph).items()]
    leaves, _ = tree_flatten_with_path((list(node.args), dict(node.kwargs)))
    return [(str(path), leaf) for path, leaf in leaves if isinstance(leaf, fx.Node)]


def _returned(graph: fx.Graph) -> dict[str, fx.Node]:
    (end,) = graph.find_nodes(op="output")
    return dict(end.args[0])


# Small changes: each alters ``graph``, or gives the example up


def _pick(draw: Any, options: list[Any]) -> Any:
    assume(options)
    return draw(st.sampled_from(options))


def _calls(graph: fx.Graph) -> list[fx.Node]:
    return [node for node in graph.nodes if node.op == "call_function"]


def _shape(node: Any) -> Any:
    val = node.meta.get("val") if isinstance(node, fx.Node) else None
    return val.shape if isinstance(val, torch.Tensor) else None


def repoint(graph: fx.Graph, draw: Any) -> None:
    """One argument reads another value of the same shape."""
    earlier: list[fx.Node] = []
    choices: list[tuple[fx.Node, int, fx.Node]] = []
    for node in graph.nodes:
        for place, read in enumerate(node.args if node.op == "call_function" else ()):
            if (shape := _shape(read)) is not None:
                alike = [n for n in earlier if n is not read and _shape(n) == shape]
                choices += [(node, place, other) for other in alike]
        earlier.append(node)
    node, place, other = _pick(draw, choices)
    node.update_arg(place, other)


def add_wait(graph: fx.Graph, draw: Any) -> None:
    nodes = list(graph.nodes)
    late = _pick(draw, _calls(graph))
    add_control_dependency(late, draw(st.sampled_from(nodes[: nodes.index(late)])))


def remove_wait(graph: fx.Graph, draw: Any) -> None:
    late = _pick(draw, [node for node in graph.nodes if control_dependencies(node)])
    early = draw(st.sampled_from(control_dependencies(late)))
    late.meta["waits_for"] = tuple(n for n in control_dependencies(late) if n is not early)


def change_constant(graph: fx.Graph, draw: Any) -> None:
    numbers = [
        (node, place)
        for node in _calls(graph)
        for place, value in enumerate(node.args)
        if isinstance(value, (int, float)) and node.target is not operator.getitem
    ]
    named = [(node, "alpha") for node in _calls(graph) if "alpha" in node.kwargs]
    node, place = _pick(draw, [*numbers, *named])
    (node.update_kwarg if place == "alpha" else node.update_arg)(place, 7)


def change_operator(graph: fx.Graph, draw: Any) -> None:
    others = [aten.relu.default, aten.silu.default, aten.tanh.default, aten.neg.default]
    node = _pick(draw, [n for n in _calls(graph) if n.target in others])
    node.target = draw(st.sampled_from([other for other in others if other != node.target]))


def change_role(graph: fx.Graph, draw: Any) -> None:
    node = _pick(draw, _calls(graph))
    node.meta |= {"phase": Phase.RECOMPUTE, "kind": Kind.RECOMP}


def drop_output(graph: fx.Graph, draw: Any) -> None:
    returned = _returned(graph)
    del returned[draw(st.sampled_from(sorted(returned)))]
    (end,) = graph.find_nodes(op="output")
    end.args = (returned,)


def swap_gradients(graph: fx.Graph, draw: Any) -> None:
    """Two gradients are handed back under each other's label."""
    returned = _returned(graph)
    labels = [label for label in returned if label.startswith("grad:")]
    assume(len(labels) > 1)
    one, other = draw(st.permutations(labels))[:2]
    (end,) = graph.find_nodes(op="output")
    end.args = (returned | {one: returned[other], other: returned[one]},)


def swap_sources(graph: fx.Graph, draw: Any) -> None:
    """Two parameters are given each other's value."""
    parameters = [n for n in graph.nodes if n.meta.get("source", "").startswith("param:")]
    assume(len(parameters) > 1)
    one, other = draw(st.permutations(parameters))[:2]
    one.meta["source"], other.meta["source"] = other.meta["source"], one.meta["source"]


def leave_out(graph: fx.Graph, draw: Any) -> None:
    """A node goes, and its readers read what it read."""
    waited_for = {other for node in graph.nodes for other in control_dependencies(node)}
    spare = [n for n in _calls(graph) if n not in waited_for and n.args and _shape(n) is not None]
    node = _pick(draw, [n for n in spare if _shape(n) == _shape(n.args[0])])
    node.replace_all_uses_with(node.args[0])
    graph.erase_node(node)


Change = Callable[[fx.Graph, Any], None]
CHANGES: list[Change] = [
    repoint,
    add_wait,
    remove_wait,
    change_constant,
    change_operator,
    change_role,
    drop_output,
    swap_gradients,
    swap_sources,
    leave_out,
]


# Properties


@given(random_step_graph(random_numbers=True), seeds)
def test_names_and_order_make_no_difference(graph: fx.Graph, seed: int) -> None:
    assert diff(graph, disguised(graph, seed)).differences == ()


@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
@given(random_step_graph(max_operators=12), seeds, st.sampled_from(CHANGES), st.data())
def test_a_change_is_found_exactly_if_it_makes_a_difference(
    graph: fx.Graph, seed: int, change: Change, data: st.DataObject
) -> None:
    changed, _ = copy_graph(graph)
    change(changed, data.draw)
    same = same_by_search(graph, changed)
    other = disguised(changed, seed)
    assert diff(graph, changed).equal is same
    assert diff(graph, other).equal is same
    assert diff(other, graph).equal is same


@pytest.mark.parametrize("change", CHANGES)
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(graph=random_step_graph(max_operators=12), data=st.data())
def test_one_change_is_told_in_few_words(change: Change, graph: fx.Graph, data: Any) -> None:
    changed, _ = copy_graph(graph)
    change(changed, data.draw)
    # Without an in-place operator, what waited for it may wait for something else.
    assert len(diff(graph, changed)) <= (3 if change is leave_out else 2)


@given(random_step_graph(), seeds, st.permutations(range(3)))
def test_parameters_may_have_other_names(graph: fx.Graph, seed: int, number: list[int]) -> None:
    """The source of a parameter and the label of its gradient change together."""
    other = disguised(graph, seed)
    given_as = {n: n.meta["source"] for n in other.find_nodes(op="placeholder")}
    parameters = [source for source in given_as.values() if source.startswith("param:")]
    new = {source: f"param:w{number[i]}" for i, source in enumerate(parameters)}
    for node, source in given_as.items():
        node.meta["source"] = new.get(source, source)
    (end,) = other.find_nodes(op="output")
    labels = {a.replace("param", "grad"): b.replace("param", "grad") for a, b in new.items()}
    end.args = ({labels.get(k, k): node for k, node in _returned(other).items()},)
    assert diff(graph, other).differences == ()


@given(random_step_graph(max_operators=12, random_numbers=True), seeds)
def test_the_order_of_overwriting_and_of_random_numbers_counts(graph: fx.Graph, seed: int) -> None:
    before = {n: [*n.all_input_nodes, *control_dependencies(n)] for n in graph.nodes}
    other, _ = reordered(graph, before, seed)
    found = diff(graph, other)
    assert found.equal is same_by_search(graph, other)
    assert {one.kind for one in found} <= {Differs.MUST_WAIT}


@given(random_step_graph(), st.data())
def test_redundant_waits_make_no_difference(graph: fx.Graph, data: st.DataObject) -> None:
    order = nx.DiGraph((n, node) for node, before in dependencies(graph).items() for n in before)
    forced = sorted(nx.transitive_closure_dag(order).edges, key=str)
    more, new = copy_graph(graph)
    for early, late in data.draw(st.lists(st.sampled_from(forced), max_size=5)):
        add_control_dependency(new[late], new[early])
    assert diff(graph, disguised(more)).differences == ()
    assert diff(more, graph).differences == ()


@given(random_step_graph(), seeds)
def test_drawings_are_compared_without_roles_shapes_and_argument_order(
    graph: fx.Graph, seed: int
) -> None:
    other = drawn(disguised(graph, seed))
    for node in other.nodes:
        node.meta["kind"] = Kind.OTHER
    assert diff(drawn(graph), other).equal
    assert diff(graph, other).equal


@given(random_step_graph(), st.integers(1, 3))
def test_forced_pairs_are_the_transitive_closure(graph: fx.Graph, block: int) -> None:
    order = nx.DiGraph((n, node) for node, before in dependencies(graph).items() for n in before)
    order.add_nodes_from(graph.nodes)
    every = [(one, other) for one in graph.nodes for other in graph.nodes]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reach, "_BLOCK", block)
        assert reach.ForcedOrder(graph).forced(every) == set(nx.transitive_closure_dag(order).edges)


@given(random_step_graph(max_operators=12, random_numbers=True))
def test_waits_are_what_data_edges_leave_of_the_transitive_reduction(graph: fx.Graph) -> None:
    order = nx.DiGraph((n, node) for node, before in dependencies(graph).items() for n in before)
    reduced = {
        (n, m) for n, m in nx.transitive_reduction(order).edges if n not in m.all_input_nodes
    }
    assert set(reach.ForcedOrder(graph).waits()) == reduced


# Graphs that cannot run


def test_a_circle_is_told() -> None:
    graph, named = step()
    add_control_dependency(named["l0_gate_proj"], named["d_l0_up_proj"])
    with pytest.raises(CycleError, match="d_l0_up_proj"):
        diff(step()[0], graph)


def test_a_node_before_what_it_reads_is_told() -> None:
    graph, named = step()
    named["d_l0_up_proj"].append(named["d_l0_gate_up_proj"])
    with pytest.raises(LabError, match="d_l0_up_proj stands before d_l0_gate_up_proj"):
        diff(graph, step()[0])


# Mistakes in a rewrite, in words


@cache
def traced(attends: bool = False) -> fx.Graph:
    return trace_workload(attention(2, 8, 4, 2) if attends else llm_mlp(4, 8, 16, 4))


def step(attends: bool = False) -> tuple[fx.Graph, dict[str, fx.Node]]:
    """The traced step, its inner activations recomputed; and its nodes by name."""
    graph, _ = copy_graph(traced(attends))
    drop = {
        node
        for node in _calls(graph)
        if phase(node) is Phase.FORWARD
        and kind(node) is Kind.ACTIVATION
        and node.target is not aten.add.Tensor
    }
    clones: Nodes = {}
    for reader in [n for n in _calls(graph) if phase(n) is Phase.BACKWARD]:
        for read in [n for n in reader.all_input_nodes if n in drop]:
            for original in [n for n in graph.nodes if n in drop and _needs(read, n, drop)]:
                if original not in clones:
                    with graph.inserting_before(reader):
                        clone = graph.node_copy(original, lambda n: clones.get(n, n))
                    clone._rename(f"{original.name}_recomp")
                    clones[original] = mark_recomputed(clone)
                    moment = [n for n in reader.all_input_nodes if phase(n) is Phase.BACKWARD]
                    if not any(n in clones.values() for n in clone.all_input_nodes):
                        add_control_dependency(clone, *moment[:1])
            reader.replace_input_with(read, clones[read])
    graph.lint()
    return graph, {node.name: node for node in graph.nodes}


def _needs(target: fx.Node, node: fx.Node, drop: set[fx.Node]) -> bool:
    """Whether ``node`` must run again to rebuild ``target``."""
    found, stack = {target}, [target]
    while stack:
        stack += [n for n in stack.pop().all_input_nodes if n in drop and n not in found]
        found.update(stack)
    return node in found


def reader_forgotten(named: dict[str, fx.Node]) -> None:
    node = named["d_l2_up_proj"]
    node.replace_input_with(named["l2_gate_proj_act_recomp"], named["l2_gate_proj_act"])


def clone_reads_dropped(named: dict[str, fx.Node]) -> None:
    node = named["l2_gate_up_proj_recomp"]
    node.replace_input_with(named["l2_up_proj_recomp"], named["l2_up_proj"])


def clone_reads_wrong_value(named: dict[str, fx.Node]) -> None:
    named["l2_up_proj_recomp"].replace_input_with(named["l1_add"], named["l0_add"])


def wait_forgotten(named: dict[str, fx.Node]) -> None:
    clear_control_dependencies(named["l2_up_proj_recomp"])


def wait_reversed(named: dict[str, fx.Node]) -> None:
    clone = named["l2_up_proj_recomp"]
    (moment,) = control_dependencies(clone)
    clear_control_dependencies(clone)
    add_control_dependency(moment, clone)


def wait_needless(named: dict[str, fx.Node]) -> None:
    add_control_dependency(named["l2_up_proj_recomp"], named["d_l2_gate_up_proj"])


def operands_swapped(named: dict[str, fx.Node]) -> None:
    node = named["l2_gate_up_proj_recomp"]
    node.args = node.args[::-1]


def clone_missing(named: dict[str, fx.Node]) -> None:
    clone = named["l2_gate_proj_act_recomp"]
    clone.replace_all_uses_with(named["l2_gate_proj_act"])
    clone.graph.erase_node(clone)


def clone_dead(named: dict[str, fx.Node]) -> None:
    graph = named["l2_down_proj"].graph
    with graph.inserting_before(named["d_l2_up_proj"]):
        clone = graph.node_copy(named["l2_down_proj"])
    clone._rename("l2_down_proj_recomp")
    mark_recomputed(clone).replace_input_with(
        named["l2_gate_up_proj"], named["l2_gate_up_proj_recomp"]
    )


def wrong_operator(named: dict[str, fx.Node]) -> None:
    named["l2_gate_proj_act_recomp"].target = aten.relu.default


def clone_unmarked(named: dict[str, fx.Node]) -> None:
    named["l2_up_proj_recomp"].meta |= {"phase": Phase.FORWARD, "kind": Kind.ACTIVATION}


def wrong_constant(named: dict[str, fx.Node]) -> None:
    named["l2_up_proj_w_update"].update_kwarg("alpha", -0.5)


def wrong_shape(named: dict[str, fx.Node]) -> None:
    named["l2_up_proj"].meta["val"] = torch.empty(3, 16, device="meta")


def gradient_not_returned(named: dict[str, fx.Node]) -> None:
    (end,) = named["loss"].graph.find_nodes(op="output")
    end.args = ({k: v for k, v in end.args[0].items() if "2.up_proj" not in k},)


MISTAKES = [
    (
        reader_forgotten,
        Differs.READS,
        "`l2_gate_proj_act` is still read by `d_l2_up_proj`: "
        "backward keeps the stored activation alive; "
        "wanted is the clone `l2_gate_proj_act_recomp`",
    ),
    (
        clone_reads_dropped,
        Differs.READS,
        "the clone `l2_gate_up_proj_recomp` reads the stored `l2_up_proj` as argument `other`, "
        "not the clone `l2_up_proj_recomp`: the value that should be dropped stays alive",
    ),
    (
        clone_reads_wrong_value,
        Differs.READS,
        "`l2_up_proj_recomp` reads `l0_add` as argument `self`; wanted is `l1_add`: "
        "it rebuilds another value",
    ),
    (
        wait_forgotten,
        Differs.MUST_WAIT,
        "`l2_up_proj_recomp` does not wait for `d_l2_add_t`: nothing keeps it from running before",
    ),
    (
        wait_reversed,
        Differs.MUST_WAIT,
        "`l2_up_proj_recomp` must run after `d_l2_add_t`, not before it: "
        "the wait is the wrong way round",
    ),
    (
        wait_needless,
        Differs.NEEDLESS_WAIT,
        "`l2_up_proj_recomp` waits for `d_l2_gate_up_proj`, which is not wanted: "
        "it runs later than it may",
    ),
    (
        operands_swapped,
        Differs.READS,
        "`l2_gate_up_proj_recomp` reads `l2_up_proj_recomp` and `l2_gate_proj_act_recomp` "
        "in the wrong order: wanted is `l2_gate_proj_act_recomp` and `l2_up_proj_recomp`",
    ),
    (
        clone_missing,
        Differs.MISSING_NODE,
        "nothing recomputes `l2_gate_proj_act` (a clone running aten.silu.default is missing): "
        "`l2_gate_up_proj_recomp` still reads the stored value",
    ),
    (
        clone_dead,
        Differs.EXTRA_NODE,
        "`l2_down_proj_recomp` recomputes `l2_down_proj`, which is not wanted: nothing reads it",
    ),
    (
        wrong_operator,
        Differs.OPERATOR,
        "`l2_gate_proj_act_recomp` runs aten.relu.default; wanted is aten.silu.default",
    ),
    (
        clone_unmarked,
        Differs.ROLE,
        "`l2_up_proj_recomp` is marked ACTIVATION / forward; wanted is RECOMP / recompute: "
        "mark a clone with mark_recomputed",
    ),
    (
        wrong_constant,
        Differs.ARGUMENT,
        "`l2_up_proj_w_update` runs with `alpha` = `-0.5`; wanted is `-0.001`",
    ),
    (
        wrong_shape,
        Differs.VALUE,
        "`l2_up_proj` is float32 [3, 16]; wanted is float32 [4, 16]",
    ),
    (
        gradient_not_returned,
        Differs.OUTPUT,
        "the step does not return `d_l2_up_proj_w` as a gradient",
    ),
]


def told(change: Callable[[dict[str, fx.Node]], None], foreign: bool) -> list[Difference]:
    """How a rewrite with ``change`` differs from the right one, by the names of the right one."""
    mine, named = step()
    change(named)
    mine.lint()
    if not foreign:
        return list(diff(step()[0], mine))
    other, new = reordered(mine, dependencies(mine))
    true_name = {node.name: old.name for old, node in new.items()}
    return [
        Difference(
            one.kind,
            true_name.get(one.node, one.node),
            one.other and true_name.get(one.other, one.other),
            re.sub("`([^`]*)`", lambda m: f"`{true_name.get(m[1], m[1])}`", one.text),
        )
        for one in diff(step()[0], other)
    ]


@pytest.mark.parametrize("foreign", [False, True], ids=["own names", "foreign names"])
@pytest.mark.parametrize(
    ("change", "what", "text"), MISTAKES, ids=lambda m: getattr(m, "__name__", "")
)
def test_a_mistake_is_told_in_one_sentence(
    change: Any, what: Differs, text: str, foreign: bool
) -> None:
    assert [(one.kind, one.text) for one in told(change, foreign)] == [(what, text)]


@pytest.mark.parametrize("foreign", [False, True], ids=["own names", "foreign names"])
@pytest.mark.parametrize("wanted_too", [False, True], ids=["extra clone", "clone wanted"])
def test_a_forward_reader_of_a_clone_is_told(wanted_too: bool, foreign: bool) -> None:
    def with_clone(rewired: bool) -> list[fx.Node]:
        graph, named = step()
        nodes = [named["l3_gate_proj"], named["l2_add"]]
        with graph.inserting_after(named["l2_add"]):
            clone = mark_recomputed(graph.node_copy(named["l2_add"]))
        if wanted_too:
            named["d_l3_up_proj_w"].replace_input_with(named["l2_add"], clone)
        if rewired:
            named["l3_gate_proj"].replace_input_with(named["l2_add"], clone)
        return [*nodes, clone]

    wanted = with_clone(rewired=False)[0].graph if wanted_too else step()[0]
    nodes = with_clone(rewired=True)
    mine, new = reordered(nodes[0].graph, dependencies(nodes[0].graph))
    if foreign:
        nodes = [new[node] for node in nodes]
    reader, right, clone = (node.name for node in nodes)
    *extra, one = diff(wanted, mine if foreign else nodes[0].graph)
    assert one == Difference(
        Differs.READS,
        reader,
        clone,
        f"`{reader}` is in the forward pass but reads the clone `{clone}`: "
        f"forward must keep reading `{right}`",
    )
    assert [(e.kind, e.node) for e in extra] == [(Differs.EXTRA_NODE, clone)] * (not wanted_too)


def test_a_weight_read_after_its_update_is_told() -> None:
    def graph(update_first: bool) -> fx.Graph:
        graph = fx.Graph()
        weight = graph.placeholder("w")
        calls = {"read": aten.sum.default, "update": aten.neg_.default}
        order = sorted(calls, reverse=update_first)
        made = {
            name: graph.create_node("call_function", calls[name], (weight,), name=name)
            for name in order
        }
        graph.output({"loss": made["read"]})
        for node in graph.nodes:
            node.meta |= {
                "kind": Kind.OTHER,
                "phase": Phase.FORWARD,
                "val": torch.empty(2, device="meta"),
            }
        return graph

    (one,) = diff(graph(update_first=False), graph(update_first=True))
    assert (one.kind, one.node, one.other) == (Differs.MUST_WAIT, "update", "read")
    assert one.text == (
        "`update` must run after `read`, not before it: one overwrites what the other uses"
    )


@pytest.mark.parametrize("attends", [False, True], ids=["llm_mlp", "attention"])
@pytest.mark.parametrize("thin", [False, True], ids=["full", "drawing"])
def test_every_wrong_operand_is_one_difference(attends: bool, thin: bool) -> None:
    """Of a clone or of a backward node, one argument of which reads another value."""
    form = drawn if thin else lambda graph: graph
    wanted = form(step(attends)[0])
    chance = random.Random(0)
    for _ in range(25):
        mine, _ = step(attends)
        nodes = list(mine.nodes)
        reader = chance.choice([n for n in _calls(mine) if phase(n) is not Phase.FORWARD])
        read = chance.choice(reader.all_input_nodes)
        earlier = nodes[: nodes.index(reader)]
        alike = [n for n in earlier if n is not read and _shape(n) == _shape(read) is not None]
        if not alike or read not in reader.args:
            continue
        reader.update_arg(reader.args.index(read), chance.choice(alike))
        for other in (mine, disguised(mine)):
            assert [one.kind for one in diff(wanted, form(other))] == [Differs.READS]


def test_many_equal_differences_share_a_line() -> None:
    mine, named = step()
    for node in named.values():
        clear_control_dependencies(node)
    named["l0_gate_proj_act_recomp"].target = aten.relu.default
    found = diff(step()[0], mine)
    waits = [one for one in found if one.kind is Differs.MUST_WAIT]
    assert len(found) == len(waits) + 1 > 3
    first, line = str(found).splitlines()
    assert first.startswith("`l0_gate_proj_act_recomp` runs aten.relu.default")
    assert line.startswith(
        f"{waits[0].text} (and {len(waits) - 1} more like this: `{waits[1].node}`"
    )
    assert line.endswith(", …)")
    assert found.summary(limit=1).splitlines() == [first, f"and {len(waits)} more differences"]


def test_a_diff_is_false_when_the_graphs_are_equal() -> None:
    same, other = diff(step()[0], step()[0]), diff(step()[0], traced())
    assert same.equal
    assert not same
    assert (len(same), list(same), str(same).startswith("equal")) == (0, [], True)
    assert not other.equal
    assert other
    assert list(other) == list(other.differences)
    assert not diff(traced(), traced())
    assert diff(traced(), step()[0])


@pytest.mark.parametrize("disguise", [False, True])
def test_a_gradient_of_another_parameter_is_told(disguise: bool) -> None:
    wanted, (mine, names) = step()[0], step()
    (end,) = mine.find_nodes(op="output")
    gate, up = "grad:layers.0.gate_proj.weight", "grad:layers.0.up_proj.weight"
    returned = _returned(mine)
    end.args = (returned | {gate: returned[up], up: returned[gate]},)
    found = diff(wanted, disguised(mine) if disguise else mine)
    assert [one.kind for one in found] == [Differs.OUTPUT] * 2
    if not disguise:
        assert str(next(iter(found))) == (
            "the step returns `d_l0_up_proj_w` as the gradient of `l0_gate_proj_w`; "
            "wanted is `d_l0_gate_proj_w`"
        )
    end.args = ({label.replace("0.gate", "0.other"): node for label, node in returned.items()},)
    (one,) = diff(wanted, mine)
    assert str(one) == (
        "the step returns `d_l0_gate_proj_w`, but not as the gradient of `l0_gate_proj_w`"
    )
    names["l0_gate_proj_w"].meta["source"] = "param:layers.0.other_proj.weight"
    assert not diff(wanted, mine)


def test_weights_of_one_shape_are_told_apart_by_their_use() -> None:
    """Two blocks that exchange a weight in forward only."""
    mine, named = step()
    one, other = named["l1_up_proj_w_t"], named["l2_up_proj_w_t"]
    one.args, other.args = other.args, one.args
    found = diff(step()[0], disguised(mine))
    assert [difference.kind for difference in found] == [Differs.READS] * 2


def test_graphs_deeper_than_the_stack_of_python() -> None:
    def chain(length: int) -> fx.Graph:
        graph = fx.Graph()
        node = graph.placeholder("x")
        for _ in range(length):
            node = graph.call_function(aten.relu.default, (node,))
        graph.output({"loss": node})
        return graph

    assert not diff(chain(1500), chain(1500))
    assert [one.kind for one in diff(chain(1500), chain(1501))] == [Differs.EXTRA_NODE]


def test_arguments_count_however_they_are_passed() -> None:
    def graph(*args: Any, **kwargs: Any) -> fx.Graph:
        graph = fx.Graph()
        x = graph.placeholder("x")
        given = fx.map_arg((args, kwargs), lambda n: n)
        made = graph.call_function(
            aten.add.Tensor,
            tuple(x if a is Ellipsis else a for a in given[0]),
            {name: x if value is Ellipsis else value for name, value in given[1].items()},
        )
        graph.output({"loss": made})
        return graph

    assert not diff(graph(..., ...), graph(..., other=..., alpha=1))
    assert diff(graph(..., ...), graph(..., other=..., alpha=2))
    assert diff(graph(..., ..., alpha=True), graph(..., ..., alpha=2))
