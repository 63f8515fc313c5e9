# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Project, notebook 5: what is worth recomputing?
#
# **20 points, about 2 hours.** You know the graph of a training step (notebook 1). Your own
# profiler is welcome, but not needed.
#
# Recomputation *drops* an activation after forward and runs the operators that made it again
# when backward asks for it. In notebooks 2 to 4 the list of what to drop is given; here *you*
# choose it: from a profile of the training step to a plan that keeps the peak within a budget,
# following μ-TWO (Purandare and others, MLSys 2023). Afterwards you can
#
# - say which activations may be dropped, and from what each would be rebuilt;
# - weigh bytes against seconds, and keep the account right while choices depend on one another;
# - simulate the peak of a plan **exactly**, without rewriting anything;
# - place your plan between `torch.utils.checkpoint` and the optimum.
#
# ![Peak memory against recomputed work: the greedy plan runs close to the optimum, library
# checkpointing lies above it](images/tradeoff.svg)

# %%
from collections import defaultdict
from operator import getitem

import pandas as pd
import torch
from torch import fx

from lab_utils import example_values, nbytes, outputs, placeholders, storages
from lab_utils.kit.carry import load_work, save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.lab4a import open_graph as open_lab4a_graph
from lab_utils.labs.project import (
    Candidate,
    Plan,
    Rebuild,
    Simulated,
    check,
    in_backward,
    is_early,
    kept_values,
    open_graph,
    rebuildable,
)
from lab_utils.steps.estimate import estimated_seconds
from lab_utils.steps.storage import is_operation

# %% [markdown]
# ## Graphs to follow by hand
#
# The checks of this notebook run on training steps that are small enough for pencil and paper.
# `chain` has four layers; `open_graph` also knows `diamond`, `reads_twice` and `regularised`.
# In them, each operator takes a *pretended* time, a small whole number of seconds.

# %%
chain = open_graph("chain")
pd.DataFrame(
    [
        {"node": n.name, "reads": ", ".join(r.name for r in n.all_input_nodes), "bytes": nbytes(n)}
        for n in chain.nodes
        if n.op == "call_function" and is_early(n)
    ]
).set_index("node")

# %% [markdown]
# ## Task 5.1: the candidates (3 points, about 12 lines)
#
# A candidate is a node whose memory lies idle from forward to backward, and that can be made
# again. Return a dict from each candidate to the **bytes that dropping it frees**:
#
# - it owns at least one storage that a backward node reads (through a view counts);
# - it is in `rebuildable(graph)`: forward nodes that give the same value when they run again.
#   Random numbers, in-place operators, and what can be rebuilt only with their help are not in
#   it;
# - none of its memory is handed back by the step (`outputs(graph)`).
#
# Its bytes are those of the storages that it owns *and that backward reads*.
#
# <details><summary>Help: why are views no candidates?</summary>
# A view owns no storage. Dropping it frees nothing; what it looks at is the candidate.
# </details>
# <details><summary>Help: how do I find what backward reads?</summary>
# Collect <code>memory[read]</code> of everything that a <code>call_function</code> node with
# <code>in_backward(node)</code> reads: a set of storages.
# </details>
# <details><summary>Help: batch norm frees only a few bytes?</summary>
# Its result is not read in backward, only the mean and the deviation that it returns as well.
# </details>


# %% solution=t51
def candidates(graph: fx.Graph) -> dict[fx.Node, int]:
    """The nodes that may be dropped, each with the bytes that this frees."""
    ### BEGIN SOLUTION
    memory, again = storages(graph), rebuildable(graph)
    late = {
        storage
        for node in graph.nodes
        if node.op == "call_function" and in_backward(node)
        for read in node.all_input_nodes
        for storage in memory[read]
    }
    returned = {storage for node in outputs(graph).values() for storage in memory[node]}
    found = {}
    for node in graph.nodes:
        held = [s for s in memory[node] if s.owner is node and s in late]
        if held and node in again and returned.isdisjoint(memory[node]):
            found[node] = sum(storage.nbytes for storage in held)
    return found
    ### END SOLUTION


# %% test=t51_check points=3 check=5.1
check("5.1", candidates)

