"""One submission: what its lab asks, what was handed in, a sandbox to run it, a judge."""
