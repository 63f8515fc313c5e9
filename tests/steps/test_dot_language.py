"""The DOT language in all its dresses, and what is said about each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab_utils.steps.dot import read as reader
from lab_utils.steps.dot import syntax as dot_syntax
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.graph import control_dependencies
from tests.support.dot_files import PLAIN
from tests.support.same_graph import assert_same

DRESSES = {
    "comments": PLAIN.replace("a -> b", "/* one\n two */ a // three\n# four\n -> b", 1),
    "strict": PLAIN.replace("digraph step", "STRICT DiGraph"),
    "no semicolons": PLAIN.replace(";", ""),
    "one line": PLAIN.replace("\n", " "),
    "windows line ends": PLAIN.replace("\n", "\r\n"),
    "byte order mark is for files": PLAIN,
    "quoted names": PLAIN.replace("a -> b", '"a" -> "b"'),
    "quoted attribute names": PLAIN.replace("[arg=", '["arg" = ').replace("op=", '"op"='),
    "joined strings": PLAIN.replace('"aten.relu.default"', '"aten" + ".relu" /* */ +\n".default"'),
    "continued strings": PLAIN.replace("aten.relu.default", "aten.re\\\nlu.default"),
    "several lists": PLAIN.replace(", args", "] [args"),
    "list separators": PLAIN.replace(", ", "; ").replace("(_; _; ", "(_, _, "),
    "chain of edges": PLAIN.replace(
        'a -> b [arg="1"];\n  b -> c [arg="0"];', 'a -> b [arg="1"]; b -> c [arg="0"];'
    ),
    "ports": PLAIN.replace("a -> b", "a:out:s -> b:in"),
    "html labels": PLAIN.replace("[op=", "[label=<<b>x</b> ]; }>, op="),
    "defaults": PLAIN.replace("a [op", 'node [phase=forward, module=""]; a [op')
    .replace(", phase=forward", "")
    .replace("a -> c [style=dashed]", "edge [style=dashed]; a -> c"),
    "subgraph": PLAIN.replace(
        "a -> b", "subgraph cluster_0 { label=x; node [op=x]; a; b }\n a -> b", 1
    ),
    "scoped defaults": PLAIN.replace("  a -> c [style=dashed];\n", "").replace(
        "  a -> b", "  { edge [style=dashed] node [op=x] a -> c }\n  a -> b", 1
    ),
    "forgotten defaults": PLAIN.replace(
        "a [op", "subgraph { node [output=x, module=y] edge [style=dashed] } a [op", 1
    ),
    "group of heads": PLAIN.replace("a -> c [style=dashed]", 'a -> { c } [style="bold,dashed"]'),
    "group of tails": PLAIN.replace("a -> c [style", "subgraph g { a; a } -> c [style"),
    "invisible edges": PLAIN.replace("a -> c", "c -> a [style=invis]; a -> c"),
    "layout noise": PLAIN.replace(
        "a [op", 'graph [bb="0,0,1,2"]; node [label="\\N"]; x=3; a [pos="1,2", width=0.75, op'
    ),
    "nodes after edges": "digraph { a -> c [style=dashed] "
    + PLAIN.partition("{")[2].replace("  a -> c [style=dashed];\n", ""),
    "spaces in values": PLAIN.replace("f32[2,2]", "f32[ 2, 2 ]{2, 1}"),
}


@pytest.mark.parametrize("dress", DRESSES)
def test_one_program_in_many_dresses(dress: str) -> None:
    text = DRESSES[dress]
    assert text != PLAIN or dress == "byte order mark is for files"
    assert_same(read_dot(PLAIN), read_dot(text))


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "marked.dot"
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert_same(read_dot(PLAIN), read_dot(path))


def test_strings_are_unescaped_as_graphviz_does_it() -> None:
    text = r'digraph { a [k="say \"x\" \\" l="\N\l" "m"="1" + "\"2"] }'
    attributes = dot_syntax.parse_dot(text, "<text>").nodes["a"].attributes
    assert attributes == {"k": r'say "x" \\', "l": r"\N\l", "m": '1"2'}


def test_a_node_stands_where_it_is_defined() -> None:
    graph = read_dot("digraph { z -> y [style=invis]; a -> b; x; y [label=y]; z [label=z]; }")
    assert [node.name for node in graph.nodes][:-1] == ["a", "b", "x", "y", "z"]


def test_chains_and_groups_make_every_edge() -> None:
    thin = read_dot("digraph { a -> {b c} -> d -> e [style=dashed]; {a; {f}} -> {g} }")
    waits = {n.name: {o.name for o in control_dependencies(n)} for n in thin.nodes}
    reads = {n.name: [o.name for o in n.all_input_nodes] for n in thin.nodes if n.op != "output"}
    assert {name: names for name, names in waits.items() if names} == {
        "b": {"a"},
        "c": {"a"},
        "d": {"b", "c"},
        "e": {"d"},
    }
    assert reads["g"] == ["a", "f"]


# Mistakes


def edited(old: str, new: str) -> str:
    assert old in PLAIN
    return PLAIN.replace(old, new, 1)


_B = 'args="(_, _, alpha=2)"'
MISTAKES = {
    "no digraph": ("hello { }", r"line 1: expected digraph at the beginning, found hello"),
    "undirected": ("graph { a -- b }", r"line 1: the graph is undirected: begin with digraph"),
    "undirected edge": ("digraph {\n a -- b }", r"line 2: expected -> between .*, found --"),
    "two graphs": (PLAIN + PLAIN, r"line 10: expected nothing after .* closing }, found digraph"),
    "open brace": (PLAIN.rstrip()[:-1], r"line 9: expected .* found the end of the file"),
    "open string": (edited('"input:0"', '"input:0'), r"line 3: . does not belong here"),
    "never ending string": ('digraph {\n\n "a }', r"line 3: a string starts here and never ends"),
    "open comment": ("digraph {\n /* a }", r"line 2: a comment starts here and never ends"),
    "open html": ("digraph {\n a [label=<<b> ] }", r"line 2: an HTML label starts here"),
    "stray sign": ("digraph {\n a @ b }", r"line 2: @ does not belong here"),
    "keyword": ("digraph {\n node -> a }", r'line 2: node is a word of DOT: .* written "node"'),
    "half an edge": ("digraph {\n a -> ; }", r"line 2: expected a node after ->, found ;"),
    "no value": ("digraph {\n a [b=] }", r"line 2: expected a value for b, found \]"),
    "lone attribute": ("digraph {\n a [bold] }", r"line 2: expected = after bold, found \]"),
    "no nodes": ("digraph { }", r": the digraph has no nodes"),
    "other form": (
        edited("{", '{ form="training-step 2";'),
        r"form is training-step 2, but .* reads",
    ),
    "no operator": (
        edited('op="aten.relu.default", ', ""),
        r"line 4: node c: it has no op, but others have one",
    ),
    "undefined node": (edited("a -> c", "z -> c"), r"line 8: edge z -> c: node z is not defined"),
    "defined twice": (
        edited("a -> c", "a [op=placeholder];\n a -> c"),
        r"line 8: node a is defined twice \(op is given again\)",
    ),
    "unknown operator": (
        edited("aten.relu.default", "aten.rellu.default"),
        r"line 4: node c: operator aten.rellu.default is not on the list .* aten.relu.default\?",
    ),
    "forbidden operator": (
        edited("aten.relu.default", "aten.set_.source_Storage"),
        r"node c: operator aten.set_.source_Storage is not on the list",
    ),
    "python": (edited("aten.relu.default", "os.system"), r"operator os.system is not on the list"),
    "no phase": (
        edited(", phase=forward", ""),
        r"node a: phase is missing; known are forward, loss",
    ),
    "wrong kind": (
        edited("kind=INPUT", "kind=INPUTS"),
        r"node a: kind is INPUTS; known are INPUT, W",
    ),
    "no args": (edited(f"{_B}, ", ""), r"node b: args is , but must look like"),
    "wrong args": (
        edited("alpha=2", "alpha=a.b()"),
        r"node b: args holds a.b\(\), which is no const",
    ),
    "evil args": (
        edited("alpha=2", "alpha=__import__('os').system('true')"),
        r"node b: args holds __import__\('os'\).*, which is no constant",
    ),
    "another device": (
        edited("alpha=2", "alpha=2, device=device('cuda:0')"),
        r"node b: args names the device cuda:0, but a file runs on the cpu only",
    ),
    "placeholder with args": (
        edited("op=placeholder", 'op=placeholder, args="()"'),
        r"a placeholder",
    ),
    "placeholder without value": (
        edited('value="f32[2,2]", ', ""),
        r"node a: a placeholder has a v",
    ),
    "malformed value": (edited("f32[2,2]", "f32(2,2)"), r"value is f32\(2,2\), but must look like"),
    "unknown dtype": (edited("f32[2,2]", "f33[2,2]"), r"value has the type f33; known are f16"),
    "absurd value": (edited("f32[2,2]", "f32[2,99999999999999]"), r"more than 2\*\*40 elements"),
    "missing value": (
        PLAIN.replace('"(_)", value="f32[2,2]"', '"(_)"'),
        r"line 4: node c: its value is told as None, but aten.relu.default gives f32\[2,2\] here",
    ),
    "wrong shape": (
        PLAIN.replace('"(_)", value="f32[2,2]"', '"(_)", value="f32[2,3]"'),
        r"node c: its value is told as f32\[2,3\], but .* gives f32\[2,2\]",
    ),
    "wrong strides": (
        PLAIN.replace('"(_)", value="f32[2,2]"', '"(_)", value="f32[2,2]{1,2}"'),
        r"told as f32\[2,2\]\{1,2\}, but .* gives f32\[2,2\]",
    ),
    "wrong type": (
        PLAIN.replace('"(_)", value="f32[2,2]"', '"(_)", value="f64[2,2]"'),
        r"told as f64\[2,2\], but",
    ),
    "refused": (
        edited("aten.add.Tensor", "aten.mm.default"),
        r"node b: aten.mm.default refuses its arguments: .*expected at most 2",
    ),
    "hole without edge": (
        edited('  a -> b [arg="1"];\n', ""),
        r'line 3: node b: nothing feeds its argument 1: draw an edge to it with arg="1"',
    ),
    "edge without hole": (
        edited('a -> b [arg="1"]', 'a -> b [arg="2"]'),
        r"line 6: edge a -> b: args of b has no _ at place 2",
    ),
    "two edges into one hole": (
        edited('a -> b [arg="1"]', 'a -> b [arg="0"]'),
        r"line 6: edge a -> b: argument 0 has an edge already",
    ),
    "edge into a placeholder": (
        edited("a -> c [style=dashed]", 'c -> a [arg="0"]'),
        r"args of a has",
    ),
    "waiting placeholder": (edited("a -> c", "c -> a"), r"edge c -> a: a placeholder is given"),
    "solid edge without arg": (
        edited(" [style=dashed]", ""),
        r"line 8: edge a -> c: a solid edge needs arg, .*; control edges are dashed",
    ),
    "dashed edge with arg": (
        edited('b -> c [arg="0"', 'b -> c [arg="0", style=dashed'),
        r"edge b -> c: only a solid edge feeds an argument",
    ),
    "output twice": (
        edited("kind=INPUT", "kind=INPUT, output=loss"),
        r"node c: output loss is also that of a",
    ),
    "places and outputs": (
        edited("output=loss", 'output=loss, place="0|1"'),
        r"output and place must",
    ),
    "odd place": (
        edited("output=loss", "output=loss, place=first"),
        r"place is first, but must be",
    ),
    "empty output": (edited("output=loss", 'output="loss|"'), r"node c: output has an empty label"),
    "source twice": (
        edited(
            "b [op",
            'a2 [op=placeholder, value="f32[]", phase=loss, kind=INPUT, source="input:0"]; b [op',
        ),
        r"node a2: source input:0 is also that of a",
    ),
    "data circle": (
        edited('a -> b [arg="1"]', 'c -> b [arg="1"]'),
        r": no order is legal, .* in a circle: (c -> b -> c|b -> c -> b)",
    ),
    "control circle": (edited("a -> c", "c -> b"), r"in a circle: (c -> b -> c|b -> c -> b)"),
    "order circle": (edited("a -> c [style=dashed", "c -> b [style=dotted"), r"in a circle"),
    "waits for itself": (edited("a -> c", "c -> c"), r"in a circle: c -> c"),
    "getitem of one value": (
        edited("aten.relu.default", "getitem").replace('"(_)"', '"(_, 0)"'),
        r"node c: getitem takes a node with several outputs",
    ),
    "reads several values": (
        edited(
            '"aten.add.Tensor", args="(_, _, alpha=2)", value="f32[2,2]"',
            '"aten.sort.default", args="(_)", value="(f32[2,2], i64[2,2])"',
        ).replace('  a -> b [arg="1"];\n', ""),
        r"node c: argument 0 must be one value, but is given several values: take one with getitem",
    ),
    "too many pieces": (
        edited("f32[2,2]", "f32[1000000]")
        .replace(
            '"aten.add.Tensor", args="(_, _, alpha=2)", value="f32[2,2]"',
            '"aten.unbind.int", args="(_)", value="(f32[])"',
        )
        .replace('  a -> b [arg="1"];\n', ""),
        r"node b: aten.unbind.int would make more than 10,000 pieces",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_in_one_line(mistake: str) -> None:
    text, message = MISTAKES[mistake]
    with pytest.raises(DotError, match=f"<text>.*{message}") as caught:
        read_dot(text)
    assert len(str(caught.value).splitlines()) == 1


def test_files_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in ("nowhere.dot", tmp_path, "", "a\0b", "x" * 5000, None):
        with pytest.raises(DotError, match="there is no such file|cannot be read"):
            read_dot(missing)  # type: ignore[arg-type]
    path = tmp_path / "noise.dot"
    path.write_bytes(b"digraph { \xff }")
    with pytest.raises(DotError, match=r"noise\.dot: it is no text in UTF-8"):
        read_dot(path)
    path.write_text(MISTAKES["hole without edge"][0])
    with pytest.raises(DotError, match=r"noise\.dot, line 3: node b: nothing feeds"):
        read_dot(path)
    monkeypatch.setattr(reader, "MAX_BYTES", 100)
    for source in (path, PLAIN):
        with pytest.raises(DotError, match="it is larger than"):
            read_dot(source)


@pytest.mark.parametrize(
    ("limit", "text", "message"),
    [
        ("MAX_NODES", "digraph {a b c d e f}", "line 1: there are more than 5 nodes"),
        ("MAX_EDGES", "digraph {{a b c} -> {d e}}", "there are more than 5 edges"),
        ("MAX_STATEMENTS", "digraph {a a a a a a a}", "there are more than 5 statements"),
        ("MAX_DEPTH", "digraph {{{{{{{{{a}}}}}}}}}", "there are more than 5 braces"),
        ("MAX_DEFAULTS", "digraph {node [a=1 b=1 c=1 d=1 e=1 f=1]}", "more than 5 default"),
    ],
)
def test_sizes_are_bounded(
    limit: str, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dot_syntax, limit, 5)
    with pytest.raises(DotError, match=message):
        read_dot(text)


def test_a_hundred_thousand_nodes_and_a_megabyte_of_noise_end_in_one_line() -> None:
    nodes = "\n".join(f"n{i} [op=placeholder];" for i in range(100_000))
    with pytest.raises(DotError, match="there are more than 50,000 nodes"):
        read_dot(f"digraph {{ {nodes} }}")
    for noise in ('"', "{", "<", "a [", "/*", "\\", "a=b;"):
        with pytest.raises(DotError):
            read_dot("digraph {\n" + noise * (1_000_000 // len(noise)))
