# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4A, notebook 4: not yet! (A-3)
#
# **1 point, about 30 minutes.** It starts from a graph that we ship.
#
# So far the nodes ran in the order in which they stand in the graph. A dataflow runtime knows
# no such order: it runs an operator *as soon as its inputs are there*. In this notebook you
#
# - see what becomes of a perfectly correct rewrite then;
# - add **control dependencies**, "not before these have run", so that each clone waits for
#   its moment;
# - write `llm_mlp_ar.dot`, the rewritten graph that you hand in.
#
# ![Memory line before and after rewiring, in program order: the mountain of activations is
# gone](images/rewired.svg)
#
# Where we are: what notebook 3 reached, in program order.

# %%
import pandas as pd
import torch
from torch import fx

from lab_utils import (
    add_control_dependency,
    as_soon_as_possible,
    check_acyclic,
    film,
    kind,
    live_bytes,
    phase,
    plot_memory,
    program_order,
    read_dot,
    write_dot,
)
from lab_utils.kit.carry import load_work, save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.lab4a import assemble, check, in_backward, open_graph, public_cases
from lab_utils.steps.graph import Kind, Phase

given = public_cases("4.1")[0].given
graph = open_graph("llm_mlp.rewired")
nodes = {node.name: node for node in graph.nodes}
clones = {nodes[original]: nodes[clone] for original, clone in given["clones"].items()}

# %% [markdown]
# ## Another order
#
# The same graph, twice: in program order, and as soon as possible. Say first what you expect.

# %% shows
predict(
    "Every node runs as soon as its inputs are there. What becomes of the low peak?",
    {
        "it stays as low": "It would, if clones were made only when backward comes to them.",
        "it falls further": "Nothing is freed earlier; clones are made earlier.",
        "it is back where it was without recomputation": "The clones are made in forward already.",
    },
    right="it is back where it was without recomputation",
)

# %% shows
plot_memory(
    {
        "rewired": live_bytes(graph, program_order(graph)),
        "the same graph": live_bytes(graph, as_soon_as_possible(graph)),
    }
)
# %% [markdown]
# Everything that we saved is back, and a little more. Why? The scheduler counts in steps; all
# operators of one step run at the same time. When does each clone run, and when is it first needed?

# %% shows
step = as_soon_as_possible(graph).step_of()
print(f"the loss is known at step {step[nodes['loss']]}")
for clone in sorted(clones.values())[-4:]:  # of the first block: backward comes to it last
    needed = [step[reader] for reader in clone.users if in_backward(reader)]
    print(f"{clone.name:24} runs at step {step[clone]:2}, backward needs it at step {min(needed)}")

# %% [markdown]
# The clones of the first block need only the input and the weights: they are ready in the first
# microsecond, and the scheduler runs them at once.
#
# ## Task 4.1: make the clones wait (¾ point, about 8 lines)
#
# ![Bytes held when every node runs as soon as it can: without control dependencies nothing
# is saved, with them the peak is low](images/control.svg)
#
# `add_control_dependency(clone, other)` means: `clone` does not run before `other` has. Make
# every clone wait for the moment when backward reaches it.
#
# - The clones stand in the graph right before the backward node for which they were made
#   (see `clone.next`).
# - That node reads a clone **and a gradient**. When the gradient is there, the moment has
#   come.
# - Only clones wait: all other nodes stay as free to run as they were.
# - Never wait for something that needs the clone itself: that would be a cycle.
#   `check_acyclic(graph)` raises an error that names it.
#
# <details><summary>Help: which node is the clone made for?</summary>
# Start at <code>clone.next</code> and go on while the node is a clone itself
# (<code>phase(node) is Phase.RECOMPUTE</code>). The first other node is the reader.
# </details>
# <details><summary>Help: which of its inputs is the gradient?</summary>
# The one that runs in backward: <code>phase(read) is Phase.BACKWARD</code>.
# </details>
# <details><summary>Help: I wait for the loss, and the peak is still high</summary>
# Then the clones of all blocks start together, right after the loss. Each block must wait
# for a gradient of its <em>own</em> block.
# </details>


# %% solution=t41
def add_control_dependencies(graph: fx.Graph, clones: dict[fx.Node, fx.Node]) -> None:
    """Make each clone wait until backward reaches the node that it is made for."""
    ### BEGIN SOLUTION
    for clone in clones.values():
        reader = clone.next
        while phase(reader) is Phase.RECOMPUTE:
            reader = reader.next
        gradients = [read for read in reader.all_input_nodes if phase(read) is Phase.BACKWARD]
        if not gradients:  # a reader without a gradient: wait for the backward node before it
            before = clone.prev
            while phase(before) is not Phase.BACKWARD:
                before = before.prev
            gradients = [before]
        add_control_dependency(clone, gradients[-1])
    ### END SOLUTION


# %% test=t41_check points=0.75 check=4.1
check("4.1", add_control_dependencies)

# %% [markdown]
# ## Task 4.2: hand in the rewritten graph (¼ point, about 2 lines)
#
# `assemble(inject, rewire, wait)` takes the graph of notebook 1 through your own three
# functions and returns the result. A step of notebooks 2 and 3 that you have not finished is
# done for you, and `assemble` says so; without 4.1 the file has no control dependencies, saves
# nothing, and the check tells you so (what 4.1 has cost already, 4.2 does not cost again). Call
# it with your functions, and write what it returns to `llm_mlp_ar.dot`.

# %%
save_work(add_control_dependencies)
inject = load_work("inject_recomputation", instead="the shipped graph")
rewire = load_work("rewire_backward", instead="the shipped graph")

# %% solution=t42
### BEGIN SOLUTION
final = assemble(inject, rewire, add_control_dependencies)
write_dot(final, "llm_mlp_ar.dot")
### END SOLUTION

# %% test=t42_check points=0.25 check=4.2
check("4.2", "llm_mlp_ar.dot")

# %% [markdown]
# Look at the result: the graph that you were given beside the one that you hand in. How many
# workers does a runtime need to run your graph without waiting?

# %% shows
base, final = open_graph("llm_mlp"), read_dot("llm_mlp_ar.dot")
film({"without recomputation": base, "llm_mlp_ar.dot": final}, "as soon as possible")

# %% [markdown]
# ## What you built
#
# The whole story of the lab in six numbers, from your own graphs:

# %% shows
unguarded = open_graph("llm_mlp.rewired")
pd.DataFrame(
    [
        {
            "llm_mlp, peak in MB": name,
            "program order": live_bytes(g, program_order(g)).peak / 1e6,
            "as soon as possible": live_bytes(g, as_soon_as_possible(g)).peak / 1e6,
        }
        for name, g in (
            ("without recomputation", base),
            ("recomputation, no control dependencies", unguarded),
            ("llm_mlp_ar.dot, your hand-in", final),
        )
    ]
).round(2)

# %% [markdown]
# Real systems have the same problem. PyTorch's compiler reorders its backward graph so that
# recomputed nodes run just before they are needed (`reordering_to_mimic_autograd_engine`); its
# general control edge is `control_deps`. XLA has *optimization barriers*, and Megatron-LM
# launches recomputation from autograd hooks so that it cannot start early. *What* to recompute,
# on BERT and ResNet, is the question of notebooks 5 and 6.
