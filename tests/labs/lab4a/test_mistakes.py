"""One mistake costs one part, and its node is named; a harmless change costs nothing."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from autograder.labs.lab4a.pair_verdict import PairVerdict
from autograder.labs.lab4a.two_files import judge_pair
from autograder.reference.renamed import renamed
from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.graph import (
    Phase,
    add_control_dependency,
    control_dependencies,
    copy_graph,
    mark_recomputed,
    phase,
)
from lab_utils.steps.kept import is_early
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import attention, llm_mlp
from tests.labs.lab4a.mistakes import (
    HARMLESS,
    KINDS,
    MISTAKES,
    Pair,
    copied,
    drawn,
    rewritten,
    shown_name,
    with_updated_weight,
)

FORMS = ("program", "drawing")
KIND = st.sampled_from(sorted(KINDS))
LEFT = st.frozensets(st.integers(0, 6), max_size=4)
SOMETIMES = settings(
    max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
SELDOM = settings(SOMETIMES, max_examples=2)


def judged(pair: Pair, form: str) -> PairVerdict:
    if form == "program":
        return judge_pair(pair.base, pair.graph)
    return judge_pair(read_dot(drawn(pair.base)), read_dot(drawn(pair.graph), circles=True))


def failed(verdict: PairVerdict) -> list[str]:
    return [part for part, found in verdict.findings.items() if found]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MISTAKES)
@given(kind=KIND, blocks=st.integers(1, 8), left=LEFT, seed=st.integers(0, 99))
@SOMETIMES
def test_one_mistake_costs_one_part(
    name: str, form: str, kind: str, blocks: int, left: frozenset[int], seed: int
) -> None:
    pair = copied(rewritten(kind, blocks, left))
    mistake = MISTAKES[name](pair, random.Random(seed))
    assume(mistake is not None)
    assert mistake is not None
    verdict = judged(pair, form)
    assert failed(verdict) == [mistake.part], verdict
    for word in mistake.names:
        wanted = shown_name(pair.graph, word) if form == "drawing" else word
        assert wanted in str(verdict.findings[mistake.part]), verdict


@given(kind=KIND, blocks=st.integers(1, 8), left=LEFT, seed=st.integers(0, 99))
@settings(SOMETIMES, max_examples=8)
def test_a_drawn_clone_that_reads_an_updated_weight_costs_the_first_part(
    kind: str, blocks: int, left: frozenset[int], seed: int
) -> None:
    """In some places that closes a circle, in others it does not."""
    pair = rewritten(kind, blocks, left)
    changed = with_updated_weight(drawn(pair.graph), random.Random(seed))
    assume(changed is not None)
    assert changed is not None
    text, names = changed
    verdict = judge_pair(read_dot(drawn(pair.base)), read_dot(text, circles=True))
    assert failed(verdict) == ["A-1"], verdict
    for name in names:
        assert name in str(verdict.findings["A-1"]), verdict


@pytest.mark.parametrize("name", ["l0_up_proj", "l1_up_proj"])
def test_no_clone_waits_for_the_update_of_what_it_reads(name: str) -> None:
    """Nothing it needs comes of the clone; but the update overwrites the weight in its place."""
    pair = copied(rewritten("llm", 2))
    nodes = {node.name: node for node in pair.graph.nodes}
    add_control_dependency(nodes[f"{name}_recomp"], nodes[f"{name}_w_update"])
    verdict = judge_pair(pair.base, pair.graph)
    assert failed(verdict) == ["A-3"], verdict
    (finding,) = verdict.findings["A-3"]
    assert "circle: " in finding.yours
    assert f"{name}_recomp" in finding.yours


@pytest.mark.parametrize("name", [name for name in MISTAKES if name != "nothing_rewired"])
@given(kind=KIND, blocks=st.integers(1, 4), left=LEFT, seed=st.integers(0, 99))
@SELDOM
def test_names_are_not_needed_to_tell(
    name: str, kind: str, blocks: int, left: frozenset[int], seed: int
) -> None:
    pair = copied(rewritten(kind, blocks, left))
    mistake = MISTAKES[name](pair, random.Random(seed))
    assume(mistake is not None)
    assert mistake is not None
    verdict = judge_pair(pair.base, renamed(pair.graph))
    assert failed(verdict) == [mistake.part], verdict


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HARMLESS)
@given(kind=KIND, blocks=st.integers(1, 8), left=LEFT, seed=st.integers(0, 99))
@SOMETIMES
def test_a_harmless_change_costs_nothing(
    name: str, form: str, kind: str, blocks: int, left: frozenset[int], seed: int
) -> None:
    pair = HARMLESS[name](copied(rewritten(kind, blocks, left)), random.Random(seed))
    verdict = judged(pair, form)
    assert verdict.passed, verdict
    assert not verdict.differences


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_a_right_rewrite_of_attention(blocks: int) -> None:
    graph = trace_workload(attention(blocks, 8, 6, 2))
    verdict = judge_pair(graph, rewrite(graph, block_activations(graph)).graph)
    assert verdict.passed, verdict
    assert not verdict.differences


def _added(pair: Pair, original: str, reader: str) -> str:
    """One more clone, marked and nothing else, before ``reader``; nobody reads it."""
    nodes = {node.name: node for node in pair.graph.nodes}
    with pair.graph.inserting_before(nodes[reader]):
        again = pair.graph.node_copy(nodes[original], lambda n: pair.clones.get(n, n))
    return mark_recomputed(again).name


def test_a_dead_clone_of_what_is_kept_is_needless() -> None:
    pair = copied(rewritten("llm", 3))
    name = _added(pair, "l0_add", "d_l0_down_proj_w")
    verdict = judge_pair(pair.base, pair.graph)
    assert failed(verdict) == ["A-1"], verdict
    assert f"{name} computes l0_add again, which is kept" in str(verdict)


def test_a_dead_clone_of_a_result_is_told_and_forgiven() -> None:
    pair = copied(rewritten("llm", 3))
    name = _added(pair, "l0_down_proj", "d_l0_down_proj_w")
    verdict = judge_pair(pair.base, pair.graph)
    assert verdict.passed, verdict
    assert name in str(verdict.hints)


def test_clones_that_are_not_marked_are_named() -> None:
    pair = copied(rewritten("llm", 2))
    for original, clone in pair.clones.items():
        clone.meta |= {"phase": phase(original), "kind": original.meta["kind"]}
    verdict = judge_pair(pair.base, pair.graph)
    assert failed(verdict) == ["A-1"], verdict
    assert "l1_gate_proj_recomp is not marked" in str(verdict)


def test_a_forward_node_that_is_gone_is_named() -> None:
    pair = copied(rewritten("llm", 2))
    nodes = {node.name: node for node in pair.graph.nodes}
    nodes["l0_gate_up_proj"].replace_input_with(nodes["l0_gate_proj_act"], nodes["l0_gate_proj"])
    pair.graph.erase_node(nodes["l0_gate_proj_act"])
    verdict = judge_pair(pair.base, pair.graph)
    assert "l0_gate_proj_act is gone" in str(verdict.findings["A-1"])
    assert not verdict.findings["A-3"]


def test_waiting_in_another_block_is_too_early() -> None:
    """For the gradient inside the block before: its clones are still to be read."""
    pair = copied(rewritten("llm", 3))
    nodes = {node.name: node for node in pair.graph.nodes}
    for clone in pair.clones.values():
        if clone.name.startswith("l0_"):
            clone.meta["waits_for"] = (nodes["d_l1_gate_up_proj"],)
    verdict = judge_pair(pair.base, pair.graph)
    assert failed(verdict) == ["A-3"], verdict
    assert "l0_gate_proj_recomp waits for d_l0_add" in str(verdict)
    assert "own block" in str(verdict)


def test_the_work_grows_with_the_graph_and_no_faster() -> None:
    """Twice the nodes, about twice the time: counted in looks at nodes, not by a clock."""
    spent = []
    for blocks in (8, 16):
        graph = trace_workload(llm_mlp(blocks, 4, 4, 4))
        after = rewrite(graph, block_activations(graph)).graph
        spent.append(_calls(graph, after))
    assert spent[1] < 2.4 * spent[0]


def _calls(graph: torch.fx.Graph, after: torch.fx.Graph) -> int:
    import sys

    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(tick)
    try:
        assert judge_pair(graph, after).passed
    finally:
        sys.setprofile(None)
    return count


def test_a_solution_is_left_as_it_was() -> None:
    pair = rewritten("llm", 2)
    before = copy_graph(pair.graph)[0]
    judge_pair(pair.base, pair.graph)
    for one, other in zip(before.nodes, pair.graph.nodes, strict=True):
        assert (one.name, phase(one)) == (other.name, phase(other))
        waits = [[w.name for w in control_dependencies(n)] for n in (one, other)]
        assert waits[0] == waits[1]
    assert any(phase(n) is Phase.RECOMPUTE and not is_early(n) for n in pair.graph.nodes)


def test_a_base_that_has_changed_since_is_looked_at_again() -> None:
    pair = copied(rewritten("llm", 1))
    base, _ = copy_graph(pair.base)
    assert judge_pair(base, pair.graph).passed
    update = next(n for n in reversed(base.nodes) if n.op == "call_function")
    base.erase_node(update)
    verdict = judge_pair(base, pair.graph)
    assert failed(verdict) == ["A-2"], verdict
    assert f"{update.name} is new" in str(verdict)
