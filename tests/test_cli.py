"""The command lines: what they print, and one clear line for every bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli import main as autograder
from lab_utils.cli import main
from lab_utils.pictures import drawing

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    file = tmp_path / "llm_mlp.dot"
    assert main(["trace", "llm_mlp", "--layers", "2", "--width", "8", "-o", str(file)]) == 0
    return file


def refused(arguments: list[str], capsys: Capture) -> str:
    """The one line that a command ends with when its input is unusable."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert not captured.out
    (line,) = captured.err.splitlines()
    assert line.startswith("error: ")
    return line


def test_trace_is_the_same_every_time(traced: Path, capsys: Capture) -> None:
    assert main(["trace", "llm_mlp", "--layers", "2", "--width", "8"]) == 0
    assert capsys.readouterr().out == traced.read_text()


def test_measure(traced: Path, capsys: Capture) -> None:
    assert main(["measure", str(traced), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["nodes"] == traced.read_text().count(" [label=")
    assert numbers["recomputed_operators"] == 0
    assert numbers["unit"] == "bytes"
    for order in ("program_order", "as_soon_as_possible"):
        assert sum(numbers["breakdown"][order].values()) == numbers["peak"][order] > 0
    assert main(["measure", str(traced)]) == 0
    assert f"{numbers['peak']['program_order']:,} bytes" in capsys.readouterr().out


def test_diff_exit_codes(traced: Path, tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "other.dot"
    other.write_text(traced.read_text().replace("l0_", "first_"))
    assert main(["diff", str(traced), str(other)]) == 0
    other.write_text(traced.read_text().replace("aten.silu.default", "aten.relu.default"))
    assert main(["diff", str(traced), str(other)]) == 1
    assert "aten.relu.default" in capsys.readouterr().out
    other.write_text("digraph {")
    assert "other.dot" in refused(["diff", str(traced), str(other)], capsys)


@pytest.mark.needs_dot
@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_draw_with_graphviz(form: str, traced: Path, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / f"picture.{form}"
    assert main(["draw", str(traced), "-o", str(file)]) == 0
    assert file.stat().st_size > 1000
    assert not capsys.readouterr().err


def test_draw_without_graphviz(
    traced: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing.shutil, "which", lambda _: None)
    file = tmp_path / "picture.svg"
    assert main(["draw", str(traced), "-o", str(file)]) == 0
    assert "apt-get install graphviz" in capsys.readouterr().err
    text = file.read_text()
    assert text.startswith("<svg")
    assert text.count("l0_gate_proj: MM") == 2  # in the box, and as its tooltip
    assert "l0_gate_proj_w_t" not in text  # views are folded away
    assert "Graphviz" in refused(["draw", str(traced), "-o", str(tmp_path / "a.png")], capsys)
    assert ".svg" in refused(["draw", str(traced), "-o", str(tmp_path / "a.txt")], capsys)


BAD = {
    "empty": b"",
    "binary": bytes(range(256)) * 40,
    "truncated": None,
    "not DOT": b"import os\n" * 100,
    "undirected": b"graph { a -- b }",
    "unknown operator": None,
    "missing argument": None,
    "wrong shape": None,
    "cycle": None,
    "10 MB of junk": b"a b c ; " * 1_300_000,
    "100,000 nodes": b"digraph { " + b"".join(b"n%d; " % i for i in range(100_000)) + b"}",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_clear_line(
    name: str, traced: Path, tmp_path: Path, capsys: Capture
) -> None:
    text = traced.read_text()
    made = {
        "truncated": text[: len(text) // 2],
        "unknown operator": text.replace("aten.silu.default", "aten.resize_.default"),
        "missing argument": text.replace('  x -> l0_gate_proj [arg="0"];\n', "", 1),
        "wrong shape": text.replace('value="f32[512,256]"', 'value="f32[511,256]"', 1),
        "cycle": text.replace("\n}", "\n  l1_add -> l0_add [style=dashed];\n}"),
    }
    file = tmp_path / "hand in.dot"
    bad = BAD[name]
    file.write_bytes(made[name].encode() if bad is None else bad)
    assert bad is not None or made[name] != text
    for command in (["measure", str(file)], ["diff", str(file), str(traced)]):
        line = refused(command, capsys)
        assert "hand in.dot" in line
        assert len(line) < 500
    if name == "unknown operator":
        assert "l0_gate_proj_act" in line
        assert "aten.resize_.default" in line


def test_files_and_models_that_do_not_exist(tmp_path: Path, capsys: Capture) -> None:
    assert "nothing.dot" in refused(["measure", str(tmp_path / "nothing.dot")], capsys)
    assert "llm_mlp, gelu_mlp" in refused(["trace", "resnet"], capsys)
    assert "no size called length" in refused(["trace", "llm_mlp", "--length", "3"], capsys)
    assert "no such Python file" in refused(["trace", "nothing.py:build"], capsys)
    folder = str(tmp_path / "no folder" / "x.dot")
    assert "x.dot" in refused(["trace", "llm_mlp", "--layers", "1", "-o", folder], capsys)


def test_a_model_from_a_file(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import torch\nfrom lab_utils import Workload\n"
        "def build(width=4):\n"
        "    return Workload(torch.nn.Linear(width, 2), torch.randn(3, width),"
        " torch.randn(3, 2), torch.nn.MSELoss())\n"
    )
    assert main(["trace", f"{file}:build", "--width", "5", "--optimizer", "adam"]) == 0
    text = capsys.readouterr().out
    assert "f32[3,5]" in text
    assert "aten._fused_adam_.default" in text
    assert "no function nobody" in refused(["trace", f"{file}:nobody"], capsys)


def test_the_module_is_a_program() -> None:
    command = [sys.executable, "-m", "lab_utils", "measure", "nothing.dot"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_judge_of_two_files(tmp_path: Path, capsys: Capture) -> None:
    reference = Path(__file__).parents[1] / "autograder" / "reference"
    base, best = str(reference / "llm_mlp.dot"), reference / "llm_mlp_ar.dot"
    command = ["judge", "--base", base, "--rewritten"]
    assert autograder([*command, str(best)]) == 0
    assert capsys.readouterr().out.count("passed") == 3
    eager = tmp_path / "eager.dot"
    kept = [line for line in best.read_text().splitlines() if "style=dashed" not in line]
    eager.write_text("\n".join(kept))
    assert autograder([*command, str(eager), "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert [part["passed"] for part in verdict["parts"].values()] == [True, True, False]
    assert verdict["differences"]
    assert autograder([*command, base]) == 1
    assert capsys.readouterr().out.count("FAILED") == 3
    eager.write_text("nonsense")
    assert autograder([*command, str(eager)]) == 2
