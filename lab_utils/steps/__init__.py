"""The graph of a training step: trace, storage, schedule, memory, run, read, write, compare, draw."""
