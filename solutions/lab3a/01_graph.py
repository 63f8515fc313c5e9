# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 3A, notebook 1: a model as a graph
#
# **8 points, about 120 minutes.** You need Python and a little PyTorch: what a tensor, a module
# and a method are. No GPU. Lab 1A's roof returns at the end; its code is not needed.
#
# A model is a program. As long as it is Python, one can only run it. `torch.fx` turns it into a
# **graph**: a list of nodes that code can read, change and run. Compilers, profilers and
# quantizers all begin there, and so does Lab 4A. Afterwards you can
#
# - read the graph of a real model: six kinds of nodes, and what their arguments hold;
# - change it, and get a module that computes something else;
# - run it by hand, node by node, and measure each node;
# - say which operators are slower than the machine allows, and why.
#
# ![A line of Python becomes four nodes, below one another: a placeholder x, the call of a method, the
# call of a function that reads both, and the output](images/graph.svg)
#
# One line of Python, and the graph that `torch.fx` makes of it.

# %%
import torch
from torch import fx, nn

from lab_utils.labs.lab3a import (
    against_the_roof,
    changes_its_input,
    check,
    draw_nodes,
    gpt_layer,
    write_nodes,
)
from lab_utils.steps.clock import clock

# %% [markdown]
# ## Six kinds of nodes
#
# `fx.symbolic_trace` runs a module once, with stand-ins in place of tensors, and writes down
# everything that happens to them. Here is a small one:


# %%
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        rows = x.size(0)
        y = self.linear(torch.mul(x, self.scale))
        return y[: rows - 1].relu()


small = fx.symbolic_trace(Small())
for node in small.graph.nodes:
    print(f"{node.op:14} {node.name:8} target {node.target!s:42.40} args {node.args}")

# %% [markdown]
# A node has an `op` (its kind), a `name`, a `target` (what it calls or fetches), `args` and
# `kwargs`. There are no other kinds than these:
#
# | `node.op` | it gives | `node.target` is |
# |---|---|---|
# | `placeholder` | the next argument of the module | the argument's name |
# | `get_attr` | a parameter or buffer of the module | its path, as in `"scale"` or `"inner.mask"` |
# | `call_function` | what a function returns | the function itself |
# | `call_method` | what a method of the **first argument** returns | the method's name |
# | `call_module` | what a submodule returns | its path |
# | `output` | what the module returns: its **first argument** | `"output"` |
#
# ## Task 1.1: multiply becomes divide (1 point, about 6 lines)
#
# Return a new module in which every **`torch.mul`** is a `torch.div`, and nothing else is. Trace
# the module with the `tracer_class` that you are given (`tracer_class().trace(module)` returns a
# graph), change its nodes, check the graph with its method `lint()`, and make a module of it:
# `fx.GraphModule(module, graph)`.
#
# `x * y`, `x.mul(y)`, `x.mul_(y)` and `torch.matmul` are something else, and stay.
#
# <details><summary>Help: how do I know what a node calls?</summary>
# Ask for its kind first: <code>node.op == "call_function"</code>. Then <code>node.target</code> is
# the function itself, and <code>node.target is torch.mul</code> says whether it is this one. Names
# do not say it: a node may be called mul and be something else.
# </details>
# <details><summary>Help: must I make a new node?</summary>
# No: <code>node.target</code> may be set. If you do make one, make all readers read it
# (<code>node.replace_all_uses_with</code>) and erase the old one.
# </details>


# %% solution=t11
def transform(module: nn.Module, tracer_class: type = fx.Tracer) -> fx.GraphModule:
    """The module with torch.div in place of each torch.mul."""
    ### BEGIN SOLUTION
    graph = tracer_class().trace(module)
    for node in graph.nodes:
        if node.op == "call_function" and node.target is torch.mul:
            node.target = torch.div
    graph.lint()
    return fx.GraphModule(module, graph)
    ### END SOLUTION


# %% test=t11_check points=1 check=1.1
check("1.1", transform)

# %% [markdown]
# A graph module has code again, written from its graph. Look at it:

# %%
print(transform(Small()).code)

