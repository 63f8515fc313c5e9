# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 0, notebook 1: first steps
#
# **1 point, about 10 minutes.** You need Python; you need not have seen PyTorch.
#
# All labs of this course work in the same way: you fill in a cell, a check tries it, some
# cells write a file, and all of it goes into one zip. Here you do each of these once, with a
# question that the whole course keeps asking: **how many bytes is that?** Afterwards you can
#
# - run a check, and use what it says when it fails;
# - tell how large a tensor is before it exists;
# - write a file that is handed in, and pack your work.
#
# ![Six numbers, a little square for each byte: 24 squares in float32, 12 in float16, 6 as
# bool](images/bytes.svg)
#
# A square is a byte. The same six numbers take 24 bytes, 12 bytes or 6.
#
# ## Is the machine ready?
#
# Run the next cell: click into it and press *Shift* and *Enter*. It says `Environment OK`, or
# what is missing and how to get it. Then run the cell below it.

# %%
import csv
import math

from lab_utils.labs.lab0 import check, tiny_model

# %% [markdown]
# ## Task 1.1: how many bytes? (½ point, about 2 lines)
#
# A tensor has a **shape** (the lengths of its dimensions) and a **dtype** (what each element
# is). Its bytes are the number of its elements, times the bytes of one element.
#
# - The shape is a tuple. `(2, 3)` has 2 · 3 = 6 elements. `()` is the shape of a single
#   number. A shape with a 0 in it has no elements.
# - The number in the name of a dtype counts **bits**, and 8 bits are one byte: an element of
#   `float32` takes 4 bytes. `bool` has no number in its name. One bit would do for it, but it
#   takes a whole byte, since nothing smaller has an address in memory.
#
# Compute the number without making the tensor: it may be larger than your computer's memory.
#
# **First run the two cells below as they are.** The check fails. It should: nothing is
# written yet, and it says so. A check that fails always tells you four things:
#
# | | |
# |---|---|
# | the first line | the task, and the tensor on which it was tried |
# | `yours` | what your function gave |
# | `wanted` | what it should have given |
# | `look` | where to look |
#
# Then fill in the cell, and run both again.
#
# <details><summary>Help: how do I multiply all lengths?</summary>
# <code>math.prod(shape)</code>. It also knows that a product of no factors is 1.
# </details>
# <details><summary>Help: how do I get the number out of a name?</summary>
# <code>int(dtype.strip("abcdefghijklmnopqrstuvwxyz"))</code>, for every dtype that has one.
# </details>


# %% solution=t11
def tensor_bytes(shape: tuple[int, ...], dtype: str) -> int:
    """Bytes of a tensor of this shape and dtype, such as (2, 3) and "float32"."""
    ### BEGIN SOLUTION
    bits = 8 if dtype == "bool" else int("".join(filter(str.isdigit, dtype)))
    return math.prod(shape) * bits // 8
    ### END SOLUTION


# %% test=t11_check points=0.5 check=1.1
check("1.1", tensor_bytes)

# %% [markdown]
# The picture shows your bytes above the wanted ones. When your work is graded, the same check
# runs on **other tensors, which you do not see**: all that the text above says is tried. So
# it pays to try more by yourself. numpy can help: an array knows its own bytes.

# %%
for name, array in tiny_model().items():
    yours = tensor_bytes(array.shape, str(array.dtype))
    print(
        f"{name:10} {array.shape!s:12} {array.dtype!s:8} numpy {array.nbytes:>7,}  yours {yours:>7,}"
    )

# %% [markdown]
# ## Task 1.2: a file to hand in (¼ point, about 5 lines)
#
# Write the file `bytes.csv`. Its first line is `tensor,bytes`. Then comes one line for each
# array of `tiny_model()`, with its name and its `nbytes`, as in `mask,16384`. Nothing here
# hangs on task 1.1.
#
# The file is handed in together with the notebook. Who grades it runs your notebook once
# more, so the file must come from this cell: what you change in it by hand does not count.
#
# <details><summary>Help: how do I write a file?</summary>
# <code>with open("bytes.csv", "w") as file:</code>, and below it
# <code>print("tensor,bytes", file=file)</code>. The module <code>csv</code> does it too.
# </details>

# %% solution=t12
model = tiny_model()
### BEGIN SOLUTION
with open("bytes.csv", "w", newline="", encoding="utf-8") as file:
    table = csv.writer(file)
    table.writerow(["tensor", "bytes"])
    for name, array in model.items():
        table.writerow([name, array.nbytes])
### END SOLUTION

# %% test=t12_check points=0.25 check=1.2
check("1.2", "bytes.csv")

# %% [markdown] task=q13 points=0.25
# ### Question 1.3: does it fit? (¼ point, about 50 words, in a new cell below)
#
# A person reads and grades this one. GPT-3 has 175 billion weights. How many GPUs with 80 GB
# each does it take just to hold them in `float32`, in `float16`, in `int8`? Name one more
# thing that must be in memory while such a model is *trained*.
#
# ### BEGIN MARK SCHEME
# 0.15: 700 GB, 350 GB and 175 GB, so 9, 5 and 3 GPUs (GB or GiB: both are fine; 0.05 for each).
# 0.1: activations, gradients or the optimizer's state.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# The first thing that any program does which loads a model. A `.safetensors` file, as Hugging
# Face ships models, begins with a list of names, dtypes and shapes: whoever reads it knows
# every tensor's bytes, and its place in the file, before any of them is loaded. vLLM counts
# the bytes of its key-value cache in the same way when it starts, to find out how many users a
# GPU can serve at a time. In Lab 4A you count the bytes of a whole training step, and make
# them fewer.
