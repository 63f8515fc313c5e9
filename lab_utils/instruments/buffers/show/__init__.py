"""What counts and shows; not there when a hand-in is graded."""