# %% [markdown]
# > **When you change the graph of a module that exists already**, its code stays as it was until
# > you call `module.recompile()`. Who forgets it looks at a graph that is right and at results
# > that are not. Here `fx.GraphModule(…)` writes the code anew.
#
# ## What arguments hold
#
# Now we run a graph by hand. That begins with a small question that has a long answer: what are
# the arguments of a node? Numbers and other nodes, to begin with. But look at these:

# %%
layer, tokens = gpt_layer()
for name in ("getitem", "split", "view", "getitem_4", "softmax"):
    node = next(node for node in layer.graph.nodes if node.name == name)
    print(f"{node.op:14} {name:10} {node.args}  {node.kwargs}")

# %% [markdown]
# This is a layer of a GPT. `getitem` cuts off the positions that are not needed: its second
# argument is a **slice**, and the slice's end is a *node* (the length of the text). `getitem_4`
# cuts a mask: a **tuple** of slices with nodes in them. Elsewhere nodes stand in lists and dicts,
# and these in other lists.
#
# ## Task 1.2: arguments with their values (2 points, about 12 lines)
#
# `argument` is anything that can stand in `args` or `kwargs`. Return the same thing with
# `values[node]` in place of every node, however deep it stands:
#
# - in **tuples** and **lists**, of which a tuple must stay a tuple and a list a list (`x[(0, 1)]`
#   is one number, `x[[0, 1]]` two rows);
# - in **dicts**, as values of a key;
# - in **slices**: `slice.start`, `slice.stop` and `slice.step` may be nodes.
#
# Everything else (numbers, strings, `None`, `...`, a dtype) stays as it is. What comes out of
# `values` is not looked into: a value may well be a tuple.
#
# <details><summary>Help: it is nested, so how deep do I go?</summary>
# The function calls itself for each part: <code>tuple(with_values(part, values) for part in
# argument)</code>. What has no parts ends the descent.
# </details>
# <details><summary>Help: how do I tell a slice?</summary>
# <code>isinstance(argument, slice)</code>, and a new one is made with <code>slice(start, stop,
# step)</code>.
# </details>


# %% solution=t12
def with_values(argument, values: dict[fx.Node, object]):
    """The argument with the value of each node in its place."""
    ### BEGIN SOLUTION
    if isinstance(argument, fx.Node):
        return values[argument]
    if isinstance(argument, slice):
        parts = (argument.start, argument.stop, argument.step)
        return slice(*(with_values(part, values) for part in parts))
    if isinstance(argument, tuple):
        return tuple(with_values(part, values) for part in argument)
    if isinstance(argument, list):
        return [with_values(part, values) for part in argument]
    if isinstance(argument, dict):
        return {key: with_values(part, values) for key, part in argument.items()}
    return argument
    ### END SOLUTION


# %% test=t12_check points=2 check=1.2
check("1.2", with_values)

# %% [markdown]
# ## Task 1.3: time an operator (1 point, about 8 lines)
#
# `run` is a function without arguments that runs an operator and returns its value. Return that
# value, and how many **milliseconds** the operator takes. `clock()` tells seconds.
#
# - The first run makes the value, and is not timed: it pays for memory and caches that later
#   runs find ready. Ten more runs are timed, and their **mean** is the latency.
# - The value is that of the **first** run, whatever the others return.
# - If `once` is true, the operator changes its input (`x.add_(y)` writes into `x`): a second run
#   would add y again. Then it runs once in all, and the time of that run is the latency.
#
# <details><summary>Help: why does the check talk of a pretended clock?</summary>
# Real times differ from run to run, so the check replaces <code>clock</code> by one that moves on
# by a known amount whenever something runs. Use <code>clock()</code> and not the
# <code>time</code> module.
# </details>


# %% solution=t13
def timed(run, once: bool) -> tuple[object, float]:
    """The value of run(), and the milliseconds that it takes."""
    ### BEGIN SOLUTION
    start = clock()
    value = run()
    if once:
        return value, (clock() - start) * 1e3
    start = clock()
    for _ in range(10):
        run()
    return value, (clock() - start) / 10 * 1e3
    ### END SOLUTION


# %% test=t13_check points=1 check=1.3
check("1.3", timed)

