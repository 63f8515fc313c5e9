"""The reference engine: what the solutions, the judge and the benchmarks share.

It is not part of a release.
"""