# %% [markdown]
# ## Task 5.2: sources and path (3 points, about 15 lines)
#
# To rebuild a value, walk back from it until you meet values that are still in memory. These
# are its **sources**; the operators in between, the value's own included, are its **path**.
#
# - `kept` is the set of forward nodes that are in memory in backward. Start at the *inputs* of
#   `node` (it may be in `kept` itself: we ask what it would take if it were not).
# - The walk stops at nodes in `kept` and at placeholders. Name a source by the node that owns
#   its memory: `storage.owner for storage in memory[read]`.
# - The path holds operators that do work (`is_operation`), **each once**, even if two branches
#   share it. Views are free.
#
# <details><summary>Help: is this the walk of task 2.1?</summary>
# Yes. Here you also note where it stops.
# </details>
# <details><summary>Help: why must a shared operator be counted once?</summary>
# Its clone is made once and read by both branches. Counted twice, cheap values look expensive.
# </details>


# %% solution=t52
def rebuild(node: fx.Node, kept: set[fx.Node], memory: dict) -> Rebuild:
    """From what ``node`` is rebuilt, and by running what; ``memory`` is storages(graph)."""
    ### BEGIN SOLUTION
    sources: set[fx.Node] = set()
    path: list[fx.Node] = []
    seen = {node}

    def visit(value: fx.Node) -> None:
        for read in value.all_input_nodes:
            if read in kept or read.op == "placeholder":
                sources.update(storage.owner for storage in memory[read])
            elif read not in seen:
                seen.add(read)
                visit(read)
        if is_operation(value):
            path.append(value)

    visit(node)
    return Rebuild(sources, path)
    ### END SOLUTION


# %% test=t52_check points=3 check=5.2
check("5.2", rebuild)

# %%
diamond = open_graph("diamond")
tanh = next(node for node in diamond.nodes if node.name == "l0_tanh")
way = rebuild(tanh, kept_values(diamond, []), storages(diamond))
print("from", sorted(n.name for n in way.sources), "by", [n.name for n in way.path])

# %% [markdown]
# ## Task 5.3: cost and ratio (3 points, about 20 lines)
#
# Make a `Candidate(node, nbytes, last_forward, first_backward, last_backward, sources, seconds,
# count, total)` for each candidate:
#
# | field | |
# |---|---|
# | `last_forward`, `first_backward`, `last_backward` | nodes that *use* it: that make or read a value in its memory. As in task 1.2, but here the node itself and views count as users |
# | `sources` | from `rebuild`, with nothing dropped: `kept_values(graph, [])` |
# | `seconds` | the time of its **path**: `seconds[operator]` for each operator |
# | `count` | how often the path runs. It starts at **1**: what is dropped is rebuilt at least once |
# | `total` | `count × seconds` |
#
# Its `ratio` is then `nbytes / total`: bytes saved for each second of work.
#
# <details><summary>Help: how do I find the users?</summary>
# One pass over the <code>call_function</code> nodes. A node uses every owner of the memory of
# its inputs, and of its own memory. Append it to the owner's list; <code>in_backward</code>
# splits the list in two.
# </details>
# <details><summary>Help: my ratios are all 0</summary>
# Does your count start at 0?
# </details>


# %% solution=t53
def describe(graph: fx.Graph, seconds: dict[fx.Node, float]) -> list[Candidate]:
    """All candidates of the graph, each with what it takes to rebuild it."""
    ### BEGIN SOLUTION
    memory, kept = storages(graph), kept_values(graph, [])
    users = defaultdict(list)
    for node in graph.nodes:
        if node.op == "call_function":
            touched = (node, *node.all_input_nodes)
            for owner in {storage.owner for value in touched for storage in memory[value]}:
                users[owner].append(node)
    found = []
    for node, size in candidates(graph).items():
        sources, path = rebuild(node, kept, memory)
        cost = sum(seconds[operator] for operator in path)
        early = [user for user in users[node] if not in_backward(user)]
        late = [user for user in users[node] if in_backward(user)]
        found.append(
            Candidate(
                node=node,
                nbytes=size,
                last_forward=early[-1],
                first_backward=late[0],
                last_backward=late[-1],
                sources=sources,
                seconds=cost,
                count=1,
                total=cost,
            )
        )
    return found
    ### END SOLUTION


# %% test=t53_check points=3 check=5.3
check("5.3", describe)

# %% [markdown]
# ### A profile of a real graph
#
# From here on `graph` is the `llm_mlp` of notebook 1. Its seconds come from the profiler that
# you wrote there, if you saved it; otherwise they are estimated from each operator's shapes.
# Which values are cheap to rebuild?

