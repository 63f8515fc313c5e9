# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4A, notebook 2: run it again
#
# **3 points, about 45 minutes.** Notebook 1 is not needed to start.
#
# We trade time for memory: *drop* an activation after forward has used it, and run the
# operators that made it **again** when backward asks for it. In this notebook you insert
# these second copies, the **clones**, into the graph. Afterwards you can
#
# - find out which operators must run again to rebuild a value from what is still there;
# - insert nodes into a `torch.fx` graph at the right place, with the right inputs.
#
# ![Lanes from left to right: what is given, forward, the clones, backward, the update. Backward
# reads clones that stand at its height](images/clones.svg)

# %%
import torch
from torch import fx

from lab_utils import kind, mark_recomputed, phase
from lab_utils.kit.carry import save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.lab4a import check, in_backward, kept_values, open_graph, public_cases

graph = open_graph("llm_mlp")
nodes = {node.name: node for node in graph.nodes}
print(len(nodes), "nodes")

# %% [markdown]
# ## What is lost, and what is kept?
#
# Say we drop the four big activations inside every block and keep what passes from block
# to block. When backward runs, these values are still in memory:
#
# - everything that is **given** to the step (inputs, weights), and views of it;
# - every forward value that backward reads anyway and that we did not drop.
#
# Everything else from forward is gone. `kept_values(graph, drop)` returns the set of nodes
# that are still there. Note what is *not* in it: `l1_down_proj` was not dropped, but backward
# never reads it, so nothing keeps it.

# %%
drop = [nodes[name] for name in public_cases("2.2")[0].given["drop"]]
kept = kept_values(graph, drop)
print("dropped:", [node.name for node in drop][:5], "…")
for name in ("x", "l1_up_proj_w_t", "l0_add", "l1_up_proj", "l1_down_proj"):
    print(f"  {name:15} {'kept' if nodes[name] in kept else 'lost'}")

# %% [markdown]
# ## Task 2.1: what must run again? (1 point, about 10 lines)
#
# To rebuild `target` we run again every node between it and the values that are kept.
# Return those nodes **in execution order** (inputs before their readers), `target` last.
# `kept` is a set of nodes; placeholders are there in any case.
#
# <details><summary>Help: where does the walk stop?</summary>
# At a node in <code>kept</code> and at a placeholder: these are still there, so nothing
# before them is needed.
# </details>
# <details><summary>Help: how do I get the order right?</summary>
# Visit the inputs of a node before you append the node itself (depth first, "post-order").
# </details>
# <details><summary>Help: a node comes out twice</summary>
# Two readers may need the same value. Remember which nodes you have visited.
# </details>


# %% solution=t21
def recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
    """Nodes to run again to rebuild ``target`` when only ``kept`` is in memory."""
    ### BEGIN SOLUTION
    order: list[fx.Node] = []
    seen: set[fx.Node] = set()

    def visit(node: fx.Node) -> None:
        if node in seen or node in kept or node.op == "placeholder":
            return
        seen.add(node)
        for read in node.all_input_nodes:
            visit(read)
        order.append(node)

    visit(target)
    return order
    ### END SOLUTION


# %% test=t21_check points=1 check=2.1
check("2.1", recompute_set)

# %% shows
print([node.name for node in recompute_set(nodes["l2_gate_up_proj"], kept)])

# %% [markdown]
# ## Adding nodes to a graph
#
# Three calls of `torch.fx` do all the work:
#
# | you write | it does |
# |---|---|
# | `with graph.inserting_before(node): …` | new nodes go right before `node` |
# | `graph.node_copy(node, f)` | a new node with the same operator; each input `i` becomes `f(i)` |
# | `mark_recomputed(clone)` | ours: colours the clone orange and notes its phase |
#
# Try it on a scratch copy. The clone gets the name of the original with a number (in the
# graphs that we ship, clones end in `_recomp`; names make no difference).

# %% shows
scratch = open_graph("llm_mlp")
named = {node.name: node for node in scratch.nodes}
with scratch.inserting_before(named["d_l3_up_proj"]):
    clone = mark_recomputed(scratch.node_copy(named["l3_gate_proj_act"], lambda read: read))