# %% [markdown]
# ## Task 1.4: values and shapes (2 points, about 30 lines with task 1.5)
#
# Now the interpreter. `NodeProp(module).propagate(*args)` goes through `module.graph.nodes`, gives
# every node its value, notes its shape in the node, and returns what the module would return. The
# table above says what each of the six kinds gives. Write it **by hand**: PyTorch's
# `fx.Interpreter` (and `ShapeProp`, which is built on it) does the same, and is switched off in the
# check, under whatever name you call it. You may read how it does it; then write your own.
#
# In each node note
#
# - `node.meta["shape"]`: a list of whole numbers if the value is a tensor, else **`None`**: a
#   whole number, a tuple of tensors and a `torch.Size` are no tensors;
# - `node.meta["latency"]`: milliseconds, for task 1.5. **0** for `placeholder`, `get_attr` and
#   `output`, which compute nothing; for all others what `timed` says.
#
# `changes_its_input(node, module)` says which operators run once. `with_values` and `timed` are
# yours. (If these are not right yet, you do not pay for it here: your work is also tried with
# right ones.)
#
# <details><summary>Help: how do I begin?</summary>
# With a dict of values, and one <code>if</code> for each kind:
# <pre>values, inputs = {}, iter(args)
# for node in self.module.graph.nodes:
#     if node.op == "placeholder":
#         value = next(inputs)
#     ...
#     values[node] = value</pre>
# </details>
# <details><summary>Help: a path with dots?</summary>
# <code>self.module.get_submodule("attention.project")</code> finds a module. For a parameter, take
# the path apart at its last dot: the module before it, then <code>getattr</code>. Or go down part
# by part: <code>for part in path.split("."): found = getattr(found, part)</code>.
# </details>
# <details><summary>Help: what do I give to timed?</summary>
# A function that does the call and nothing else. Work out the arguments before:
# <code>timed(lambda: function(*args, **kwargs), once)</code>.
# </details>


# %% solution=t14
class NodeProp:
    """Runs a module node by node, and notes shapes and latencies in its nodes."""

    def __init__(self, module: fx.GraphModule) -> None:
        self.module = module

    def propagate(self, *args):
        """What the module returns for these arguments."""
        ### BEGIN SOLUTION
        values, inputs = {}, iter(args)
        for node in self.module.graph.nodes:
            latency = 0.0
            if node.op == "placeholder":
                value = next(inputs)
            elif node.op == "get_attr":
                value = self._found(node.target)
            elif node.op == "output":
                value = with_values(node.args[0], values)
            else:
                value, latency = self._called(node, values)
            values[node] = value
            is_tensor = isinstance(value, torch.Tensor)
            node.meta["shape"] = list(value.shape) if is_tensor else None
            node.meta["latency"] = latency
        return value

    def _found(self, path):
        found = self.module
        for part in path.split("."):
            found = getattr(found, part)
        return found

    def _called(self, node, values):
        args, kwargs = with_values(node.args, values), with_values(node.kwargs, values)
        if node.op == "call_function":
            function = node.target
        elif node.op == "call_method":
            function, args = getattr(args[0], node.target), args[1:]
        else:
            function = self._found(node.target)
        return timed(lambda: function(*args, **kwargs), changes_its_input(node, self.module))
        ### END SOLUTION


# %% test=t14_check points=2 check=1.4
check("1.4", NodeProp)

# %% [markdown]
# ### Task 1.5: latencies (1 point)
#
# The same class; now the latencies that it notes. All operators run on a pretended clock, on which
# each takes an amount of its own.

# %% test=t15_check points=1 check=1.5
check("1.5", NodeProp)

# %% [markdown]
# ## A GPT layer, measured
#
# Here is the layer from above: 768 wide, 12 heads, 128 tokens. It takes a few seconds. Your output
# and the module's own must be the same numbers, to the last bit.
#
# (The course measures GPT-3 2.7B: 2560 wide, 32 heads, 1024 tokens, 50257 words. That is
# `gpt_layer(2560, 32, 1024, 50257)`: about a minute on two cores, and 2 GB of memory. Its slowest
# operator by far is the last one, `scores`. Try it if you like; hand in the small one.)

# %%
with torch.no_grad():
    output = NodeProp(layer).propagate(tokens)
    print("the same bits:", torch.equal(output, layer(tokens)))
for node in list(layer.graph.nodes)[:14]:
    print(f"{node.name:14} {node.meta['shape']!s:18} {node.meta['latency']:8.3f} ms")

