# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Project, notebook 6: BERT and ResNet-152
#
# **15 points, about 2 hours, part of it waiting.** You need `describe`, `simulate` and `choose`
# of notebook 5 (saved by `save_work`).
#
# Does it work on models that people train? Here you measure it, and explain what you see.
# Afterwards you can
#
# - profile and analyse the training step of a real model without running it;
# - rewrite it so that dropout and batch norm stay what they are;
# - show what recomputation saves in memory and costs in time, and say why.
#
# Large batches are traced on *fake* tensors and simulated: no byte of them is allocated. Times
# are measured on small models that this machine can run. All results go into CSV files beside
# the notebook; a cell that is run again goes on where it stopped. All cells together run for 5
# to 10 minutes on two cores, most of it in task 6.4, and need 1 GB of memory.
#
# Try the notebook with tiny models first; it then takes seconds. Put `%env PROJECT_SIZE=small`
# into a cell before the imports, or `PROJECT_SIZE=small` into the environment from which you
# start Jupyter. What you hand in has the full size: take the line out, restart the kernel, and
# delete `memory.csv` and `latency.csv`.
#
# ![Peak memory against recomputed work](images/tradeoff.svg)

# %%
from operator import getitem

import pandas as pd
import torch
from torch import fx

from lab_utils import copy_graph, live_bytes, plot_memory, program_order
from lab_utils.kit.carry import load_work, save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.project import check, in_backward, is_early, kept_values, run_again
from lab_utils.labs.project.experiments import (
    collect,
    plot_rows,
    static_bytes,
    time_step,
    trace_model,
)
from lab_utils.labs.project.tables import settings
from lab_utils.steps.estimate import estimated_seconds

describe, simulate, choose = (
    load_work(name, instead="nothing: finish notebook 5 first")
    for name in ("describe", "simulate", "choose")
)
size = settings()
print("models:", *size["models"], "  mini-batches:", *size["batches"])

# %% [markdown]
# ## Part 1: statistics and static analysis (about 30 minutes)
#
# The graph of a real model has thousands of nodes. We cannot time its operators here at every
# batch size, so their seconds are *estimated* from shapes (`estimated_seconds`: floating-point
# operations and bytes moved).

# %%
graphs = {name: trace_model(name, size["batches"][0]) for name in size["models"]}
statistics = pd.DataFrame(
    [
        {
            "model": name,
            "phase": str(node.meta["phase"]),
            "operators": 1,
            "ms (estimated)": 1e3 * cost,
        }
        for name, graph in graphs.items()
        for node, cost in estimated_seconds(graph).items()
        if cost
    ]
)
statistics.groupby(["model", "phase"]).sum().round(2)

# %% [markdown]
# ### Task 6.1: the static analysis (3 points, about 12 lines)
#
# One row for each candidate, in a DataFrame with the columns `activation` (its name), `bytes`
# (what dropping it frees), `idle_seconds` (the time of all operators that run after its last
# use in forward and before its first use in backward: how long it lies idle),
# `recompute_seconds` (the time of its path) and `ratio`. `describe(graph, seconds)` knows most
# of it.
#
# <details><summary>Help: how do I sum over an interval, fast?</summary>
# Keep <code>before[node]</code>: the time of all operators before <code>node</code>. The
# difference of two of them is the time in between.
# </details>


# %% solution=t61
def analyse(graph: fx.Graph, seconds: dict[fx.Node, float]) -> pd.DataFrame:
    """Size, idle time and cost of every candidate."""
    ### BEGIN SOLUTION
    before, total = {}, 0.0
    for node in graph.nodes:
        before[node] = total
        total += seconds[node]
    return pd.DataFrame(
        {
            "activation": c.node.name,
            "bytes": c.nbytes,
            "idle_seconds": before[c.first_backward]
            - before[c.last_forward]
            - seconds[c.last_forward],
            "recompute_seconds": c.seconds,
            "ratio": c.ratio,
        }
        for c in describe(graph, seconds)
    )
    ### END SOLUTION


# %% test=t61_check points=3 check=6.1
check("6.1", analyse)

# %%
for name, graph in graphs.items():
    table = analyse(graph, estimated_seconds(graph))
    table.to_csv(f"analysis {name}.csv", index=False)
    print(f"{name}: {len(table)} candidates, {table['bytes'].sum() / 1e6:,.0f} MB")
