# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4A, notebook 1: where do the bytes go?
#
# **4 points, about 90 minutes.** You need PyTorch; you need not have seen `torch.fx`.
#
# Training runs out of memory long before the weights alone would fill it. In this notebook
# you take the graph of a *whole training step* (forward, loss, backward, update) and find
# out what every byte in it is for. Afterwards you can
#
# - walk a `torch.fx` graph and say of each value what it is: weight, activation, gradient;
# - say when an activation is made, when it is last needed, and how long it lies idle;
# - time every operator with a profiler of your own;
# - find the peak, and say what it is made of.
#
# ![Bytes held at each step of a training step: activations pile up in forward and are
# eaten up by backward](images/memory_line.svg)
#
# The yellow mountain is what this lab is about: *activations*, made in forward, kept for
# backward. In notebooks 2 to 4 you make it melt. On the way you can look into the graph:
#
# ![A picture of the explorer: one block of the graph in three lanes, a clone selected, and what
# is known about it](images/explorer.png)
#
# *(A picture of what comes later: it does not answer to the mouse. The explorer itself is a few
# cells below.)*

# %%
from collections import defaultdict

import pandas as pd
import torch
from torch import fx

from lab_utils import (
    Kind,
    Phase,
    Profile,
    copy_graph,
    example_values,
    explore,
    film,
    kind,
    llm_mlp,
    outputs,
    phase,
    read_dot,
    run,
    storages,
    trace_workload,
    write_dot,
)
from lab_utils.kit.carry import save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.lab4a import Peak, Uses, check, in_backward
from lab_utils.steps.clock import clock
from lab_utils.steps.storage import is_operation

# %% [markdown]
# ## The graph
#
# `trace_workload` runs one training step of a real PyTorch model on *fake* tensors (they
# have a shape, but no data) and writes down every operator that PyTorch calls. The model
# is a stack of four feed-forward blocks as in Llama:
#
# > `x + down_proj(silu(gate_proj(x)) * up_proj(x))`
#
# What comes back is a plain `torch.fx.Graph`: a list of **nodes** in the order in which
# they run.

# %%
torch.manual_seed(0)
graph = trace_workload(llm_mlp(layers=4, width=64, hidden=256, batch=512))
nodes = {node.name: node for node in graph.nodes}
print(len(nodes), "nodes; the first block:")
for node in list(graph.nodes)[14:23]:
    print(f"  {node.name:18} = {node.target!s:22} of {[n.name for n in node.all_input_nodes]}")

# %% [markdown]
# A graph that stands alone in a cell is a picture: forward runs down on the left, backward up
# on the right. `explore` lets you walk through it: choose a block, select a node, and follow
# its value from birth to death. (The letters are the kinds of task 1.1.)

# %% shows
explore(graph)

# %% [markdown]
# This is all of `torch.fx` that you need today:
#
# | you want | you write |
# |---|---|
# | all nodes, in the order in which they run | `graph.nodes` |
# | what a node is | `node.op`: `"placeholder"` (given to the step), `"call_function"` (an operator), `"output"` |
# | the operator | `node.target`, for instance `aten.mm.default` |
# | the values that it reads | `node.all_input_nodes` |
# | the nodes that read it | `node.users` |
# | what we noted about it | `node.meta`: `"phase"`, `"kind"`, `"val"` (shape and dtype), `"source"` |
#
# A node *is* its value: `nodes["l0_gate_proj"]` is the operator and the tensor that it makes.

# %% shows
node = nodes["l0_gate_proj"]
print("reads   ", [n.name for n in node.all_input_nodes])
print("read by ", [n.name for n in node.users])
print("phase   ", phase(node), "   value", tuple(node.meta["val"].shape), node.meta["val"].dtype)
print("a weight comes from", nodes["l0_up_proj_w"].meta["source"])
print("the step returns   ", list(outputs(graph))[:3], "…")

# %% [markdown]
# ### Values and memory
#
# A transpose does not copy: it is a **view** of memory that somebody else allocated. An
# in-place operator such as `add_` writes into memory that is there already. So bytes do not
# belong to nodes but to **storages**. `storages(graph)` gives for each node the storages that
# its value lives in; a storage knows its `owner` (the node that allocated it) and `nbytes`.

