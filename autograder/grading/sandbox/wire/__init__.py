"""The talk between the grader and a sandbox."""