# %%
graph = open_lab4a_graph("llm_mlp")
profiler = load_work("GraphProfiler", instead="estimated seconds")
if profiler is None:
    seconds = estimated_seconds(graph)
else:
    table = profiler(graph).profile(example_values(graph)).set_index("node")["seconds"]
    seconds = {node: float(table.get(node.name, 0.0)) for node in graph.nodes}
pd.DataFrame(
    [
        {
            "candidate": c.node.name,
            "KB": c.nbytes / 1e3,
            "rebuilt from": ", ".join(sorted(s.name for s in c.sources)),
            "µs": c.seconds * 1e6,
            "MB saved for each ms": c.ratio / 1e9,
        }
        for c in sorted(describe(graph, seconds), key=lambda c: -c.ratio)[:8]
    ]
).set_index("candidate").round(2)

# %% [markdown]
# ## Task 5.4: a choice changes the others (3 points, about 12 lines)
#
# Drop `t`, and whatever was to be rebuilt *from* `t` has lost a source. `update(t, chosen,
# remaining)` keeps the account. `chosen` holds the candidates that were chosen before `t`,
# `remaining` those that are still free; `t` is in neither.
#
# **First, the chosen ones.** For each `r` with `t.node` among its sources: `t`'s sources take
# the place of `t`, `r.seconds` grows by `t.seconds`, and `t.count` by 1 (`t`'s path now runs
# for `r` as well).
#
# **Then, the remaining ones.** For each `c`:
# - If `t.node` is one of `c`'s sources: replace it by `t`'s sources in the same way, add
#   `t.seconds` to `c.seconds`, and set `c.total` to `c.seconds`, plus `c.seconds` once more for
#   each chosen `r` that has `c.node` as a source. *Except* where `c.first_backward` lies between
#   `t.first_backward` and `t.last_backward` (both included): then `t` is alive again when `c`
#   is rebuilt, and nothing changes.
# - Otherwise, if `c.node` is one of `t`'s sources: set `c.total` to `t.count × c.seconds`.
#
# Nodes can be compared: `a < b` means that `a` runs before `b`.
#
# <details><summary>Help: in which order?</summary>
# <code>t.count</code> must be final before the second loop uses it.
# </details>
# <details><summary>Help: may I change a set while others hold it?</summary>
# Make a new one: <code>c.sources = c.sources - {t.node} | t.sources</code>.
# </details>


# %% solution=t54
def update(t: Candidate, chosen: list[Candidate], remaining: list[Candidate]) -> None:
    """Keep sources, times and counts right now that ``t`` is chosen."""
    ### BEGIN SOLUTION
    for r in chosen:
        if t.node in r.sources:
            r.sources = r.sources - {t.node} | t.sources
            r.seconds += t.seconds
            t.count += 1
    for c in remaining:
        if t.node in c.sources:
            if t.first_backward <= c.first_backward <= t.last_backward:
                continue
            c.sources = c.sources - {t.node} | t.sources
            c.seconds += t.seconds
            c.total = c.seconds * (1 + sum(c.node in r.sources for r in chosen))
        elif c.node in t.sources:
            c.total = t.count * c.seconds
    ### END SOLUTION


# %% test=t54_check points=3 check=5.4
check("5.4", update)