# %% shows
memory = storages(graph)
for name in ("l0_gate_proj", "l0_gate_proj_w_t", "l0_up_proj_w_update"):
    for storage in memory[nodes[name]]:
        print(f"{name:20} lives in {storage.nbytes:>7,} bytes that belong to {storage.owner.name}")

# %% [markdown]
# ## Task 1.1: the kind of every value (1 point, about 20 lines)
#
# Say of every node (all but the `output`) what its value is for:
#
# | kind | which nodes |
# |---|---|
# | `Kind.INPUT` | given to the step; the source is `input:…` or `target` |
# | `Kind.WEIGHT` | given; source `param:…` |
# | `Kind.OPT_STATE` | given; source `state:…` (momentum and the like) |
# | `Kind.OTHER` | given; source `buffer:…`. Also what the optimizer allocates for itself |
# | `Kind.ACTIVATION` | allocated in the forward or loss phase |
# | `Kind.GRAD_WEIGHT` | allocated in backward, and one of the step's outputs `grad:…` lives in it |
# | `Kind.GRAD_ACT` | everything else that is allocated in backward |
#
# A value that lives in somebody else's memory (a view, an in-place result) is of the kind
# of the **storage** that it lives in: the transpose of a weight is a weight. (A node with
# several outputs may get the kind of any of them.)
#
# <details><summary>Help: where do I start?</summary>
# Look at the owner of the memory, not at the node. <code>memory[node][0].owner</code> is a
# placeholder or a node that allocated: its source or its phase decides.
# </details>
# <details><summary>Help: a node without any storage?</summary>
# Some update operators return nothing. They have no storage; they count as
# <code>Kind.OTHER</code>.
# </details>
# <details><summary>Help: which memory holds weight gradients?</summary>
# Collect the storages of the outputs whose label starts with <code>grad:</code> first:
# <code>for label, node in outputs(graph).items(): …</code> (Storages, not owners: one operator
# may return the gradient of a weight and of an activation together.)
# </details>


# %% solution=t11
def classify(graph: fx.Graph) -> dict[fx.Node, Kind]:
    """The kind of every node of the graph, the output left out."""
    ### BEGIN SOLUTION
    memory = storages(graph)
    gradients = {
        memory[node][0] for label, node in outputs(graph).items() if label.startswith("grad:")
    }
    given = {
        "input": Kind.INPUT,
        "target": Kind.INPUT,
        "param": Kind.WEIGHT,
        "state": Kind.OPT_STATE,
    }

    def kind_of(node: fx.Node) -> Kind:
        if not memory[node]:
            return Kind.OTHER
        storage = memory[node][0]
        if storage.owner.op == "placeholder":
            return given.get(storage.owner.meta["source"].split(":")[0], Kind.OTHER)
        if phase(storage.owner) in (Phase.FORWARD, Phase.LOSS):
            return Kind.ACTIVATION
        if phase(storage.owner) is Phase.BACKWARD:
            return Kind.GRAD_WEIGHT if storage in gradients else Kind.GRAD_ACT
        return Kind.OTHER

    return {node: kind_of(node) for node in graph.nodes if node.op != "output"}
    ### END SOLUTION


# %% [markdown]
# The check runs your function on two graphs: the one above, and a small transformer
# (`open_graph("attention")` of `lab_utils.labs.lab4a`) whose operators have several outputs and
# whose weights Adam updates. It says what it found, and where to look.

# %% test=t11_check points=1 check=1.1
check("1.1", classify)

# %% [markdown]
# How much is there of each kind? (This counts all bytes ever allocated, not those that are
# held at once.)

# %% shows
scratch, _ = copy_graph(graph)  # your function may note things on the nodes of its graph
kinds = classify(scratch)
allocated = pd.Series(dtype=float)
for storage in {s for held in storages(scratch).values() for s in held}:
    name = str(kinds[storage.owner])
    allocated[name] = allocated.get(name, 0) + storage.nbytes / 1e6
allocated.sort_values(ascending=False).rename("MB").to_frame().round(2)

