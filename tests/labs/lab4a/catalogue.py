"""Wrong and right-but-different hand-ins, each as the small change that makes it.

A change replaces a piece of a solution's text. ``loses`` are the tasks that must
lose points, ``says`` the words that the message must hold.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """One hand-in: the solution of ``function`` with ``old`` replaced by ``new``."""

    name: str
    function: str
    old: str
    new: str
    loses: str = ""
    says: tuple[str, ...] = ()


_WAIT = "add_control_dependency(clone, gradients[-1])"
_COPY = "clone = graph.node_copy(node, lambda read: clones.get(read, read))"
_INSERT = "with graph.inserting_before(reader):"
_KEPT = "kept = kept_values(graph, drop)"
_IF_BACKWARD = "if in_backward(reader):"
_REPLACE = "reader.replace_input_with(original, clone)"
_STOP = 'if node in seen or node in kept or node.op == "placeholder":'

_SHARED = """            for node in recompute_set(value, kept):
                if node not in clones:
                    with graph.inserting_before(reader):
                        clone = graph.node_copy(node, lambda read: clones.get(read, read))
                    clones[node] = mark_recomputed(clone)
"""
_UNSHARED = """            if value in clones:
                continue
            fresh = {}
            for node in recompute_set(value, kept):
                with graph.inserting_before(reader):
                    clone = graph.node_copy(node, lambda read: fresh.get(read, read))
                fresh[node] = mark_recomputed(clone)
            clones[value] = fresh[value]
"""
_HALVED = """    known = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            val = node.meta["val"]
            known[node] = val.half() if val.dtype == torch.float32 else val
        elif node.op == "call_function":
            args, kwargs = fx.map_arg((node.args, node.kwargs), lambda read: known[read])
            known[node] = node.target(*args, **kwargs)
        node.meta["val"] = known.get(node)
