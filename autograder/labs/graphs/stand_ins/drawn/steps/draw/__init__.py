"""Nothing is drawn while a hand-in is graded."""