print(clone.name, "is", clone.target, "of", clone.args, "and runs before", clone.next.name)

# %% [markdown]
# ## Task 2.2: clones in the backward pass (2 points, about 15 lines)
#
# `drop` is a list of activations. For **every lost value that a backward node reads**, put a
# clone into the graph. A value is lost if it is a forward value that is not in
# `kept_values(graph, drop)`.
#
# 1. Go through the backward nodes in order (`in_backward(node)` and
#    `node.op == "call_function"`).
# 2. For each lost value that the node reads, find the nodes that must run again. Clone those
#    that have no clone yet, **right before this node**. This is the latest moment that is early
#    enough: a clone that runs earlier takes up memory for nothing.
# 3. A clone reads the *clone* of an input if that input is lost, and the input itself if it
#    is kept. Copy nodes whole, with their keyword arguments. **Share clones**: what was cloned
#    for one reader serves later ones too. Sharing buys time, not memory: with a chain of clones
#    for each reader the peak of `llm_mlp` would even be lower (3.74 MB in place of 4.26: each
#    clone dies at once), but 32 operators would run again in place of 16. So the check counts
#    the work: clones of kept values, clones that nobody reads and second clones of one value
#    are named.
# 4. Mark each clone with `mark_recomputed`, and return the dict original → clone.
#
# Leave the readers alone: backward will read the clones in notebook 3.
#
# <details><summary>Help: which nodes are lost?</summary>
# A node is lost if it is no placeholder, does not belong to backward, is no clone and is not
# in <code>kept</code>. Compute <code>kept</code> once, before you insert anything.
# </details>
# <details><summary>Help: the loop changes the graph that it walks over</summary>
# Make a list of the backward nodes first.
# </details>
# <details><summary>Help: what do I give to node_copy?</summary>
# <code>graph.node_copy(node, lambda read: clones.get(read, read))</code>: the clone if there
# is one, else the value itself. Is the order of <code>recompute_set</code> such that the
# clone is always there in time?
# </details>


# %% solution=t22
def inject_recomputation(graph: fx.Graph, drop: list[fx.Node]) -> dict[fx.Node, fx.Node]:
    """Clone into backward what rebuilds the dropped activations; original -> clone."""
    ### BEGIN SOLUTION
    kept = kept_values(graph, drop)
    readers = [n for n in graph.nodes if n.op == "call_function" and in_backward(n)]
    lost = {n for n in graph.nodes if n.op == "call_function" and not in_backward(n)} - kept
    clones: dict[fx.Node, fx.Node] = {}
    for reader in readers:
        for value in reader.all_input_nodes:
            if value not in lost:
                continue
            for node in recompute_set(value, kept):
                if node not in clones:
                    with graph.inserting_before(reader):
                        clone = graph.node_copy(node, lambda read: clones.get(read, read))
                    clones[node] = mark_recomputed(clone)
    return clones
    ### END SOLUTION


# %% [markdown]
# The check does the rewiring of notebook 3 for you and shows the memory line before and
# after. The dotted line is what a good solution reaches, the dashed one is the budget. What do you
# expect to see?

# %% shows
predict(
    "Sixteen activations are dropped and rebuilt. What becomes of the peak of 10.42 MB?",
    {
        "it falls by a tenth": "Four fifths of the peak are activations, and most are dropped.",
        "it falls by more than half": "To 4.26 MB: one block's clones are alive at a time.",
        "it falls to nothing but weights": "Clones take memory too, and so does what is kept.",
    },
    right="it falls by more than half",
)

# %% test=t22_check points=2 check=2.2
check("2.2", inject_recomputation)

# %%
save_work(recompute_set, inject_recomputation)

# %% [markdown]
# ## What you built
#
# The heart of activation checkpointing. `torch.utils.checkpoint` does the same at run time:
# it forgets the activations of a region and runs its forward again when backward arrives.
# You did it in the graph, which shows exactly what runs twice; that is how PyTorch's
# compiler works too (its *min-cut partitioner* decides which values to keep and clones the
# rest into the backward graph). Megatron-LM's *selective recomputation* is a shorter `drop`
# list: only activations that are big and cheap to make again.
