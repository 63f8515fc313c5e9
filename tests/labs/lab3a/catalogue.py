"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from tests.support.catalogue import Cell
from tests.support.solved_cells import solution_cells

SOLVED = solution_cells("lab3a")


def _cell(name: str, task: str, code: str, says: str = "", keeps: float = 0.5) -> Cell:
    return Cell(name, task, code, (says,) if says else (), keeps)


def _swap(
    task: str, name: str, old: str, new: str, says: str = "", keeps: float = 0.5, cell: str = ""
) -> Cell:
    """Our solution with one thing changed."""
    solved = SOLVED[cell or f"t{task.replace('.', '')}"]
    assert old in solved, (name, old)
    return _cell(name, task, solved.replace(old, new), says, keeps)


_TEST = 'node.op == "call_function" and node.target is torch.mul'
_WHOLE = (
    "def transform(module, tracer_class=fx.Tracer):\n"
    "    made = fx.GraphModule(module, tracer_class().trace(module))\n"
    "    graph = made.graph\n{}    return made\n"
)
_SET = (
    "    for node in graph.nodes:\n"
    "        if node.target is torch.mul:\n"
    "            node.target = torch.div\n"
)
_INSERT = (
    "    for node in graph.nodes:\n"
    "        if node.target is torch.mul:\n"
    "            with graph.inserting_after(node):\n"
    "                new = graph.call_function(torch.div, node.args, node.kwargs)\n"
    "            node.replace_all_uses_with(new)\n{}"
)
_ONCE = "changes_its_input(node, self.module)"
_SHAPE = "list(value.shape) if is_tensor else None"