# %% [markdown]
# ## Task 5.5: the peak of a plan, exactly (4 points, about 30 lines)
#
# How much does a plan save? **Not the sum of what it drops**: clones take memory too, and so
# does everything that is read and made on the way to them. Simulate the rewritten step without
# rewriting it.
#
# 1. *What runs?* Go through the `call_function` nodes in order. Before a backward node that
#    reads lost values (forward nodes that are not in `kept_values(graph, drop)`), clones run:
#    of these values, and of all lost nodes that they need, as far as they have not run again
#    yet, **in the order of the originals**. A clone is shared by all readers after it. An
#    operator with several outputs takes its lost `getitem` nodes along: while its tuple is
#    there, *all* outputs are.
# 2. *Where does each value live?* Original and clone are different pieces of memory. A backward
#    node or a clone that reads a lost value reads the clone. A view lives where its operand
#    lives: a backward view of a clone lives in the **clone's** memory.
# 3. *From when to when?* As in task 1.4: memory is held from the step that allocates it to the
#    last step that makes or reads a value in it. Placeholders are there all the time, outputs
#    to the end.
#
# Return `Simulated(nbytes, node)`: the peak, and the node that runs then (for a clone, the
# backward node that it is made for). Where several steps hold as much, any of them will do.
#
# <details><summary>Help: what do I write down for step 1?</summary>
# A list of runs: <code>(node, again, reader)</code>. For an original, <code>reader</code> is
# the node itself.
# </details>
# <details><summary>Help: how do I tell original from clone?</summary>
# By a pair: <code>(storage, False)</code> and <code>(storage, True)</code>. Keep
# <code>home[node, again]</code>, the list of such pieces that the value lives in. A storage
# that one of the operands lives in is taken from there; any other one is new.
# </details>
# <details><summary>Help: too many bytes on <code>regularised</code></summary>
# Batch norm returns a tuple, and <code>getitem</code> nodes take it apart. If one of them runs
# again only later, the clone of the tuple waits for it, and holds the other outputs as well.
# Let them run together: whoever needs the tuple needs its <code>node.users</code> with
# <code>user.target is getitem</code> (those that are lost).
# </details>
# <details><summary>Help: it must be fast</summary>
# Add and subtract bytes at the first step and after the last one, and sum up once. The plan of
# a large model needs hundreds of simulations: a loop over all steps and storages takes hours.
# </details>


# %% solution=t55
def simulate(graph: fx.Graph, drop: list[fx.Node]) -> Simulated:
    """The peak of the step when ``drop`` is recomputed."""
    ### BEGIN SOLUTION
    memory, kept = storages(graph), kept_values(graph, drop)
    lost = {n for n in graph.nodes if n.op == "call_function" and is_early(n)} - kept
    # 1. What runs, one after the other.
    runs, rebuilt = [], set()
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if in_backward(node):
            missing, queue = set(), [read for read in node.all_input_nodes if read in lost]
            while queue:
                value = queue.pop()
                if value not in rebuilt and value not in missing:
                    missing.add(value)
                    taken = [user for user in value.users if user.target is getitem]
                    queue += [n for n in (*value.all_input_nodes, *taken) if n in lost]
            runs += [(value, True, node) for value in sorted(missing)]
            rebuilt |= missing
        runs.append((node, False, node))
    # 2. and 3. Where each value lives, and from when to when.
    end = len(runs) - 1
    home = {(n, False): [(s, False) for s in memory[n]] for n in placeholders(graph)}
    first = {piece: 0 for pieces in home.values() for piece in pieces}
    last = {}
    for step, (node, again, _) in enumerate(runs):
        late = again or in_backward(node)
        reads = [home[read, late and read in lost] for read in node.all_input_nodes]
        looked_at = {storage: (storage, copy) for pieces in reads for storage, copy in pieces}
        home[node, again] = [looked_at.get(s, (s, again)) for s in memory[node]]
        for piece in [piece for pieces in (home[node, again], *reads) for piece in pieces]:
            first.setdefault(piece, step)
            last[piece] = step
    for node in (*placeholders(graph), *outputs(graph).values()):
        last |= dict.fromkeys(home[node, False], end)
    # The line, from what changes at each step.
    change = [0] * (len(runs) + 1)
    for piece, step in first.items():
        change[step] += piece[0].nbytes
        change[last[piece] + 1] -= piece[0].nbytes
    held = peak = at = 0
    for step in range(len(runs)):
        held += change[step]
        if held > peak:
            peak, at = held, step
    return Simulated(peak, runs[at][2])
    ### END SOLUTION


# %% test=t55_check points=4 check=5.5
check("5.5", simulate)

# %% [markdown]
# Three numbers that are easily confused, for the plan "drop all candidates":

# %%
every = list(candidates(graph))
before, after = simulate(graph, []).nbytes, simulate(graph, every).nbytes
print(f"peak without recomputation   {before / 1e6:6.2f} MB")
print(f"sum of all that is dropped   {sum(candidates(graph).values()) / 1e6:6.2f} MB")
print(f"peak when all is dropped     {after / 1e6:6.2f} MB: saved {(before - after) / 1e6:.2f} MB")

