"""The files that are handed in, and graphs with operators that cannot run twice."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import fx, nn

from autograder.labs.lab4a.cases import rewrite_cases
from autograder.labs.lab4a.two_files import judge_pair
from autograder.reference.rewrite import rewrite
from lab_utils.kit.errors import LabError
from lab_utils.kit.judge import Verdict
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Case
from lab_utils.labs.lab4a import assemble, public_cases
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import copy_graph
from lab_utils.steps.storage import overwritten_inputs
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload
from tests.labs.lab4a.solved import functions
from tests.support.judged import verdict_of

REFERENCE = ROOT / "autograder" / "reference"


def file_verdict(task_id: str, text: str, tmp_path: Path) -> Verdict:
    file = tmp_path / {"1.5": "llm_mlp.dot", "4.2": "llm_mlp_ar.dot"}[task_id]
    file.write_text(text, encoding="utf-8")
    return verdict_of("lab4a", task_id, file, public_cases(task_id))


def reference(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_references_pass(tmp_path: Path) -> None:
    assert file_verdict("1.5", reference("llm_mlp.dot"), tmp_path).passed
    assert file_verdict("4.2", reference("llm_mlp_ar.dot"), tmp_path).passed


def test_other_colours_make_no_difference(tmp_path: Path) -> None:
    for task_id, name in (("1.5", "llm_mlp.dot"), ("4.2", "llm_mlp_ar.dot")):
        text = re.sub(r"fillcolor=\w+", "fillcolor=purple", reference(name))
        assert file_verdict(task_id, text, tmp_path).passed


@pytest.mark.parametrize("drop", [["l3_gate_up_proj"], ["l0_gate_up_proj"]], ids=str)
def test_a_file_that_saves_next_to_nothing_fails(drop: list[str], tmp_path: Path) -> None:
    """Each clone in it is right, is read and waits: but what fills the memory is not dropped."""
    graph = rewrite(read_dot(reference("llm_mlp.dot")), drop).graph
    verdict = file_verdict("4.2", write_dot(graph), tmp_path)
    assert "a peak of" in str(verdict)
    assert "notebook 2 drops" in str(verdict)


@pytest.mark.needs_dot
@pytest.mark.parametrize("form", ["dot", "canon"])
def test_a_layout_of_graphviz_makes_no_difference(form: str, tmp_path: Path) -> None:
    for task_id, name in (("1.5", "llm_mlp.dot"), ("4.2", "llm_mlp_ar.dot")):
        done = subprocess.run(
            ["dot", f"-T{form}"], input=reference(name), capture_output=True, text=True, check=True
        )
        verdict = file_verdict(task_id, done.stdout, tmp_path)
        assert verdict.passed, verdict


def _without_first(pattern: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, "", text, count=1, flags=re.MULTILINE)


def _twice(text: str) -> str:
    line = next(x for x in text.splitlines() if x.startswith("  l0_add ["))
    return text.replace(line, f"{line}\n{line}")


def _swap_operators(text: str) -> str:
    return text.replace("aten.silu.default", "aten.relu.default")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.replace("style=dashed", "style=solid"), ["control", "dashed"]),
        (_twice, ["l0_add"]),
        (_without_first(r"^  l0_add -> l1_up_proj \[.*\n"), ["l1_up_proj"]),
        (_swap_operators, ["l0_gate_proj_act"]),
        (lambda t: t[: len(t) // 2], ["llm_mlp_ar.dot", "yours"]),
        (lambda _: "", ["yours"]),
        (lambda _: reference("llm_mlp.dot"), ["nothing in llm_mlp_ar.dot is recomputed"]),
    ],
    ids=["solid control edges", "node twice", "edge gone", "operator", "cut", "empty", "base"],
)
def test_a_file_edited_by_hand_is_found(
    change: Callable[[str], str], says: list[str], tmp_path: Path
) -> None:
    verdict = file_verdict("4.2", change(reference("llm_mlp_ar.dot")), tmp_path)
    assert not verdict.passed
    for word in says:
        assert word in str(verdict), verdict


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    verdict = verdict_of("lab4a", "1.5", tmp_path / "llm_mlp.dot", public_cases("1.5"))
    assert "there is no file" in str(verdict)


def test_a_graph_that_is_none_cannot_be_written(tmp_path: Path) -> None:
    for given, named in ((None, "None"), ({}, "a dict")):
        with pytest.raises(LabError, match=f"write_dot takes an fx.Graph, and was given {named}:"):
            write_dot(given, tmp_path / "llm_mlp.dot")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_another_graph_is_traced_again_before_it_is_written(tmp_path: Path) -> None:
    verdict = file_verdict("1.5", reference("llm_mlp_ar.dot"), tmp_path)
    assert "as it was traced: run that cell again" in str(verdict)


def test_assemble_says_that_names_are_no_clones(capsys: pytest.CaptureFixture[str]) -> None:
    space = functions(
        {
            "inject_recomputation": (
                "    return clones\n",
                "    return {n.name: c for n, c in clones.items()}\n",
            )
        }
    )
    graph = assemble(space["inject_recomputation"], space["rewire_backward"], None)
    assert "Task 2.2: not used.\n  yours : each key is text" in capsys.readouterr().out
    assert any(node.name.endswith("_recomp") for node in graph.nodes)


def test_assemble_uses_own_functions_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    space = functions()
    own = [
        space[name]
        for name in ("inject_recomputation", "rewire_backward", "add_control_dependencies")
    ]
    graph = assemble(*own)
    assert capsys.readouterr().out.count("yours.") == 3
    assert any("_1" in node.name for node in graph.nodes)  # torch.fx's names, not the shipped ones


def test_assemble_goes_on_where_a_step_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    broken = functions({"rewire_backward": ("if in_backward(reader):", "if False:")})
    graph = assemble(None, broken["rewire_backward"], broken["add_control_dependencies"])
    said = capsys.readouterr().out
    assert "Task 2.2: none of yours" in said
    assert "Task 3.1: not used" in said
    assert "Task 4.1: yours" in said
    assert any(node.name.endswith("_recomp") for node in graph.nodes)


class _Dropout(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.drop(torch.tanh(self.up(x))))


class _BatchNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.norm = nn.BatchNorm1d(32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.norm(self.up(x))))


def _traced(model: nn.Module) -> fx.Graph:
    work = Workload(model.train(), torch.randn(16, 8), torch.randn(16, 8), nn.MSELoss())
    return trace_workload(work)


def _one_case(graph: fx.Graph, drop: list[str]) -> Case:
    return Case(**rewrite_cases("a graph of its own", graph, drop)["2.2"])


def test_dropout_keeps_its_mask() -> None:
    graph = _traced(_Dropout())
    mask_times_value = next(n for n in graph.nodes if n.name == "drop")
    case = _one_case(graph, [mask_times_value.name])
    good = functions()["inject_recomputation"]
    assert verdict_of("lab4a", "2.2", good, [case]).passed
    new_mask = functions(
        {
            "inject_recomputation": (
                "kept = kept_values(graph, drop)",
                "kept = {n for n in graph.nodes if n.op == 'placeholder'}",
            )
        }
    )["inject_recomputation"]
    verdict = verdict_of("lab4a", "2.2", new_mask, [case])
    assert not verdict.passed
    assert "drop_" in str(verdict), verdict


def test_two_files_with_dropout_are_run_with_the_same_mask() -> None:
    graph = _traced(_Dropout())
    given = rewrite(graph, ["drop"]).graph
    verdict = judge_pair(graph, given)
    assert not verdict.findings["A-2"], verdict


def test_two_files_are_told_apart_by_an_update_that_is_gone() -> None:
    graph = read_dot(reference("llm_mlp.dot"))
    given, _ = copy_graph(read_dot(reference("llm_mlp_ar.dot")))
    update = next(n for n in reversed(given.nodes) if overwritten_inputs(n))
    assert not judge_pair(graph, given).findings["A-2"]
    given.erase_node(update)
    verdict = judge_pair(graph, given)
    assert f"{update.name} is gone" in str(verdict.findings["A-2"])
    assert not verdict.findings["A-1"] + verdict.findings["A-3"]


def test_two_files_with_a_circle_of_waits_lose_the_last_part_alone() -> None:
    text = reference("llm_mlp_ar.dot").rstrip().removesuffix("}")
    text += "  d_l2_up_proj -> l2_gate_proj_recomp [style=dashed];\n}\n"
    with pytest.raises(LabError, match="circle"):
        read_dot(text)
    verdict = judge_pair(read_dot(reference("llm_mlp.dot")), read_dot(text, circles=True))
    assert [bool(found) for found in verdict.findings.values()] == [False, False, True]
    assert "l2_gate_proj_recomp" in verdict.findings["A-3"][0].yours


def test_batch_norm_is_not_run_twice() -> None:
    graph = _traced(_BatchNorm())
    relu = next(n for n in graph.nodes if n.target is torch.ops.aten.relu.default)
    with pytest.raises(LabError, match="cannot run twice"):
        rewrite(graph, [relu.name])
    easy = next(n for n in graph.nodes if n.name == "up")
    given = dict(_one_case(graph, [easy.name]).given) | {"drop": [relu.name]}
    case = Case("batch norm", given, {"program_budget": 10**9, "work_budget": 10**9})
    verdict = verdict_of("lab4a", "2.2", functions()["inject_recomputation"], [case])
    assert not verdict.passed, "running statistics must not be updated twice"
    assert "norm" in str(verdict)