table.sort_values("ratio", ascending=False).head(5)

# %% [markdown]
# ### Task 6.2: peak memory without recomputation (2.25 points, about 3 lines)
#
# *Static* memory is what the step is given and holds from its first operator to its last:
# weights, inputs, optimizer state. Recomputation cannot make it smaller. `static_bytes(graph)`
# adds it up.
#
# `collect(file, keys, measure)` calls `measure(**key)` for each key and adds what it returns to
# the key's row. Write this `measure`: return a dict with `static_bytes` and `peak_bytes`
# (simulated, nothing dropped) of the traced model.


# %% solution=t62
def without(model: str, method: str, batch: int) -> dict:
    """One row of memory.csv: nothing is recomputed."""
    graph = trace_model(model, batch)
    ### BEGIN SOLUTION
    return {"static_bytes": static_bytes(graph), "peak_bytes": simulate(graph, []).nbytes}
    ### END SOLUTION


# %%
predict(
    "The mini-batch doubles. What becomes of the peak?",
    {
        "it doubles": "Activations do. Weights, gradients and optimizer state do not.",
        "it grows, but does not double": "Static memory stays as it is: a line, not through 0.",
        "it stays": "Activations are most of it, and each sample brings its own.",
    },
    right="it grows, but does not double",
)

# %%
keys = [{"model": m, "method": "none", "batch": b} for m in size["models"] for b in size["batches"]]
rows = collect("memory.csv", keys, without)
plot_rows(rows, "peak_bytes", "peak (GB)", "memory_without.png")

# %% test=t62_check points=2.25 check=6.2
check("6.2", "memory.csv")

# %% [markdown] readonly=part2
# ## Part 2: recompute
#
# Your rewriter of notebooks 2 and 3 makes plain copies. Some operators of real models must not
# be copied so plainly: a copy of batch norm would update the running statistics twice, and a
# copy of dropout would draw another mask. `run_again(graph, node, read)` is `graph.node_copy`
# with this in mind: batch norm is copied without its statistics, and what cannot run twice is
# refused. Dropout masks are therefore kept (they are in no plan of `choose`); an engine that
# packs each value of a mask into one byte, or draws the mask again from the generator's state,
# saves more.

# %% [markdown]
# ### Task 6.3: a rewriter for real models (3 points, about 20 lines)
#
# Rewrite `graph` in place. For each backward node that reads lost values (forward nodes that
# are not in `kept_values(graph, drop)`): with `run_again`, clone these values and all lost
# nodes that they need, as far as they have no clone yet, right before that node and **in the
# order of the originals**; then make the node read the clones. The lost `getitem` nodes of an
# operator with several outputs are cloned together with it. This is what `simulate` of notebook
# 5 assumes.


# %% solution=t63
def recompute(graph: fx.Graph, drop: list[fx.Node]) -> None:
    """Make backward rebuild what is dropped."""
    ### BEGIN SOLUTION
    there = kept_values(graph, drop)
    lost = {n for n in graph.nodes if n.op == "call_function" and is_early(n)} - there
    clones: dict[fx.Node, fx.Node] = {}
    for reader in [n for n in graph.nodes if n.op == "call_function" and in_backward(n)]:
        missing, queue = set(), [read for read in reader.all_input_nodes if read in lost]
        while queue:
            value = queue.pop()
            if value not in clones and value not in missing:
                missing.add(value)
                taken = [user for user in value.users if user.target is getitem]
                queue += [n for n in (*value.all_input_nodes, *taken) if n in lost]
        for value in sorted(missing):
            with graph.inserting_before(reader):
                clones[value] = run_again(graph, value, lambda read: clones.get(read, read))
        for value in [read for read in reader.all_input_nodes if read in clones]:
            reader.replace_input_with(value, clones[value])
    ### END SOLUTION


# %% test=t63_check points=3 check=6.3
check("6.3", recompute)