# %% [markdown]
# Dropping *everything* is no plan: the first backward node then rebuilds the whole network.
# One has to choose.
#
# ## Task 5.6: the plan (4 points, about 15 lines)
#
# Put it together. Start with nothing chosen and simulate. While the peak is above the budget:
#
# 1. Of the remaining candidates, look only at those that lie **idle at the peak**: last used in
#    forward before the node of the peak, and first used in backward after it. The others save
#    nothing there. If there is none, stop: this method cannot reach the budget.
# 2. Take the one with the largest ratio out of `remaining`, and simulate with it dropped as
#    well. If the peak would *rise*, leave it in memory and go on with the others.
# 3. Otherwise it is chosen: `update` the account.
#
# Return `Plan(drop, nbytes)`: the nodes in the order of choice, and the **simulated** peak.
#
# <details><summary>Help: my plan goes on for too long</summary>
# Stop as soon as the simulated peak is within the budget: more drops are more work for nothing.
# </details>
# <details><summary>Help: which comes first, update or append?</summary>
# <code>chosen</code> must not hold <code>t</code> while <code>update</code> runs.
# </details>


# %% solution=t56
def choose(graph: fx.Graph, seconds: dict[fx.Node, float], budget: int) -> Plan:
    """What to drop so that the peak is at most ``budget`` bytes, as far as possible."""
    ### BEGIN SOLUTION
    chosen: list[Candidate] = []
    remaining = describe(graph, seconds)
    now = simulate(graph, [])
    while now.nbytes > budget:
        idle = [c for c in remaining if c.last_forward < now.node < c.first_backward]
        if not idle:
            break
        t = max(idle, key=lambda c: c.ratio)
        remaining.remove(t)
        then = simulate(graph, [c.node for c in (*chosen, t)])
        if then.nbytes > now.nbytes:
            continue
        update(t, chosen, remaining)
        chosen.append(t)
        now = then
    return Plan([c.node for c in chosen], now.nbytes)
    ### END SOLUTION


# %% test=t56_check points=4 check=5.6
check("5.6", choose)

# %%
save_work(candidates, rebuild, describe, update, simulate, choose)

# %% [markdown]
# ## Where does your plan stand?
#
# The curve of your plans for one budget after the other: how far the peak falls, and how much
# work that takes (here always with estimated seconds, so that everybody's picture is the same).
# Beside it, from a file that we ship (it says how it was made), stand `torch.utils.checkpoint`
# around every block and the min-cut partitioner of PyTorch's compiler at several budgets, both
# run on this model with their peak measured, and the **optimum**: the best of all 1,024 plans
# that this graph of two blocks has. (For larger graphs one needs a solver, which soon takes too
# long.) Look at min-cut's points from left to right: more work, and the peak may rise again.

# %%
predict(
    "You ask for plans with budgets from all of the peak down to 30 % of it. How low do they get?",
    {
        "to 30 %": "Weights, gradients and what is kept are there whatever is dropped.",
        "to about 60 %": "Two blocks, not many: less is left to save than in Lab 4A.",
        "to about 90 %": "Two dropped activations go below that already.",
    },
    right="to about 60 %",
)

# %%
from lab_utils.labs.project.tradeoff import plot_tradeoff, recomputed_seconds, tradeoff_graph

mlp = tradeoff_graph()
estimate = estimated_seconds(mlp)
peak = simulate(mlp, []).nbytes
mine = []
for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3):
    plan = choose(mlp, estimate, round(share * peak))
    mine.append((recomputed_seconds(mlp, plan.drop, estimate), plan.nbytes))
plot_tradeoff({"your plans": mine})

# %% [markdown]
# ## Optional: send it away
#
# μ-TWO does not only recompute: it also *swaps*, that is, it copies an activation to the host's
# memory after forward, and back before backward needs it. No operator runs again, but the copy
# takes time on the link. Move the slider: on a fast link swapping is free, on a slow one the
# step waits for its values. Which activations would you rather recompute then?

# %%
from lab_utils.labs.project.swap_slider import swap_slider

swap_slider(mlp, describe(mlp, estimate), estimate)

# %% [markdown]
# ## What you built
#
# A planner: μ-TWO's greedy method with an exact simulator and one improvement, to look only at
# what lies idle at the peak. PyTorch's compiler solves the same problem as a minimum cut on the
# joint graph of forward and backward (cheap to solve, but it minimises the bytes kept for
# backward, not the peak), Checkmate as an integer program (exact, but hours for a large model),
# and XLA with a scheduler that recomputes when a limit is hit. Real planners improve a greedy
# plan by exchanging choices; yours is a good start. Next you take it to BERT and ResNet-152.