WRONG = (
    # 1.1
    _swap("1.1", "by name", "node.target is torch.mul", '"mul" in str(node.target)', "x * y is"),
    _swap(
        "1.1",
        "every product",
        "node.target is torch.mul",
        "node.target in (torch.mul, operator.mul)",
        "x * y is operator.mul",
    ),
    _swap(
        "1.1",
        "methods too",
        "            node.target = torch.div\n",
        "            node.target = torch.div\n"
        '        if node.op == "call_method" and node.target == "mul":\n'
        '            node.target = "div"\n',
        "x.mul(y) is a method",
    ),
    _swap(
        "1.1",
        "by the node's name",
        _TEST,
        '"mul" in node.name',
        "ask for its kind first",
    ),
    _cell("not recompiled", "1.1", _WHOLE.format(_SET), "recompile()"),
    _cell(
        "not erased", "1.1", _WHOLE.format(_INSERT.format("") + "    made.recompile()\n"), "erase"
    ),
    _swap(
        "1.1",
        "the first alone",
        "node.target = torch.div",
        "node.target = torch.div; break",
        "left",
    ),
    _swap("1.1", "another tracer", "tracer_class().trace", "fx.Tracer().trace", "tracer_class"),
    _swap("1.1", "a graph", "return fx.GraphModule(module, graph)", "return graph", "GraphModule"),
    # 1.2
    _swap("1.2", "no slices", "isinstance(argument, slice)", "argument is slice", "inside a slice"),
    _swap("1.2", "no dicts", "isinstance(argument, dict)", "argument is dict", "inside a dict"),
    _swap(
        "1.2",
        "lists for tuples",
        "return tuple(with_values(part, values) for part in argument)",
        "return [with_values(part, values) for part in argument]",
        "A tuple has become a list",
    ),
    _swap("1.2", "one deep", "with_values(part, values) for", "values.get(part, part) for", ""),
    _swap("1.2", "ends only", "argument.stop, argument.step", "argument.stop, None", ""),
    _cell(
        "nodes alone",
        "1.2",
        "def with_values(argument, values):\n    return values.get(argument, argument)\n",
    ),
    # 1.3
    _swap("1.3", "seconds", " / 10 * 1e3", " / 10", "These are seconds"),
    _swap("1.3", "sum", " / 10 * 1e3", " * 1e3", "divide by their number"),
    _swap("1.3", "nine", "range(10)", "range(9)", "eleven in all"),
    _swap(
        "1.3",
        "the last value",
        "        run()\n",
        "        value = run()\n",
        "that of the first run",
    ),
    _swap("1.3", "never once", "if once:", "if False:", "runs once"),
    _swap("1.3", "the time of day", "(clock() - start)", "clock()", "what passed between"),
    _swap(
        "1.3",
        "the wall clock",
        "clock()",
        '__import__("time").perf_counter()',
        "pretended clock",
    ),
    _swap(
        "1.3",
        "the first counts",
        "    start = clock()\n    for _ in range(10):\n        run()\n"
        "    return value, (clock() - start) / 10",
        "    for _ in range(10):\n        run()\n    return value, (clock() - start) / 11",
        "leave it out",
    ),
    _swap(
        "1.3",
        "once is free",
        "return value, (clock() - start) * 1e3",
        "return value, 0.0",
        "a latency too",
    ),
    # 1.4
    _swap(
        "1.4",
        "a shape for all",
        _SHAPE,
        "list(value if isinstance(value, torch.Size) else getattr(value, 'shape', [])) or None",
        "torch.Size",
    ),
    _swap(
        "1.4",
        "a shape for parts",
        _SHAPE,
        _SHAPE.replace(
            "None",
            "([len(value)] if type(value) is tuple else None)",
        ),
        "a tuple of tensors",
    ),
    _swap("1.4", "in place again", _ONCE, "False", "they run once"),
    _swap("1.4", "no dots", 'path.split(".")', "[path]", "A target with dots is a path"),
    _swap(
        "1.4",
        "methods as functions",
        "function, args = getattr(args[0], node.target), args[1:]",
        "function = getattr(torch, node.target)",
    ),
    _swap(
        "1.4",
        "a method gets its object too",
        "getattr(args[0], node.target), args[1:]",
        "getattr(args[0], node.target), args",
        "its method gets the others",
    ),
    _swap("1.4", "no kwargs", "function(*args, **kwargs)", "function(*args)"),
    _swap(
        "1.4",
        "nothing returned",
        "        return value\n\n    def _found",
        "        return None\n\n    def _found",
        "propagate returns",
    ),
    _swap(
        "1.4",
        "all outputs in a tuple",
        "with_values(node.args[0], values)",
        "with_values(node.args, values)",
        "without a tuple",
    ),
    _swap(
        "1.4",
        "nothing kept",
        "            values[node] = value\n",
        "            values[node.name] = value\n",
        "has no value when it is read",
    ),
    _cell(
        "PyTorch's own interpreter",
        "1.4",
        "class NodeProp:\n"
        "    def __init__(self, module):\n"
        "        self.module = module\n"
        "    def propagate(self, *args):\n"
        "        return fx.Interpreter(self.module).run(*args)\n",
        "fx.Interpreter is at work",
    ),
    _cell(
        "PyTorch's own interpreter, under another name",
        "1.4",
        "Copy = type('Copy', (), dict(vars(fx.Interpreter)))\n"
        "class NodeProp:\n"
        "    def __init__(self, module):\n"
        "        self.module = module\n"
        "    def propagate(self, *args):\n"
        "        inner = Copy(self.module)\n"
        "        def noted(node):\n"
        "            value = Copy.run_node(inner, node)\n"
        "            is_tensor = isinstance(value, torch.Tensor)\n"
        "            node.meta['shape'] = list(value.shape) if is_tensor else None\n"
        "            return value\n"
        "        inner.run_node = noted\n"
        "        return inner.run(*args)\n",
        "fx.Interpreter is at work",
        keeps=0,
    ),
    _cell(
        "a child of PyTorch's own interpreter",
        "1.4",
        "class NodeProp(fx.Interpreter):\n"
        "    def propagate(self, *args):\n"
        "        return self.run(*args)\n",
        "stands alone",
    ),
    _cell(
        "ShapeProp",
        "1.4",
        "from torch.fx.passes.shape_prop import ShapeProp\n"
        "class NodeProp:\n"
        "    def __init__(self, module):\n"
        "        self.module = module\n"
        "    def propagate(self, *args):\n"
        "        output = ShapeProp(self.module).propagate(*args)\n"
        "        for node in self.module.graph.nodes:\n"
        "            meta = node.meta.get('tensor_meta')\n"
        "            node.meta['shape'] = list(meta.shape) if hasattr(meta, 'shape') else None\n"
        "        return output\n",
        "fx.Interpreter is at work",
    ),
    _swap("1.4", "no shapes", 'node.meta["shape"] =', "shape =", "has no shape noted"),
    # 1.5
    _swap("1.5", "always once", _ONCE, "True", "", 0.5, "t14"),
    _swap(
        "1.5",
        "everything is timed",
        "latency = 0.0",
        "latency = 1.0",
        "compute nothing",
        0.5,
        "t14",
    ),
    _swap(
        "1.5",
        "None for what computes nothing",
        "latency = 0.0",
        "latency = None",
        "A latency is a number of milliseconds",
        0.5,
        "t14",
    ),
    _swap("1.5", "none noted", 'node.meta["latency"] =', "noted =", "no latency noted", 0.5, "t14"),
    _swap(
        "1.5",
        "arguments are timed too",
        'node.meta["latency"] = latency',
        'node.meta["latency"] = latency / 1e3',
        "These are seconds",
        0.5,
        "t14",
    ),
    # 1.6
    _swap(
        "1.6",
        "words",
        'key=lambda node: node.meta["latency"]',
        'key=lambda node: str(node.meta["latency"])',
        "sorted as words",
    ),
    _swap("1.6", "output too", ' if node.op != "output"', "", "computes nothing"),
    _swap("1.6", "fastest", ", reverse=True", "", ""),
    _swap("1.6", "two", "[:3]", "[:2]", "Three of them"),
    _swap("1.6", "names", '(node.name, node.meta["latency"])', "node.name", "A collection"),
)