# %% [markdown]
# ## Task 1.2: first and last use of each activation (1 point, about 15 lines)
#
# An activation is made in forward, read by the next operators, and then **lies in memory
# doing nothing** until backward reads it. Find for each activation the operators that read
# it first and last, in forward and in backward.
#
# - Return a dict with an entry for every node that allocates memory of kind `ACTIVATION`
#   (from now on `kind(node)` gives the kind). The entry is `Uses(first_forward, last_forward,
#   first_backward, last_backward)`; each is a node, or `None` if there is no such reader.
# - *Reading through a view counts*: if `v` is a view of `a` and `mm` reads `v`, then `mm`
#   reads `a`. Views themselves are no readers: `is_operation(node)` is true for operators
#   that do work.
# - `in_backward(node)` is true for everything that runs after the loss; the loss itself
#   counts as forward.
#
# <details><summary>Help: how do I see through views?</summary>
# Compare owners. A node reads <code>a</code> if one of its inputs lives in memory that
# <code>a</code> owns.
# </details>
# <details><summary>Help: what does the loop look like?</summary>
# Go once through <code>graph.nodes</code> in order. For each operator, for each owner of the
# memory of its inputs, append the operator to that owner's list of readers. First and last
# are then simply the ends of the list.
# </details>
# <details><summary>Help: an operator that has several outputs?</summary>
# <code>memory[node]</code> then has several storages. The operator owns all of them and gets
# one entry; <code>getitem</code> is a view and no reader.
# </details>


# %% solution=t12
def activation_lifetimes(graph: fx.Graph) -> dict[fx.Node, Uses]:
    """Who reads each activation first and last, in forward and in backward."""
    ### BEGIN SOLUTION
    memory = storages(graph)
    readers: dict[fx.Node, list[fx.Node]] = {}
    for node in graph.nodes:
        owns = any(storage.owner is node for storage in memory[node])
        if node.op == "call_function" and kind(node) is Kind.ACTIVATION and owns:
            readers[node] = []
        if is_operation(node):
            owners = {s.owner for read in node.all_input_nodes for s in memory[read]}
            for owner in owners - {node}:
                if owner in readers:
                    readers[owner].append(node)

    def ends(nodes: list[fx.Node]) -> tuple[fx.Node | None, fx.Node | None]:
        return (nodes[0], nodes[-1]) if nodes else (None, None)

    return {
        owner: Uses(
            *ends([n for n in reading if not in_backward(n)]),
            *ends([n for n in reading if in_backward(n)]),
        )
        for owner, reading in readers.items()
    }
    ### END SOLUTION


# %% test=t12_check points=1 check=1.2
check("1.2", activation_lifetimes)

# %% [markdown]
# The next cell shows for each activation of two blocks how many nodes run between its last
# use in forward and its first use in backward. Activations of early layers wait longest: they
# are the ones worth dropping.

# %% shows
scratch, _ = copy_graph(graph)
memory = storages(scratch)
place = {node: index for index, node in enumerate(scratch.nodes)}
rows = [
    {
        "activation": node.name,
        "KB": sum(s.nbytes for s in memory[node] if s.owner is node) / 1e3,
        "idle nodes": place[uses.first_backward] - place[uses.last_forward],
    }
    for node, uses in activation_lifetimes(scratch).items()
    if uses.first_backward and uses.last_forward and node.name[:2] in ("l0", "l3")
]
pd.DataFrame(rows).set_index("activation")

