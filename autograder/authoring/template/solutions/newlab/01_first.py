# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A new lab, notebook 1: counting operations
#
# **1 point, about 10 minutes.** You need Python.
#
# Say here what this is about, in two or three sentences. Afterwards you can
#
# - tell how many operations a matrix product takes.

# %%
from lab_utils.labs.newlab import check

# %% [markdown]
# ## Task 1.1: how many operations? (1 point, about 1 line)
#
# A matrix of `m` rows and `k` columns times one of `k` rows and `n` columns: how many
# multiplications and additions of numbers is that together?
#
# <details><summary>Help: where do I begin?</summary>
# With one number of the result: it is a sum of <code>k</code> products.
# </details>


# %% solution=t11
def product_operations(m: int, k: int, n: int) -> int:
    """Multiplications and additions in the product of an m x k and a k x n matrix."""
    ### BEGIN SOLUTION
    return m * n * (2 * k - 1)
    ### END SOLUTION


# %% test=t11_check points=1 check=1.1
check("1.1", product_operations)

# %% [markdown]
# ## What you built
#
# Say here which product or paper does this.
