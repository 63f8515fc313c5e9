"""Lab 0 on the instructors' side."""
