# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2A, notebook 3: predicting cycles
#
# **2 points, about 70 minutes.** You need numpy, and scikit-learn or torch if you like
# (run `%pip install scikit-learn` in a cell, and take the cell out again). Nothing here hangs on notebooks 1 and 2.
#
# A simulator can be too slow to ask 12,288 times, and often nobody has its source code. Then people
# run it a few hundred times and let a model learn the rest. In this notebook you predict the cycles
# of a design from its `system.cfg`, and you find out how easily one is fooled. Afterwards you can
#
# - measure an error so that small and large designs count alike;
# - find what leaks from a test into what a model learns;
# - put physics into features, and beat a model that has none.
#
# ![The same product on an array, three dataflows](images/array.svg)
#
# What you predict: how long such an array takes, waiting for its memory included.

# %%
import math

import numpy as np

from lab_utils.instruments.systolic.designs import DATAFLOWS, Design
from lab_utils.labs.lab2a import check, read_config, recorded, stall_free_cycles

# %% [markdown]
# ## The data
#
# The lab brings real runs of SCALE-Sim 2.0.2, spread over the design space: the network of
# notebook 2, at a bandwidth of 50 words a cycle. `recorded()` has the five layers of each design,
# `read_config` reads a `system.cfg` into a `Design`. `stall_free_cycles(design)` looks up what the
# network takes if memory is never late: what notebook 1 computes.

# %%
designs = list(recorded())
cycles = [sum(row.total for row in rows) for rows in recorded().values()]
print(len(designs), "designs, from", f"{min(cycles):,} to {max(cycles):,} cycles")
for design in designs[:5]:
    rows = recorded()[design]
    print(
        f"{design!s:22} {sum(row.total for row in rows):>8,} cycles, {sum(row.stall for row in rows):>8,} stalls,"
        f" {stall_free_cycles(design):>8,} without stalls"
    )

# %% [markdown]
# ## Task 3.1: how wrong is a prediction? (¼ point, about 3 lines)
#
# The slowest design takes fourteen times as long as the fastest. With squared errors in cycles the
# slow ones would decide everything. So measure each error **relative** to what is right:
# |predicted − cycles| / cycles. Return the mean over all designs, in per cent.


# %% solution=t31
def relative_error(predicted: list[float], cycles: list[float]) -> float:
    """Mean distance from the truth, relative to it, in per cent."""
    ### BEGIN SOLUTION
    right = np.asarray(cycles, dtype=float)
    return float(100 * np.mean(np.abs(np.asarray(predicted) - right) / right))
    ### END SOLUTION


# %% test=t31_check points=0.25 check=3.1
check("3.1", relative_error)

# %% [markdown]
# Two models that learn nothing are the ones to beat: the mean of all cycles, and the formula
# without stalls. How far off are they?

# %%
print(f"the mean:    {relative_error([np.mean(cycles)] * len(cycles), cycles):5.1f} %")
print(f"the formula: {relative_error([stall_free_cycles(one) for one in designs], cycles):5.1f} %")

# %% [markdown]
# ## Too good to be true
#
# A colleague is proud: hardly any error on designs that the model has never seen. It looks for the
# known design that is nearest, and answers with its cycles. Here is the test, on a table in which
# every design was simulated with several memories for outputs.

# %%
rng = np.random.default_rng(0)
family = [one._replace(ofmap_kb=size) for one in designs[:60] for size in (1, 2, 3, 4)]
family_cycles = [cycles[place] for place in range(60) for _ in range(4)]
order = rng.permutation(len(family))
learn, test = order[60:], order[:60]


def distance(one: Design, other: Design) -> float:
    """How different two designs are; another dataflow is far away."""
    return sum(abs(a - b) for a, b in zip(one[:5], other[:5], strict=True)) + 99 * (
        one[5] != other[5]
    )


guesses = [
    family_cycles[min(learn, key=lambda place: distance(family[place], family[wanted]))]
    for wanted in test
]
print(f"{relative_error(guesses, [family_cycles[one] for one in test]):.1f} % on the test")

# %% [markdown]
# At 50 words a cycle nothing ever waits for the memory of the *outputs*: designs that differ in it
# alone take exactly the same cycles. Each test design has a **twin** among those that the model
# learned from. It did not predict, it remembered. That is a **leak**.
#
# ## Task 3.2: a split without leaks (½ point, about 10 lines)
#
# Split a list of `designs` into two lists of places (counted from 0): to learn from, and to test
# with. Each design is in exactly one of them. About a quarter is for the test (between 15 and 35 per
# cent). **Twins are never on different sides.**
#
# <details><summary>Help: how do I keep twins together?</summary>
# Do not deal out designs, deal out families: all designs that share everything but
# <code>ofmap_kb</code>. <code>design._replace(ofmap_kb=0)</code> is the same for all of a family.
# </details>