"""


def _wrong(name: str, task: str, function: str, old: str, new: str, *says: str) -> Change:
    return Change(name, function, old, new, task, says)


WRONG = (
    # 1.1 to 1.4: the account
    _wrong(
        "a view is taken for an activation",
        "1.1",
        "classify",
        "if storage.owner.op ==",
        "if phase(node) is Phase.FORWARD and node.op != 'placeholder':\n"
        "            return Kind.ACTIVATION\n        if storage.owner.op ==",
        "_w_t: ACTIVATION",
        "is a view",
    ),
    _wrong(
        "targets are forgotten", "1.1", "classify", '"target": Kind.INPUT,', "", "target: OTHER"
    ),
    _wrong(
        "all gradients are of one kind",
        "1.1",
        "classify",
        "Kind.GRAD_WEIGHT if storage in gradients else Kind.GRAD_ACT",
        "Kind.GRAD_ACT",
        "_w: GRAD_ACT",
        "outputs grad:",
    ),
    _wrong(
        "the loss is not forward",
        "1.1",
        "classify",
        "in (Phase.FORWARD, Phase.LOSS)",
        "is Phase.FORWARD",
        "loss",
        "ACTIVATION",
    ),
    _wrong(
        "buffers are weights",
        "1.1",
        "classify",
        '"param": Kind.WEIGHT,',
        '"param": Kind.WEIGHT,\n        "buffer": Kind.WEIGHT,',
        ": WEIGHT",
        'its source is "buffer:',
    ),
    _wrong(
        "what the optimizer keeps is a weight",
        "1.1",
        "classify",
        '"state": Kind.OPT_STATE,',
        '"state": Kind.WEIGHT,',
        "_exp_avg: WEIGHT",
        "wanted: l0_key_b_exp_avg: OPT_STATE",
    ),
    _wrong(
        "a view in backward has no kind",
        "1.1",
        "classify",
        "if phase(storage.owner) in (Phase.FORWARD, Phase.LOSS)",
        "if phase(node) in (Phase.FORWARD, Phase.LOSS)",
        "transpose: OTHER",
        "is a view: it is of the kind of",
    ),
    _wrong(
        "forward and backward change places",
        "1.2",
        "activation_lifetimes",
        "if not in_backward(n)]),\n            *ends([n for n in reading if in_backward(n)])",
        "if in_backward(n)]),\n            *ends([n for n in reading if not in_backward(n)])",
        "Forward and backward are swapped",
    ),
    _wrong(
        "first and last change places",
        "1.2",
        "activation_lifetimes",
        "(nodes[0], nodes[-1])",
        "(nodes[-1], nodes[0])",
        "First and last are swapped",
    ),
    _wrong(
        "readers behind a view are missed",
        "1.2",
        "activation_lifetimes",
        "{s.owner for read in node.all_input_nodes for s in memory[read]}",
        "set(node.all_input_nodes)",
        "through a view",
    ),
    _wrong(
        "forward and backward are mixed up",
        "1.2",
        "activation_lifetimes",
        "if not in_backward(n)",
        "if True",
        "last forward use of",
        "in_backward(node) tells",
    ),
    _wrong(
        "views count as readers",
        "1.2",
        "activation_lifetimes",
        "if is_operation(node):",
        "if node.op == 'call_function':",
        "views themselves do not",
    ),
    _wrong(
        "the warm-up is counted",
        "1.3",
        "GraphProfiler",
        "self.seconds.clear()",
        "pass",
        "warm up",
    ),
    _wrong(
        "a sum in place of a mean",
        "1.3",
        "GraphProfiler",
        "sum(self.seconds[node]) / repeats",
        "sum(self.seconds[node])",
        "divide",
    ),
    _wrong(
        "the median in place of the mean",
        "1.3",
        "GraphProfiler",
        "sum(self.seconds[node]) / repeats",
        "float(pd.Series(self.seconds[node]).median())",
        "That is the median of the repeats",
    ),
    _wrong(
        "no column for the operator",
        "1.3",
        "GraphProfiler",
        '                "operator": str(node.target),\n',
        "",
        "no column called 'operator'",
    ),
    _wrong(
        "no column for the phase",
        "1.3",
        "GraphProfiler",
        '                "phase": str(phase(node)),\n',
        "",
        "no column called 'phase'",
    ),
    _wrong(
        "the name in place of the operator",
        "1.3",
        "GraphProfiler",
        '"operator": str(node.target)',
        '"operator": node.op',
        "operator call_function",
        "operator is str(node.target)",
    ),
    _wrong(
        "everything is forward",
        "1.3",
        "GraphProfiler",
        "str(phase(node))",
        "'forward'",
        "loss_log_softmax: phase forward",
        "phase is str(phase(node))",
    ),
    _wrong(
        "run gets a list",
        "1.3",
        "GraphProfiler",
        "self.run(*tensors)",
        "self.run(tensors)",
        "self.run(*tensors), with the star",
    ),
    _wrong(
        "a clock of their own",
        "1.3",
        "GraphProfiler",
        "start = clock()",
        "import time\n        clock = time.perf_counter\n        start = clock()",
        "clock()",
    ),
    _wrong(
        "views allocate",
        "1.3",
        "GraphProfiler",
        "for s in memory[node] if s.owner is node",
        "for s in memory[node]",
        "a view owns none",
    ),
    _wrong(
        "placeholders are forgotten",
        "1.4",
        "peak_breakdown",
        "first[storage], last[storage] = 0, end",
        "first[storage], last[storage] = 0, -1",
        "in every step",
    ),
    _wrong(
        "freed before the last reader has run",
        "1.4",
        "peak_breakdown",
        "<= step <= last[storage]",
        "<= step < last[storage]",
        "still held in the step of its last reader",
    ),
    _wrong(
        "outputs are freed",
        "1.4",
        "peak_breakdown",
        "            last[storage] = end\n\n",
        "            pass\n\n",
        "held to the end",
    ),
    _wrong(
        "the last of several peaks",
        "1.4",
        "peak_breakdown",
        "max(range(len(steps)),",
        "max(reversed(range(len(steps))),",
        "the first of them counts",
    ),
    _wrong(
        "the kinds of another step",
        "1.4",
        "peak_breakdown",
        "steps[peak], held(peak))",
        "steps[peak], held(peak - 1))",
        "Your kinds add up to",
        "count what is held in the step of",
    ),
    _wrong(
        "the library does the work",
        "1.4",
        "peak_breakdown",
        "    memory = storages(graph)\n",
        "    from lab_utils import live_bytes, program_order\n"
        "    live_bytes(graph, program_order(graph))\n    memory = storages(graph)\n",
        "do this itself",
    ),
    # names in place of nodes, tuples in place of records, a graph that is not left alone
    _wrong(
        "kinds by name",
        "1.1",
        "classify",
        "return {node: kind_of(node)",
        "return {node.name: kind_of(node)",
        "each key is text",
        "node, not node.name",
        "wanted: a dict from node to Kind",
    ),
    _wrong(
        "the kind is asked for",
        "1.1",
        "classify",
        "    memory = storages(graph)\n",
        "    memory = storages(graph)\n    kind(next(iter(graph.nodes)))\n",
        "is what you are to find out",
    ),
    _wrong(
        "kinds of a copy",
        "1.1",
        "classify",
        "    memory = storages(graph)\n",
        "    from lab_utils import copy_graph\n"
        "    graph, _ = copy_graph(graph)\n    memory = storages(graph)\n",
        "is a node of another graph",
    ),
    *(
        _wrong(
            f"nodes are erased in {task}",
            task,
            function,
            "    memory = storages(graph)\n",
            "    for node in reversed(list(graph.nodes)):\n"
            "        if node.op == 'call_function' and not node.users:\n"
            "            graph.erase_node(node)\n    memory = storages(graph)\n",
            "your function changed the graph",
            "update is gone",
            "work on a copy",
        )
        for task, function in (
            ("1.1", "classify"),
            ("1.2", "activation_lifetimes"),
            ("1.4", "peak_breakdown"),
        )
    ),
    _wrong(
        "lifetimes by name",
        "1.2",
        "activation_lifetimes",
        "        owner: Uses(",
        "        owner.name: Uses(",
        "each key is text",
    ),
    _wrong(
        "uses by name",
        "1.2",
        "activation_lifetimes",
        "(nodes[0], nodes[-1])",
        "(nodes[0].name, nodes[-1].name)",
        "each part of Uses is text",
    ),
    _wrong(
        "a tuple in place of Uses",
        "1.2",
        "activation_lifetimes",
        "owner: Uses(",
        "owner: (lambda *nodes: nodes)(",
        "each value is a tuple",
        "Return Uses(first_forward, last_forward, first_backward, last_backward), not tuple",
    ),
    _wrong(
        "run_node returns nothing",
        "1.3",
        "GraphProfiler",
        "return result",
        "pass",
        "run_node returns None for x",
        "Does run_node return the result",
    ),
    _wrong(
        "the profiler erases a node",
        "1.3",
        "GraphProfiler",
        "        memory = storages(graph)\n",
        "        memory = storages(graph)\n"
        "        graph.erase_node(next(n for n in reversed(graph.nodes) if not n.users"
        " and n.op == 'call_function'))\n",
        "your function changed the graph",
    ),
    _wrong(
        "the peak at a name",
        "1.4",
        "peak_breakdown",
        "steps[peak], held(peak))",
        "steps[peak].name, held(peak))",
        "node is text",
    ),
    _wrong(
        "a tuple in place of Peak",
        "1.4",
        "peak_breakdown",
        "return Peak(",
        "return (lambda *parts: parts)(",
        "what you return is a tuple",
        "wanted: Peak(nbytes, node, by_kind)",
    ),
    _wrong(
        "names run again",
        "2.1",
        "recompute_set",
        "return order",
        "return [node.name for node in order]",
        "each item is text",
    ),
    _wrong(
        "a set runs again",
        "2.1",
        "recompute_set",
        "return order",
        "return set(order)",
        "A set has no order",
        "wanted: a list of nodes",
    ),
    _wrong(
        "clones by name",
        "2.2",
        "inject_recomputation",
        "    return clones\n",
        "    return {node.name: clone.name for node, clone in clones.items()}\n",
        "is text",
        "wanted: a dict from each original node to its clone",
    ),
    # 2.1: what must run again
    _wrong(
        "the walk runs through kept values",
        "2.1",
        "recompute_set",
        _STOP,
        'if node in seen or node.op == "placeholder":',
        "is kept, so it does not run again",
    ),
    _wrong(
        "placeholders run again",
        "2.1",
        "recompute_set",
        _STOP,
        "if node in seen or node in kept:",
        "given to the step",
    ),
    _wrong(
        "the order is reversed",
        "2.1",
        "recompute_set",
        "return order",
        "return order[::-1]",
        "must run before",
    ),
    _wrong(
        "no set of visited nodes",
        "2.1",
        "recompute_set",
        "seen.add(node)",
        "pass",
        "runs only once",
    ),
    _wrong(
        "the target is left out",
        "2.1",
        "recompute_set",
        "return order",
        "return order[:-1]",
        "must run again too",
    ),
    # 2.2: clones
    _wrong(
        "a clone reads a dropped value",
        "2.2",
        "inject_recomputation",
        _COPY,
        "clone = graph.node_copy(node, lambda read: read)",
        "l3_gate_proj",
        "which is dropped",
    ),
    _wrong(
        "a clone reads a value that nobody keeps",
        "2.2",
        "inject_recomputation",
        "    clones: dict",
        "    kept = {n for n in graph.nodes if n not in drop}\n    lost = set(drop)\n"
        "    clones: dict",
        "nobody keeps",
    ),
    _wrong(
        "operands swapped in a clone",
        "2.2",
        "inject_recomputation",
        "clones[node] = mark_recomputed(clone)",
        "clones[node] = mark_recomputed(clone)\n"
        "                    if len(clone.args) == 2 and len(clone.all_input_nodes) == 2:\n"
        "                        clone.args = clone.args[::-1]",
        "l3_gate_proj_1: aten.mm.default refuses its arguments",
    ),
    _wrong(
        "all clones at one point",
        "2.2",
        "inject_recomputation",
        _INSERT,
        "with graph.inserting_before(readers[0]):",
        "just before",
        "a peak of",
    ),
    _wrong(
        "everything from the network's input",
        "2.2",
        "inject_recomputation",
        _SHARED,
        "            kept = {n for n in graph.nodes if kind(n) in ('INPUT', 'WEIGHT')}\n"
        + _UNSHARED,
        "which is kept",
        "The walk back stops at kept values",
    ),
    _wrong(
        "a chain of clones for each value",
        "2.2",
        "inject_recomputation",
        _SHARED,
        _UNSHARED,
        "both rebuild l3_gate_proj",
        "shared by all its readers",
    ),
    _wrong(
        "views of what is dropped get no clone",
        "2.2",
        "inject_recomputation",
        "if value not in lost:",
        "if value not in drop:",
        "no clone of",
        "_view, which",
    ),
    _wrong(
        "a clone for each reader",
        "2.2",
        "inject_recomputation",
        "    for reader in readers:\n",
        "    for reader in readers:\n        clones = dict(clones) if clones else clones\n"
        "        clones.clear() if reader.target is torch.ops.aten.mm.default else None\n",
        "yours",
    ),
    _wrong(
        "kept values are rebuilt as well",
        "2.2",
        "inject_recomputation",
        _KEPT,
        _KEPT + "\n    kept -= {n for n in kept if n.target is torch.ops.aten.add.Tensor}",
        "computes l0_add again, which is kept",
        "no clone of l0_add",
    ),
    _wrong(
        "keyword arguments are lost",
        "2.2",
        "inject_recomputation",
        _COPY,
        "clone = graph.create_node(node.op, node.target,"
        " fx.map_arg(node.args, lambda read: clones.get(read, read)))\n"
        "                        clone.meta = dict(node.meta)",
        "has other arguments",
        "with all its arguments",
    ),
    _wrong(
        "a clone reads what is lost through a list",
        "2.2",
        "inject_recomputation",
        _COPY,
        "clone = graph.create_node(node.op, node.target,"
        " tuple(clones.get(a, a) if isinstance(a, fx.Node) else a for a in node.args),"
        " node.kwargs)\n                        clone.meta = dict(node.meta)",
        "reads a clone of",
    ),
    _wrong(
        "the activation function is left out",
        "2.2",
        "inject_recomputation",
        "clones[node] = mark_recomputed(clone)",
        "clones[node] = mark_recomputed(clone)\n"
        "                    if clone.target is torch.ops.aten.silu.default:\n"
        "                        clone.target = torch.ops.aten.relu.default",
        "runs aten.relu.default",
    ),
    _wrong(
        "weights are cloned",
        "2.2",
        "inject_recomputation",
        "    return clones\n",
        "    for n in list(graph.nodes):\n"
        "        if n.op == 'placeholder' and kind(n) == 'WEIGHT':\n"
        "            clones[n] = n\n    return clones\n",
        "which is not a new node",
        "weights need none",
    ),
    _wrong(
        "clones after the update of the weights",
        "2.2",
        "inject_recomputation",
        _INSERT,
        "with graph.inserting_before(graph.output_node()):",
        "stands after",
    ),
    _wrong(
        "the readers are rewired as well",
        "2.2",
        "inject_recomputation",
        "    return clones\n",
        "    for old, new in clones.items():\n"
        "        for r in list(old.users):\n"
        "            if in_backward(r):\n"
        "                r.replace_input_with(old, new)\n    return clones\n",
        "must not change",
    ),
    _wrong(
        "no clones at all, the library checkpoints",
        "2.2",
        "inject_recomputation",
        "    for reader in readers:",
        "    for reader in ():",
        "no clone of l3_gate_up_proj",
    ),
    _wrong(
        "clones after their reader",
        "2.2",
        "inject_recomputation",
        _INSERT,
        "with graph.inserting_before(reader.next):",
        "it reads l3_gate_proj_act_1",
    ),
    _wrong(
        "dead clones are left behind",
        "2.2",
        "inject_recomputation",
        "    return clones\n",
        "    for node, clone in list(clones.items()):\n"
        "        with graph.inserting_before(clone):\n"
        "            mark_recomputed(graph.node_copy(clone, lambda read: read))\n"
        "    return clones\n",
        "no backward node reads",
    ),
    _wrong(
        "a new graph and a map into the old one",
        "2.2",
        "inject_recomputation",
        _KEPT,
        "from lab_utils import copy_graph\n"
        "    graph, new = copy_graph(graph)\n"
        "    drop = [new[n] for n in drop]\n    kept = kept_values(graph, drop)",
        "another graph",
    ),
    _wrong(
        "names of one model",
        "2.2",
        "inject_recomputation",
        "if value not in lost:",
        'if value not in lost or "_proj" not in value.name:',
        "no clone of",
    ),
    _wrong(
        "clones in the forward pass",
        "2.2",
        "inject_recomputation",
        _INSERT,
        "with graph.inserting_before(node.next):",
        "runs in the forward pass",
    ),
    _wrong(
        "clones are not marked",
        "2.2",
        "inject_recomputation",
        "clones[node] = mark_recomputed(clone)",
        "clones[node] = clone",
        "l3_gate_proj_1 is not marked",
    ),
    # 3.1: rewiring
    _wrong(
        "one reader forgotten in all blocks",
        "3.1",
        "rewire_backward",
        _IF_BACKWARD,
        'if in_backward(reader) and "silu" not in str(reader.target):',
        "d_l3_gate_proj still reads l3_gate_proj",
    ),
    _wrong(
        "one block forgotten",
        "3.1",
        "rewire_backward",
        _IF_BACKWARD,
        'if in_backward(reader) and not original.name.startswith("l2_"):',
        "still reads l2_",
    ),
    _wrong("nothing rewired", "3.1", "rewire_backward", _REPLACE, "pass", "still reads"),
    _wrong(
        "forward readers too",
        "3.1",
        "rewire_backward",
        _IF_BACKWARD,
        "if phase(reader) is not Phase.RECOMPUTE:",
        "l0_gate_proj_act (forward) now reads l0_gate_proj_recomp",
    ),
    _wrong(
        "forward readers in place of backward ones",
        "3.1",
        "rewire_backward",
        _IF_BACKWARD,
        "if phase(reader) is Phase.FORWARD:",
        "l0_gate_proj_act (forward) now reads l0_gate_proj_recomp",
    ),
    _wrong(
        "two clones swapped",
        "3.1",
        "rewire_backward",
        "in clones.items():",
        "in zip(clones, [*list(clones.values())[1:], next(iter(clones.values()))]):",
        "reads",
    ),
    _wrong(
        "one clone for all blocks",
        "3.1",
        "rewire_backward",
        _REPLACE,
        "reader.replace_input_with(original, next(c for c in clones.values()"
        " if c.target is clone.target and c.meta['val'].shape == clone.meta['val'].shape))",
        "reads",
    ),
    _wrong(
        "the update reads something else",
        "3.1",
        "rewire_backward",
        "    for original, clone",
        "    for n in graph.nodes:\n"
        "        if phase(n) is Phase.OPTIMIZER and n.op == 'call_function':\n"
        "            n.args = (n.args[0], n.args[0], *n.args[2:])\n    for original, clone",
        "_update",
    ),
    _wrong(
        "only the first reader",
        "3.1",
        "rewire_backward",
        _REPLACE,
        _REPLACE + "\n                break",
        "still reads",
    ),
    _wrong(
        "operands inside lists are missed",
        "3.1",
        "rewire_backward",
        _REPLACE,
        "reader.args = tuple(clone if a is original else a for a in reader.args)",
        "still reads",
    ),
    _wrong(
        "returns a new graph",
        "3.1",
        "rewire_backward",
        "    for original, clone in clones.items():\n",
        "    from lab_utils import copy_graph\n"
        "    graph, new = copy_graph(graph)\n"
        "    clones = {new[o]: new[c] for o, c in clones.items()}\n"
        "    for original, clone in clones.items():\n",
        "still reads",
    ),
    _wrong(
        "returns a rewired copy",
        "3.1",
        "rewire_backward",
        "    for original, clone in clones.items():\n        for reader in list(original.users):\n"
        "            if in_backward(reader):\n"
        "                reader.replace_input_with(original, clone)\n",
        "    from lab_utils import copy_graph\n"
        "    graph, new = copy_graph(graph)\n"
        "    for original, clone in clones.items():\n"
        "        for reader in list(new[original].users):\n"
        "            if in_backward(reader):\n"
        "                reader.replace_input_with(new[original], new[clone])\n"
        "    return graph\n",
        "returns another graph",
        "Change the graph that you are given",
    ),
    _wrong(
        "calls the function of ours that rewires",
        "3.1",
        "rewire_backward",
        "    for original, clone in clones.items():",
        "    from lab_utils.labs.graphs import judge\n"
        "    judge.rewired(graph, {o.name: c.name for o, c in clones.items()})\n"
        "    for original, clone in ():",
        "is to do this itself",
    ),
    # 4.1: waiting
    _wrong(
        "no control dependencies", "4.1", "add_control_dependencies", _WAIT, "pass", "No node waits"
    ),
    _wrong(
        "halves every dtype in place of waiting",
        "4.1",
        "add_control_dependencies",
        "    for clone in clones.values():",
        _HALVED + "    for clone in ():",
        "with the value f16[",
        "with the value f32[",
    ),
    _wrong(
        "tells another phase of what it does not rewire",
        "3.1",
        "rewire_backward",
        _REPLACE,
        "reader.meta['phase'] = Phase.RECOMPUTE",
        "with the phase recompute",
        "with the phase backward",
    ),
    _wrong(
        "clones wait for their own forward",
        "4.1",
        "add_control_dependencies",
        "    for clone in clones.values():",
        "    for original, clone in clones.items():\n"
        "        add_control_dependency(clone, original)\n    for clone in ():",
        "in the forward pass",
    ),
    _wrong(
        "every block waits for the loss only",
        "4.1",
        "add_control_dependencies",
        _WAIT,
        "add_control_dependency(clone, next(n for n in graph.nodes if phase(n) is Phase.BACKWARD))",
        "own block",
    ),
    _wrong(
        "one branch is forgotten",
        "4.1",
        "add_control_dependencies",
        _WAIT,
        "if phase(clone.prev) is not Phase.RECOMPUTE:\n            " + _WAIT,
        "up_proj_recomp runs at step",
    ),
    _wrong(
        "the gradient waits for the clone",
        "4.1",
        "add_control_dependencies",
        _WAIT,
        "add_control_dependency(gradients[-1], clone)",
        "only clones wait",
    ),
    _wrong(
        "every node waits for the one before it",
        "4.1",
        "add_control_dependencies",
        "    for clone in clones.values():",
        "    calls = [n for n in graph.nodes if n.op == 'call_function']\n"
        "    for before, node in zip(calls, calls[1:]):\n"
        "        add_control_dependency(node, before)\n    for clone in ():",
        "only clones wait",
    ),
    _wrong(
        "a clone waits for its own reader",
        "4.1",
        "add_control_dependencies",
        _WAIT,
        "add_control_dependency(clone, reader)",
        "circle",
    ),
    _wrong(
        "control edges repeat data edges",
        "4.1",
        "add_control_dependencies",
        _WAIT,
        "add_control_dependency(clone, *clone.all_input_nodes)",
        "what does it wait for",
    ),
)

_ROOTS = (
    "if not any(phase(read) is Phase.RECOMPUTE for read in clone.all_input_nodes):\n            "
)

RIGHT = (
    Change(
        "notes in meta",
        "classify",
        "    memory = storages(graph)\n",
        "    memory = storages(graph)\n    for node in graph.nodes:\n"
        "        node.meta['kind'] = node.meta['seen'] = None\n",
    ),
    Change(
        "a tuple runs again", "recompute_set", "    return order\n", "    return tuple(order)\n"
    ),
    Change(
        "other names",
        "inject_recomputation",
        _COPY,
        "clone = graph.create_node(node.op, node.target,"
        " *fx.map_arg((node.args, node.kwargs), lambda read: clones.get(read, read)),"
        " name='again')\n                        clone.meta = dict(node.meta)",
    ),
    Change(
        "another order",
        "inject_recomputation",
        "for value in reader.all_input_nodes:",
        "for value in reversed(reader.all_input_nodes):",
    ),
    Change(
        "a dead clone of a block's result",
        "inject_recomputation",
        "    return clones\n",
        "    for node in sorted(lost - set(clones)):\n"
        "        reads = [clones[r] for r in node.all_input_nodes if r in clones]\n"
        "        gone = [r for r in node.all_input_nodes if r in lost and r not in clones]\n"
        "        if reads and not gone and 'mm' in str(node.target):\n"
        "            with graph.inserting_after(max(reads)):\n"
        "                mark_recomputed(graph.node_copy(node, lambda r: clones.get(r, r)))\n"
        "    return clones\n",
    ),
    Change(
        "annotations of their own",
        "inject_recomputation",
        "clones[node] = mark_recomputed(clone)",
        "clones[node] = mark_recomputed(clone)\n                    clone.meta['note'] = 'mine'",
    ),
    Change(
        "a walk without recursion",
        "recompute_set",
        "    visit(target)\n    return order\n",
        "    needed, queue = set(), [target]\n"
        "    while queue:\n"
        "        node = queue.pop()\n"
        "        if node not in needed and node not in kept and node.op != 'placeholder':\n"
        "            needed.add(node)\n"
        "            queue += node.all_input_nodes\n"
        "    return [n for n in target.graph.nodes if n in needed]\n",
    ),
    Change(
        "readers first",
        "rewire_backward",
        "    for original, clone in clones.items():\n        for reader in list(original.users):\n"
        "            if in_backward(reader):\n"
        "                reader.replace_input_with(original, clone)\n",
        "    for reader in graph.nodes:\n"
        "        if in_backward(reader) and reader.op == 'call_function':\n"
        "            for read in reader.all_input_nodes:\n"
        "                if read in clones:\n"
        "                    reader.replace_input_with(read, clones[read])\n",
    ),
    Change(
        "clones of a group wait for one another, too",
        "add_control_dependencies",
        _WAIT,
        _WAIT + "\n        if phase(clone.prev) is Phase.RECOMPUTE:"
        "\n            add_control_dependency(clone, clone.prev)",
    ),
    Change("only the roots wait", "add_control_dependencies", _WAIT, _ROOTS + _WAIT),
    Change(
        "redundant control edges",
        "add_control_dependencies",
        _WAIT,
        _WAIT + "\n        add_control_dependency(clone, *clone.all_input_nodes)"
        "\n        add_control_dependency(clone, *gradients[-1].all_input_nodes)",
    ),
    Change(
        "the next gradient of the same block",
        "add_control_dependencies",
        _WAIT,
        "later = reader.next\n"
        "        if phase(later) is Phase.BACKWARD and not any(\n"
        "            phase(r) is Phase.RECOMPUTE for r in later.all_input_nodes\n"
        "        ) and reader not in later.all_input_nodes:\n"
        "            gradients = [later]\n        " + _WAIT,
    ),
)

_ORDER = "in which order they are looked at makes no difference"
_ENDS = "the first node is given to the step, the last one is its output: neither is an operator"
_SCHEDULE = "it waits for another gradient that enters the same block: the same step, as right"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("1.2", "if kind(node) is Kind.ACTIVATION and owns", "nothing given is an activation"),
    ("1.2", "owns = all(", "an operator returns memory of its own or views, never both"),
    ("1.2", "list(graph.nodes)[", _ENDS),
    ("1.2", "for owner in owners:", "nothing that an operator reads lives in its new memory"),
    ("1.2", "the other way round", _ORDER),
    ("1.3", "the other way round: for _ in", "each round is the same"),
    ("1.4", "end = len(steps)", "held beyond the last step, which no step sees"),
    ("1.4", "first[storage], last[storage] = (1, end)", "step 1 holds all that step 0 holds"),
    ("1.4", "last.get(storage, 1)", "step 1 holds all that step 0 holds"),
    ("1.4", "list(graph.nodes)[:-1]", _ENDS),
    ("1.4", "the other way round", _ORDER),
    ("2.1", "the other way round", "inputs still come before their readers"),
    ("2.2", "if not in_backward(n)} - kept", "what is given is kept in any case"),
    (
        "2.2",
        "readers = [n for n in graph.nodes if in_backward(n)]",
        "the output reads what is kept",
    ),
    ("2.2", "list(readers)[1:]", "backward begins at the loss, which the step hands back"),
    ("2.2", "list(readers)[:-1]", "the last node is an update, which reads no activation"),
    ("2.2", "lost = {n for n in graph.nodes if n.op ==", "of a kept value nothing runs again"),
    ("2.2", "the other way round", "both are cloned before the same reader"),
    ("3.1", "the other way round", _ORDER),
    ("4.1", "the other way round", _ORDER),
    ("4.1", "gradients[-0]", _SCHEDULE),
    ("4.1", "reader = clone.prev", _SCHEDULE),
    ("4.1", "reader = reader.prev", _SCHEDULE),
    ("4.1", "while False", _SCHEDULE),
    ("4.1", "if True", _SCHEDULE),
)
