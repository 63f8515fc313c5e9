"""The command lines: what they print, and one clear line for every bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.cli import main as autograder
from autograder.labs.lab4a import commands as judge_command
from autograder.labs.lab4a import guarded_run
from lab_utils.__main__ import main
from lab_utils.kit.root import ROOT
from lab_utils.steps import workloads as models
from tests.support.dot_files import THIN

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    file = tmp_path / "llm_mlp.dot"
    assert main(["trace", "llm_mlp", "--layers", "2", "--width", "8", "-o", str(file)]) == 0
    return file


def refused(arguments: list[str], capsys: Capture, main: Callable[[list[str]], int] = main) -> str:
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
    monkeypatch.setenv("PATH", str(tmp_path))
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
    assert "it is a directory" in refused(["measure", str(tmp_path)], capsys)
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


MODELS_WITH_MISTAKES = {
    "raises": ("def build():\n    x = 1\n    return 1 / 0", "line 3: ZeroDivisionError: division"),
    "raises below": (
        "import torch\ndef build():\n    return torch.zeros(2) @ torch.zeros(3)",
        "line 3: RuntimeError: ",
    ),
    "wants an argument": ("\ndef build(size):\n    pass", "line 2: missing a required arg"),
    "a number": (
        "def build():\n    return 3",
        "line 1: its result must be a Workload, but is of type int",
    ),
    "a tuple": (
        "def build():\n    return 1, 2",
        "line 1: its result must be a Workload, but is of type tuple",
    ),
    "no function": ("build = 3", "build is no function, but of type int"),
    "no Python function": ("build = dict", "build is no function, but of type type"),
    "syntax": ("x = 1\ndef build(:\n", "line 2: SyntaxError: invalid syntax"),
    "import": ("\nimport not_installed", "line 2: ModuleNotFoundError: No module named"),
    "top level": ("x = 1\n1 / 0", "line 2: ZeroDivisionError: division by zero"),
    "exit": ("import sys\nsys.exit('so long')", "line 2: SystemExit: so long"),
    "exit in it": ("def build():\n    raise SystemExit", "line 2: SystemExit"),
    "no words": ("def build():\n    assert False", "line 2: AssertionError"),
    "no model": (
        "from lab_utils import Workload\ndef build():\n    return Workload(3, 4)",
        "mine.py: AttributeError: 'int' object has no attribute 'parameters'",
    ),
}


@pytest.mark.parametrize("mistake", MODELS_WITH_MISTAKES)
def test_a_mistake_in_a_model_is_one_line_with_its_place(
    mistake: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, says = MODELS_WITH_MISTAKES[mistake]
    (tmp_path / "mine.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    for file in ("mine.py", str(tmp_path / "mine.py")):
        line = refused(["trace", f"{file}:build"], capsys)
        assert line.startswith(f"error: {file}")
        assert says in line


def test_a_mistake_of_our_own_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(models.MODELS, "llm_mlp", broken)
    with pytest.raises(ZeroDivisionError):
        main(["trace", "llm_mlp"])


def test_a_model_may_hold_dataclasses(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from lab_utils import llm_mlp\n"
        "@dataclass\nclass Sizes:\n    layers: int = 1\n"
        "def build():\n    return llm_mlp(layers=Sizes().layers)\n"
    )
    assert main(["trace", f"{file}:build", "-o", str(tmp_path / "x.dot")]) == 0


def test_a_graph_without_operators_is_measured_and_drawn(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "given.dot"
    file.write_text(GIVEN)
    assert main(["measure", str(file), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["peak"] == {"program_order": 16, "as_soon_as_possible": 16}
    assert numbers["breakdown"]["program_order"] == {"INPUT": 16}
    assert main(["draw", str(file), "-o", str(tmp_path / "given.svg")]) == 0


def test_the_module_is_a_program() -> None:
    command = [sys.executable, "-m", "lab_utils", "measure", "nothing.dot"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_judge_of_two_files(tmp_path: Path, capsys: Capture) -> None:
    reference = ROOT / "autograder" / "reference"
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


REFERENCE = ROOT / "autograder" / "reference"
GIVEN = 'digraph { a [op=placeholder, value="f32[2,2]", phase=forward, kind=INPUT]; }'
_BIG = 'big [op=placeholder, value="{}", phase=forward, kind=INPUT];'
_FULL = (
    'big [op="aten.full.default", args="([{0}], 1.0, device=device(\'{1}\'))",'
    ' value="f32[{0}]", phase=forward, kind=ACTIVATION];'
)
#: What is put in place of the base, what into the rewritten file or in its place, what is said.
NO_PAIR = {
    "4 TB made": ("", _FULL.format(10**12, "cpu"), "mine.dot: .*node big.* 4000.00 GB: at most 4"),
    "4 TB given": ("", _BIG.format("f32[1099511627775]"), "mine.dot: .*node big.* 4398.05 GB"),
    "expanded": ("", _BIG.format("f32[1099511627775]{0}"), "mine.dot: .*node big.* 4398.05 GB"),
    "many": ("", "".join(_FULL.format(10**8, "cpu").replace("big", f"big{i}") for i in range(11)),
             r"mine.dot: its values take 4\.4. GB together, .* \(node big\d\) 400"),
    "GPU": ("", _FULL.format(8, "cuda:0"), "mine.dot, line .*: node big: args names .* cuda:0"),
    "given more": ("", _BIG.format("f32[3]"), "mine.dot: node big is given .* to .*base.dot: the"),
    "thin base": (THIN, "", "base.dot is a drawing without operators, .*mine.dot a program"),
    "thin": ("", THIN, "mine.dot is a drawing without operators, .*base.dot a program"),
    "nothing runs": ("", GIVEN, "mine.dot: it has no operators"),
    "nothing runs in the base": (GIVEN, "", "base.dot: it has no operators"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_PAIR)
def test_two_files_that_cannot_be_judged(
    name: str, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_run, "run", lambda *_: pytest.fail("it ran"))
    base, rewritten, says = NO_PAIR[name]
    files = tmp_path / "base.dot", tmp_path / "mine.dot"
    files[0].write_text(base or (REFERENCE / "llm_mlp.dot").read_text())
    whole = (REFERENCE / "llm_mlp_ar.dot").read_text()
    files[1].write_text(
        rewritten if rewritten.startswith("digraph") else whole.rstrip()[:-1] + rewritten + "}"
    )
    command = ["judge", "--base", str(files[0]), "--rewritten", str(files[1])]
    for form in ([], ["--json"]):
        assert re.search(says, refused([*command, *form], capsys, autograder))


def test_steps_of_two_optimizers_are_no_pair(tmp_path: Path, capsys: Capture) -> None:
    sgd, adam = str(tmp_path / "sgd.dot"), str(tmp_path / "adam.dot")
    for optimizer, file in (("sgd", sgd), ("adam", adam)):
        sizes = ["--layers", "1", "--width", "8", "--optimizer", optimizer]
        assert main(["trace", "llm_mlp", *sizes, "-o", file]) == 0
    for base, rewritten in ((sgd, adam), (adam, sgd)):
        command = ["judge", "--base", base, "--rewritten", rewritten]
        line = refused(command, capsys, autograder)
        assert f"{adam}: node l0_gate_proj_w_exp_avg is given to it" in line
        assert sgd in line


def test_steps_of_two_sizes_are_no_pair(tmp_path: Path, capsys: Capture) -> None:
    small, large = str(tmp_path / "small.dot"), str(tmp_path / "large.dot")
    for batch, file in (("4", small), ("8", large)):
        assert main(["trace", "llm_mlp", "--layers", "1", "--batch", batch, "-o", file]) == 0
    command = ["judge", "--base", small, "--rewritten", large]
    assert f"{large}: node x is given to it" in refused(command, capsys, autograder)


def test_a_step_that_a_kernel_refuses_is_named(
    traced: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise RuntimeError('"mm" not implemented\nand more')

    monkeypatch.setattr(guarded_run, "run", refuses)
    command = ["judge", "--base", str(traced), "--rewritten", str(traced)]
    assert refused(command, capsys, autograder) == (
        f'error: {traced}: it cannot be run: "mm" not implemented'
    )


def test_an_error_without_a_file_is_told_in_its_words(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def timeout(_: object) -> int:
        raise TimeoutError("the share did not answer")

    monkeypatch.setattr(judge_command, "_judge", timeout)
    command = ["judge", "--base", "a.dot", "--rewritten", "b.dot"]
    assert refused(command, capsys, autograder) == "error: the share did not answer"
