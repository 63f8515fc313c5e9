# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4A, notebook 3: backward reads the clones
#
# **2 points, about 15 minutes.** It starts from a graph that we ship, so you need not have
# finished notebook 2.
#
# The clones are in the graph, but nobody reads them: backward still holds on to the
# originals, and we pay for both. Now you rewire it. Afterwards
#
# - every backward reader takes the clone, and no forward reader does;
# - the originals die in forward, and the peak falls;
# - the gradients are the same, bit for bit.
#
# ![Memory line before and after rewiring: the mountain of activations is gone](images/rewired.svg)
#
# At the end you can run through both as a film, step by step:
#
# ![The film: before and after side by side, the operators that run now, and what is
# alive](images/film.png)

# %%
import torch
from torch import fx

from lab_utils import (
    budget_slider,
    example_values,
    film,
    live_bytes,
    phase,
    program_order,
    run,
    simulator,
)
from lab_utils.kit.carry import load_work, save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.lab4a import check, in_backward, open_graph, public_cases
from lab_utils.steps.graph import Phase

given = public_cases("3.1")[0].given  # the shipped graph, and which clone belongs to which node
graph = open_graph("llm_mlp.injected")
nodes = {node.name: node for node in graph.nodes}
clones = {nodes[original]: nodes[clone] for original, clone in given["clones"].items()}
for original, clone in list(clones.items())[:4]:
    print(f"{original.name:18} is rebuilt by {clone.name}")

# %% [markdown]
# ## Who reads an original?
#
# Look at one dropped activation. Its forward readers come first; the backward reader is the
# one that keeps it in memory across the whole step.

# %%
original = nodes["l1_gate_proj_act"]
for reader in original.users:
    where = "backward" if in_backward(reader) else phase(reader)
    print(f"{original.name} is read by {reader.name:22} ({where})")
print("its clone is read by", [r.name for r in clones[original].users])

# %% [markdown]
# ## Task 3.1: rewire backward (2 points, about 6 lines)
#
# `clones` maps originals to clones. Change the graph so that **every backward reader** of an
# original reads its clone instead. Forward readers and the clones themselves stay as they
# are. The call that you need is
#
# > `reader.replace_input_with(old, new)`
#
# <details><summary>Help: who is a backward reader?</summary>
# <code>in_backward(reader)</code>. It is false for forward nodes and for clones.
# </details>
# <details><summary>Help: "dictionary changed size during iteration"</summary>
# Rewiring changes <code>original.users</code>. Walk over <code>list(original.users)</code>.
# </details>
# <details><summary>Help: the peak does not fall</summary>
# One forgotten reader keeps an original alive. Does your loop stop after the first reader?
# </details>


# %% solution=t31
def rewire_backward(graph: fx.Graph, clones: dict[fx.Node, fx.Node]) -> None:
    """Make every backward reader of an original read its clone."""
    ### BEGIN SOLUTION
    for original, clone in clones.items():
        for reader in list(original.users):
            if in_backward(reader):
                reader.replace_input_with(original, clone)
    ### END SOLUTION


# %% test=t31_check points=2 check=3.1
check("3.1", rewire_backward)

# %%
save_work(rewire_backward)

# %% [markdown]
# ## The same gradients?
#
# PyTorch's own gradients are the judge: run both graphs on the same numbers and compare
# every gradient, bit for bit.

# %% shows
base, graph = open_graph("llm_mlp"), open_graph("llm_mlp.injected")  # fresh ones
nodes = {node.name: node for node in graph.nodes}
clones = {nodes[original]: nodes[clone] for original, clone in given["clones"].items()}
values = example_values(base)
before = run(base, values)
rewire_backward(graph, clones)
after = run(graph, values)
same = all(torch.equal(before.outputs[label], after.outputs[label]) for label in before.outputs)
print(f"{len(before.outputs)} results, bit for bit the same: {same}")
lines = {name: live_bytes(g, program_order(g)) for name, g in (("without", base), ("with", graph))}
saved = 1 - lines["with"].peak / lines["without"].peak
print(
    f"peak {lines['without'].peak / 1e6:.2f} MB -> {lines['with'].peak / 1e6:.2f} MB ({saved:.0%} less)"
)

# %% [markdown]
# Before you watch both:

# %% shows
predict(
    "When are the clones of the first block in memory?",
    {
        "all through backward": "They would be, if they were made at the turn to backward.",
        "at the beginning of backward": "Backward begins with the last block.",
        "near the end of backward": "Backward comes to the first block last.",
    },
    right="near the end of backward",
)

# %% [markdown]
# Watch both: in the middle of the film on the right the orange clones appear, one block at a
# time, and go again. (Tick *align by phase* to see the same part of both steps.)

# %% shows
film({"without recomputation": base, "with it": graph})

# %% [markdown]
# If you finished notebook 2: does your own injection work together with your rewiring?

# %% shows
inject = load_work("inject_recomputation", instead="the shipped graph")
if inject is not None:
    mine = open_graph("llm_mlp")
    named = {node.name: node for node in mine.nodes}
    rewire_backward(
        mine, inject(mine, [named[name] for name in public_cases("2.2")[0].given["drop"]])
    )
    print(f"with your own clones: {live_bytes(mine, program_order(mine)).peak / 1e6:.2f} MB")

# %% [markdown]
# Memory for time: with both of your functions you can now try any choice. Move the budget, or
# pick activations to drop, and see the peak and the work that is done again. The red mark on
# the curve is `mine`, a choice of your own: is there a better one for the same work?

# %% shows
slider = None
if inject is not None:

    def rewrite(graph, drop):
        rewire_backward(graph, inject(graph, drop))

    drop = public_cases("2.2")[0].given["drop"]
    mine = drop[::2]  # any names of this list, or others: change it and run the cell again
    slider = budget_slider(simulator(open_graph("llm_mlp"), rewrite), drop, yours=mine)
slider

# %% [markdown]
# ## What you built
#
# The second half of checkpointing: `torch.utils.checkpoint` (with `use_reentrant=False`)
# swaps the saved tensors through `saved_tensors_hooks` at run time; you swapped what the
# readers read, in the graph. PyTorch's compiler does the same when its partitioner moves
# recomputed nodes into the backward graph, and the eager API for *selective* checkpointing
# (`create_selective_checkpoint_contexts`) decides operator by operator, as your `clones` dict
# does. In program order we are done. A dataflow runtime, though, does not keep to program
# order: that is notebook 4.