RIGHT = (
    _cell(
        "set and recompile", "1.1", _WHOLE.format(_SET + "    graph.lint()\n    made.recompile()\n")
    ),
    _cell(
        "insert and erase",
        "1.1",
        _WHOLE.format(
            _INSERT.format("            graph.erase_node(node)\n") + "    made.recompile()\n"
        ),
    ),
    _cell(
        "find_nodes",
        "1.1",
        "def transform(module, tracer_class=fx.Tracer):\n"
        "    graph = tracer_class().trace(module)\n"
        "    for node in graph.find_nodes(op='call_function', target=torch.mul):\n"
        "        node.target = torch.div\n"
        "    return fx.GraphModule(module, graph)\n",
    ),
    _cell(
        "map_arg",
        "1.2",
        "def with_values(argument, values):\n"
        "    return fx.node.map_arg(argument, lambda node: values[node])\n",
    ),
    _cell(
        "match",
        "1.2",
        "def with_values(argument, values):\n"
        "    match argument:\n"
        "        case fx.Node():\n            return values[argument]\n"
        "        case slice():\n"
        "            ends = argument.start, argument.stop, argument.step\n"
        "            return slice(*with_values(ends, values))\n"
        "        case tuple() | list():\n"
        "            kind = tuple if isinstance(argument, tuple) else list\n"
        "            return kind(with_values(part, values) for part in argument)\n"
        "        case dict():\n"
        "            return dict(zip(argument, with_values(list(argument.values()), values)))\n"
        "    return argument\n",
    ),
    _cell(
        "run by run",
        "1.3",
        "def timed(run, once):\n"
        "    times, values = [], []\n"
        "    for _ in range(1 if once else 11):\n"
        "        start = clock()\n        values.append(run())\n"
        "        times.append(1000 * (clock() - start))\n"
        "    counted = times if once else times[1:]\n"
        "    return values[0], sum(counted) / len(counted)\n",
    ),
    _cell(
        "values first, times later",
        "1.4",
        SOLVED["t14"].replace(
            "return timed(lambda: function(*args, **kwargs), changes_its_input(node, self.module))",
            "return function(*args, **kwargs), 0.0",
        ),
    ),
    _cell(
        "shapes as PyTorch has them",
        "1.4",
        SOLVED["t14"].replace(_SHAPE, "value.shape if is_tensor else None"),
    ),
    _cell(
        "without timed and with_values",
        "1.5",
        "class NodeProp:\n"
        "    def __init__(self, module):\n        self.module = module\n"
        "    def propagate(self, *args):\n"
        "        env, rest, at = {}, list(args), fx.node.map_arg\n"
        "        for node in self.module.graph.nodes:\n"
        "            a, k = at((node.args, node.kwargs), env.__getitem__)\n"
        "            call, latency = None, 0\n"
        "            if node.op == 'placeholder':\n                env[node] = rest.pop(0)\n"
        "            elif node.op == 'get_attr':\n"
        "                home, _, name = node.target.rpartition('.')\n"
        "                env[node] = getattr(self.module.get_submodule(home), name)\n"
        "            elif node.op == 'output':\n                env[node] = a[0]\n"
        "            elif node.op == 'call_method':\n"
        "                call = lambda: getattr(a[0], node.target)(*a[1:], **k)\n"
        "            elif node.op == 'call_module':\n"
        "                call = lambda: self.module.get_submodule(node.target)(*a, **k)\n"
        "            else:\n                call = lambda: node.target(*a, **k)\n"
        "            if call:\n"
        "                start = clock()\n                env[node] = call()\n"
        "                runs = 1\n"
        "                if not changes_its_input(node, self.module):\n"
        "                    start, runs = clock(), 10\n"
        "                    for _ in range(runs):\n                        call()\n"
        "                latency = (clock() - start) / runs * 1000\n"
        "            value = env[node]\n"
        "            node.meta['latency'] = latency\n"
        "            tensor = isinstance(value, torch.Tensor)\n"
        "            node.meta['shape'] = [*value.size()] if tensor else None\n"
        "        return env[node]\n",
    ),
    _cell(
        "heapq",
        "1.6",
        "import heapq\n"
        "def findHeavyOps(module):\n"
        "    nodes = [n for n in module.graph.nodes if n.op != 'output']\n"
        "    pairs = [(n.name, n.meta['latency']) for n in nodes]\n"
        "    return heapq.nlargest(3, pairs, key=lambda pair: pair[1])\n",
    ),
)

_ENDS = "the first node is given to the module, the last one is its output: neither is a product"
_OTHER = "another task about the same class asks for it"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("1.1", "the other way round", "in which order they are looked at makes no difference"),
    ("1.1", "list(graph.nodes)[", _ENDS),
    ("1.1", "a statement is left out", "lint only looks: a right graph passes without it"),
    ("1.1", "if node.target is torch.mul", "only a node that calls a function has one as target"),
    ("1.3", "the other way round", "ten runs are ten runs"),
    ("1.4", "latency = 1.0", _OTHER),
    ("1.4", "without list", "a torch.Size is told as the list of its numbers"),
    ("1.5", "nothing is returned", _OTHER),
    ("1.5", "node.meta['shape'] = ", _OTHER),
)

#: Tasks that a mistake costs as well: who notes nothing has no table of it either.
ALSO = dict.fromkeys(
    (
        "PyTorch's own interpreter",
        "PyTorch's own interpreter, under another name",
        "a child of PyTorch's own interpreter",
        "ShapeProp",
    ),
    ("1.7",),
)