# %% [markdown]
# ## Task 1.3: time and memory of each operator (¾ point, about 15 lines)
#
# `fx.Interpreter` runs a graph node by node and calls its method `run_node(node)` for each.
# Override that method, and you have a profiler.
#
# 1. `run_node`: read `clock()` before and after `super().run_node(node)`, append the
#    difference to `self.seconds[node]`, and return the result.
# 2. `profile`: run the graph `warmup` times and forget these times (the first runs pay for
#    caches and memory), then `repeats` times. Return a DataFrame with one row for each
#    `call_function` node **in the order of the graph** and the columns `node` (the name),
#    `operator`, `phase`, `seconds` (mean over the repeats) and `bytes` (of the storages that
#    this node owns).
#
# `self.run(*tensors)` takes one tensor for each placeholder, in order.
#
# <details><summary>Help: how do I forget the warm-up?</summary>
# <code>self.seconds.clear()</code> between the two loops.
# </details>
# <details><summary>Help: why does the check talk of a pretended clock?</summary>
# Real times differ from run to run, so the check replaces <code>clock</code> by one on which
# every operator takes a known time. Use <code>clock()</code> and not the <code>time</code>
# module.
# </details>
# <details><summary>Help: which bytes belong to a node?</summary>
# <code>sum(s.nbytes for s in memory[node] if s.owner is node)</code>: nothing for a view.
# </details>


# %% solution=t13
class GraphProfiler(fx.Interpreter):
    """Runs a graph and measures every operator in it."""

    def __init__(self, graph: fx.Graph) -> None:
        super().__init__(fx.GraphModule(torch.nn.Module(), graph))
        self.seconds: dict[fx.Node, list[float]] = defaultdict(list)

    def run_node(self, node: fx.Node):
        """Run ``node`` and note how long it took."""
        ### BEGIN SOLUTION
        start = clock()
        result = super().run_node(node)
        self.seconds[node].append(clock() - start)
        return result
        ### END SOLUTION

    def profile(self, values: dict[str, torch.Tensor], warmup: int = 1, repeats: int = 3):
        """A table of all operators; ``values`` has a tensor for each placeholder's name."""
        graph = self.module.graph
        tensors = [values[node.name].clone() for node in graph.nodes if node.op == "placeholder"]
        ### BEGIN SOLUTION
        for _ in range(warmup):
            self.run(*tensors)
        self.seconds.clear()
        for _ in range(repeats):
            self.run(*tensors)
        memory = storages(graph)
        return pd.DataFrame(
            {
                "node": node.name,
                "operator": str(node.target),
                "phase": str(phase(node)),
                "seconds": sum(self.seconds[node]) / repeats,
                "bytes": sum(s.nbytes for s in memory[node] if s.owner is node),
            }
            for node in graph.nodes
            if node.op == "call_function"
        )
        ### END SOLUTION


# %% test=t13_check points=0.75 check=1.3
check("1.3", GraphProfiler)

# %% [markdown]
# Profile the real graph. Where does the time go, and where do the bytes? An operator with
# many bytes and little time is cheap to run again.

# %% shows
scratch, _ = copy_graph(graph)
table = GraphProfiler(scratch).profile(example_values(graph))
by_operator = table.groupby("operator")[["seconds", "bytes"]].sum()
by_operator["share of time"] = by_operator["seconds"] / by_operator["seconds"].sum()
by_operator.sort_values("seconds", ascending=False).head(8).style.format(
    {"seconds": "{:.2e}", "bytes": "{:,.0f}", "share of time": "{:.0%}"}
)

# %% [markdown]
# The same table as a picture, operator by operator: above the time that each takes, below the
# bytes that it allocates. Rest the mouse on a bar to see whose it is.

# %% shows
Profile(table)

# %% [markdown]
# ## Task 1.4: the peak and what it is made of (1 point, about 25 lines)
#
# Run the nodes in the order of the graph, one per step. A storage is held **from the step in
# which a node first lives in it to the last step in which a node that lives in it is made
# or read**, both included. Two kinds of storage are held longer: those of placeholders from
# the first step to the last (the caller holds them), and those of the graph's outputs from the
# step that makes them to the last (they are handed back).
#
# Return `Peak(nbytes, node, by_kind)`: the most bytes held in any step, the node that runs
# in the **first** such step (a peak may last for several), and the bytes of each kind in that step (`storage.kind` gives it).
# The steps are the `call_function` nodes.
#
# <details><summary>Help: what do I keep for each storage?</summary>
# Two numbers: <code>first[storage]</code> and <code>last[storage]</code>. Go through the
# nodes in order; making a node sets both, reading it moves <code>last</code>.
# </details>
# <details><summary>Help: from intervals to a line</summary>
# For each step, add up the bytes of the storages with <code>first &lt;= step &lt;= last</code>.
# (Quadratic is fine here; you can do better with differences.)
# </details>
# <details><summary>Help: my number is too large</summary>
# Do you count the transposes? They live in a storage that is counted already.
# </details>


