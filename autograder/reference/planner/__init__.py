"""Chooses what to recompute under a budget; benchmarks set it beside PyTorch's own."""
