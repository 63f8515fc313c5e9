"""The virtual clock and the film of ranks; not there when a hand-in is graded."""