# %% [markdown]
# ### Task 6.4: peak memory with recomputation (2.25 points, about 8 lines)
#
# For each model and batch, make a plan with the budget `static + 0.7 × (peak − static)`. Return
# a dict with `static_bytes`, `peak_bytes` (of the plan, **simulated**), `dropped` (how many),
# `dropped_bytes` (the sum of their sizes, to compare) and `plan` (their names, separated by
# spaces: when your work is graded, the plans of the smallest batch are simulated again). Use
# `estimated_seconds`. This takes minutes for the full models.


# %% solution=t64
def planned(model: str, method: str, batch: int) -> dict:
    """One row of memory.csv: recomputed within the budget, as far as possible."""
    graph = trace_model(model, batch)
    ### BEGIN SOLUTION
    seconds, static = estimated_seconds(graph), static_bytes(graph)
    peak = simulate(graph, []).nbytes
    plan = choose(graph, seconds, round(static + 0.7 * (peak - static)))
    sizes = {c.node: c.nbytes for c in describe(graph, seconds)}
    return {
        "static_bytes": static,
        "peak_bytes": plan.nbytes,
        "dropped": len(plan.drop),
        "dropped_bytes": sum(sizes[node] for node in plan.drop),
        "plan": " ".join(node.name for node in plan.drop),
    }
    ### END SOLUTION


# %%
keys = [{**key, "method": "recomputed"} for key in keys]
rows = collect("memory.csv", keys, planned)
plot_rows(rows, "peak_bytes", "peak (GB)", "memory.png")

# %% test=t64_check points=2.25 check=6.4
check("6.4", "memory.csv")

# %% [markdown]
# ### Task 6.5: the price (1.5 points, about 6 lines)
#
# Time real steps of small models, with and without recomputation. For the method
# `"recomputed"`, choose a plan with the budget of task 6.4 and `recompute` what it drops. Return
# what `time_step(graph, repeats)` returns (median, smallest and largest time after a warm-up; on
# a GPU also the peak of CUDA's allocator), and `peak_bytes` as simulated. `size["repeats"]` says
# how often to repeat.


# %% solution=t65
def timed(model: str, method: str, batch: int) -> dict:
    """One row of latency.csv."""
    graph = trace_model(model, batch)
    ### BEGIN SOLUTION
    peak = simulate(graph, []).nbytes
    if method == "recomputed":
        static = static_bytes(graph)
        plan = choose(graph, estimated_seconds(graph), round(static + 0.7 * (peak - static)))
        recompute(graph, plan.drop)
        peak = plan.nbytes
    return {"peak_bytes": peak, **time_step(graph, size["repeats"])}
    ### END SOLUTION


# %%
keys = [
    {"model": m, "method": method, "batch": b}
    for m in size["timed"]
    for b in size["timed_batches"]
    for method in ("none", "recomputed")
]
rows = collect("latency.csv", keys, timed)
plot_rows(rows, "median", "one step (ms)", "latency.png")

# %% test=t65_check points=1.5 check=6.5
check("6.5", "latency.csv")

# %% [markdown] task=q66 points=1.5
# ### Question 6.6: memory (1.5 points, about 150 words, in a new cell below)
#
# Look at `memory.png`. How does the saving change with the mini-batch, and why? Which of the
# two models gains more, and what in its operators explains it? Compare the saving with
# `dropped_bytes`: where does the difference come from?
#
# ### BEGIN MARK SCHEME
# ¼: activations grow with the batch, static memory and gradients do not, so small batches gain
# little; the floor is set by gradients and optimizer. ¼: names at least one cause for the
# difference between the models (masks kept, batch norm and in-place additions, cheap against
# expensive operators) and that recompute buffers make the saving smaller than the sum.
# ### END MARK SCHEME

# %% [markdown] task=q67 points=1.5
# ### Question 6.7: time (1.5 points, about 150 words, in a new cell below)
#
# Look at `latency.png`. What does recomputation cost, in percent? Does the estimate with which
# the plan was made agree with what you measured? When is recomputation worth it, and when
# would you rather take a smaller batch?
#
# ### BEGIN MARK SCHEME
# ¼: a figure from their own data with its spread (min, max), and a reason for the distance to the
# estimate (overhead of small operators, caches). ¼: throughput argument: a larger batch pays only
# where time per sample falls by more than recomputation adds, or where nothing else fits.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# The whole way: profile, choose, rewrite, measure, explain, on models that people train.