# %% [markdown]
# ## Task 1.6: the three slowest (½ point, about 4 lines)
#
# Return the three nodes with the largest latency as a list of pairs (name, latency), the slowest
# first; of equally slow ones the one that runs first. Leave the node `output` out, whatever is
# noted in it. If a graph has fewer nodes, return all of them.


# %% solution=t16
def findHeavyOps(module: fx.GraphModule) -> list[tuple[str, float]]:
    """Name and latency of the three slowest nodes."""
    ### BEGIN SOLUTION
    nodes = [node for node in module.graph.nodes if node.op != "output"]
    slowest = sorted(nodes, key=lambda node: node.meta["latency"], reverse=True)
    return [(node.name, node.meta["latency"]) for node in slowest[:3]]
    ### END SOLUTION


# %% test=t16_check points=0.5 check=1.6
check("1.6", findHeavyOps)

# %%
for name, latency in findHeavyOps(layer):
    print(f"{name:12} {latency:8.2f} ms")

# %% [markdown]
# ## Task 1.7: two files (¼ point)
#
# The course wants the table of all nodes, and a picture of the graph. Both are written from what
# your `NodeProp` noted in the nodes. Run this cell after the one above that runs the layer.
#
# | column of `nodes.csv` | is |
# |---|---|
# | (the first, without a name) | the number of the node, from 0 |
# | `op`, `target`, `args`, `kwargs` | as in the graph |
# | `shape` | your list, or nothing for what is no tensor |
# | `latency` | milliseconds |

# %%
write_nodes(layer, "nodes.csv")
draw_nodes(layer, "graph.png")

# %% test=t17_check points=0.25 check=1.7
check("1.7", "nodes.csv")

# %% [markdown]
# ## Measured against the roof
#
# Lab 1A's roof says how long an operator takes at best: as long as its operations or its bytes
# take, whichever is longer. The next cell measures the roof of one core of this computer, runs the
# layer through your `NodeProp` on that core, counts operations and bytes of each node, and draws
# the layer twice: as you measured it, and as the roof has it. (A few seconds.)

# %%
against_the_roof(NodeProp, layer, tokens)

# %% [markdown]
# Three reasons why something is slower than its roof:
#
# - **the call itself.** `size` and `view` compute nothing and move nothing, and still take a few
#   microseconds: Python, the dispatcher, a new tensor object. A GPU has the same, and worse: each
#   *launch* of a kernel costs about 5 µs. In a graph of small nodes this is most of the time.
# - **operations that the counter does not see.** PyTorch counts products. `gelu` and `softmax` are
#   many instructions for each number (your `w` of Lab 1A), so they are bound by arithmetic where
#   the roof thinks of bytes.
# - **shapes that do not fit the machine.** A product of thin matrices cannot fill the arithmetic
#   units: `matmul` of 12 heads with 64 numbers each reaches less of the peak than the large ones.
#
# Some are *faster* than their roof: what they read still lies in a cache from the node before.

# %% [markdown] task=q18 points=0.25
# ### Question 1.8: which, and why? (¼ point, about 60 words, in a new cell below)
#
# A person reads and grades this one. Name the two operators that lose most time against the roof
# in your own picture, with their numbers, and give a reason for each. What would you do about one
# of them? (Lab 1B has ideas.)
#
# ### BEGIN MARK SCHEME
# 0.15: two operators of the student's own table with measured and roof times, and for each a
# reason that fits (transcendental functions, thin products, overhead of the call, copies).
# 0.1: a remedy that fits: fusing elementwise operators with the product before them, a larger
# batch or more tokens, avoiding the copy of reshape, compiling the graph so that calls vanish.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# An interpreter, a profiler and a compiler pass: the three things that everything in `torch.fx` is
# made of. `fx.Interpreter` is your `NodeProp`, and `fx.node.map_arg` your `with_values`;
# `ShapeProp` in PyTorch notes shapes as you did, and quantization, `torch.compile` and
# TensorRT's converter begin by walking the nodes like your `transform`. In Lab 4A the graph holds
# a whole training step, backward pass and all, and you rewrite it so that it needs less memory.
#
# The course asks for the notebook as a PDF as well; here the notebook itself is handed in. Its
# trace came from a library's own tracer, which no longer exists: ours is `fx.symbolic_trace` on a
# layer that is written so that it can be traced.