# %% solution=t14
def peak_breakdown(graph: fx.Graph) -> Peak:
    """The most bytes held in any step, at which node, and of which kinds."""
    ### BEGIN SOLUTION
    memory = storages(graph)
    steps = [node for node in graph.nodes if node.op == "call_function"]
    end = len(steps) - 1
    first, last = {}, {}
    for node in graph.nodes:
        if node.op == "placeholder":
            for storage in memory[node]:
                first[storage], last[storage] = 0, end
    for step, node in enumerate(steps):
        for storage in memory[node]:
            first.setdefault(storage, step)
            last[storage] = max(last.get(storage, 0), step)
        for read in node.all_input_nodes:
            for storage in memory[read]:
                last[storage] = max(last[storage], step)
    for node in outputs(graph).values():
        for storage in memory[node]:
            last[storage] = end

    def held(step: int) -> dict[Kind, int]:
        by_kind: dict[Kind, int] = {}
        for storage in first:
            if first[storage] <= step <= last[storage]:
                by_kind[storage.kind] = by_kind.get(storage.kind, 0) + storage.nbytes
        return by_kind

    peak = max(range(len(steps)), key=lambda step: sum(held(step).values()))
    return Peak(sum(held(peak).values()), steps[peak], held(peak))
    ### END SOLUTION


# %% [markdown]
# The check draws the bytes held at each step, and their peak. Say first what you expect.

# %% shows
predict(
    "Each weight gets a gradient as large as itself. What part of the peak are these gradients?",
    {
        "less than a hundredth": "Backward has only begun: nearly all of them are still to come.",
        "as many bytes as the weights": "So it is in the end. How many are there at the peak?",
        "about a third": "Perhaps at the end of backward, when the activations are gone. And before?",
    },
    right="less than a hundredth",
)

# %% test=t14_check points=1 check=1.4
check("1.4", peak_breakdown)

# %% shows
scratch, _ = copy_graph(graph)
peak = peak_breakdown(scratch)
print(f"{peak.nbytes / 1e6:.2f} MB are held while {peak.node.name} runs:")
for what, nbytes in sorted(peak.by_kind.items(), key=lambda item: -item[1]):
    print(f"  {what:12} {nbytes / 1e6:6.2f} MB   {nbytes / peak.nbytes:4.0%}")

# %% [markdown]
# And the whole line, as a film: move the slider to see what runs and what is alive. Four fifths
# of the peak are activations.

# %% shows
film(graph)
# %% [markdown]
# ## Task 1.5: hand in the graph (¼ point, about 3 lines)
#
# A .dot file is a picture *and* a program: Graphviz can draw it, and `read_dot` gives the
# graph back, ready to run. Write the graph to `llm_mlp.dot` with `write_dot(graph, file)`,
# read it back with `read_dot(file)`, and run both on the same `values` with
# `run(graph, values)`: `result.outputs["loss"]` should be the same, bit for bit.

# %% solution=t15
values = example_values(graph)
### BEGIN SOLUTION
write_dot(graph, "llm_mlp.dot")
again = read_dot("llm_mlp.dot")
print(run(graph, values).outputs["loss"], run(again, values).outputs["loss"])
### END SOLUTION

# %% test=t15_check points=0.25 check=1.5
check("1.5", "llm_mlp.dot")

# %%
save_work(classify, activation_lifetimes, GraphProfiler, peak_breakdown)

# %% [markdown]
# ## What you built
#
# A profiler that knows what PyTorch's own tools know, from first principles: which
# activations a training step keeps for backward (`torch.autograd.graph.saved_tensors_hooks`
# shows each tensor that is saved, weights and inputs among them), how long they lie idle, and
# what the peak is made of (compare `torch.cuda.memory._snapshot` on a GPU). Megatron-LM's
# authors made exactly this account for transformers before they chose which activations to
# recompute. In notebook 2 you run a piece of forward again, so that its results need not be
# kept.