# %% solution=t32
def split(designs: list[Design]) -> tuple[list[int], list[int]]:
    """Places to learn from, and places to test with."""
    ### BEGIN SOLUTION
    families: dict[Design, list[int]] = {}
    for place, design in enumerate(designs):
        families.setdefault(design._replace(ofmap_kb=0), []).append(place)
    learn, test = [], []
    for family in sorted(families.values(), key=len, reverse=True):
        room = 0.25 * len(designs) - len(test)
        (test if len(family) <= room + 0.5 else learn).extend(family)
    return learn, test
    ### END SOLUTION


# %% test=t32_check points=0.5 check=3.2
check("3.2", split)

# %% [markdown]
# ## Task 3.3: predict cycles (1 point, about 15 lines)
#
# `configs` are texts of `system.cfg`, `cycles` the cycles that SCALE-Sim reported for them, and
# `asked` texts for which you predict. Return a number of cycles for each of `asked`. Use what you
# like: scikit-learn, torch, numpy. Learn inside the function, in a few seconds; give a fixed seed
# to whatever is random.
#
# All files of one call have the same `Bandwidth`. When your work is graded it is another one than
# here, so learn from `configs` and `cycles`, not from `recorded()`. (The formula stays as it is: it
# knows no memory.)
#
# You are judged on designs that you have not seen, by the error of task 3.1. Each of these is worth
# a quarter of the point: better than the **mean**; better than a **decision tree** on the plain
# numbers of the file; better than the **formula** without stalls; and a quarter better than both
# the tree and the formula.
#
# <details><summary>Help: what does a plain tree do wrong?</summary>
# It cuts the space into boxes, and answers with the mean of a box. It has to learn from 200 numbers
# that twice the PEs take half the time. You know that: it is the formula. So let the model learn
# only what the formula does not know: the ratio cycles / formula.
# </details>
# <details><summary>Help: the ratio goes from 1 to 5</summary>
# Learn its logarithm, and multiply the formula by <code>exp</code> of what the model says. Then an
# error of 10 % is as bad for a small design as for a large one.
# </details>
# <details><summary>Help: the dataflow is a word</summary>
# Not 0, 1, 2: that would say that ws lies between os and is. Three columns, each 0 or 1.
# </details>
# <details><summary>Help: I learn the ratio, and it is still not enough</summary>
# A straight line (or a plane) is too stiff. Stalls do not grow evenly: they begin where something
# no longer fits, and only in some dataflows. Trees can jump, and the mean of many trees is steadier
# than one: <code>RandomForestRegressor</code> and its relatives.
# </details>


# %% solution=t33
def predict(configs: list[str], cycles: list[float], asked: list[str]) -> list[float]:
    """Cycles of the network for each file that is asked for."""
    ### BEGIN SOLUTION
    from sklearn.ensemble import ExtraTreesRegressor

    def features(design: Design) -> list[float]:
        flows = [float(design.dataflow == flow) for flow in DATAFLOWS]
        return [*design[:4], *flows, math.log(stall_free_cycles(design))]

    known, wanted = map(read_config, configs), [read_config(text) for text in asked]
    pairs = list(zip(known, cycles, strict=True))
    model = ExtraTreesRegressor(200, random_state=0)
    model.fit(
        [features(design) for design, _ in pairs],
        [math.log(count / stall_free_cycles(design)) for design, count in pairs],
    )
    ratios = np.exp(model.predict([features(design) for design in wanted]))
    return [ratio * stall_free_cycles(design) for ratio, design in zip(ratios, wanted, strict=True)]
    ### END SOLUTION


# %% test=t33_check points=1 check=3.3
check("3.3", predict)

# %% [markdown] task=q34 points=0.25
# ### Question 3.4: another leak (¼ point, about 50 words, in a new cell below)
#
# A person reads and grades this one. Another colleague adds the column `Overall Util %` of the
# reports to the features, and the error falls to nearly nothing, whatever the split. What leaks
# here, and how? Write down how to get the cycles from it. Which columns of a report may be
# features, and how would you have found the leak without being told?
#
# ### BEGIN MARK SCHEME
# 0.1 The column is computed from the answer: Overall Util = 100 x MACs / (cycles x PEs), so
# cycles = 100 x MACs / (util x height x width). It is not known before the run.
# 0.05 No column of the report may be one but what can be computed without a run (mapping
# efficiency can); stall cycles and compute utilisation cannot, or only from the formula.
# 0.1 A way to find it: ask of each column when it is known; a column that alone predicts nearly
# everything; a model without it that is suddenly far worse; an error below what the simulator's
# jumps allow.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# A surrogate: a model that stands in for a simulator. AutoTVM chooses kernels by such a model, which
# learns from a few hundred measured ones. You found that a formula with a learned correction beats
# a learner that must discover physics on its own, and that a test can lie. A solution of this
# exercise that went round is a boosted tree of depth 13 with 250 rounds; yours is smaller, and
# knows more.
#
# In Lab 2B a second level of memory joins, and a fourth dataflow.
