"""What simulates and draws networks; not there when a hand-in is graded."""
