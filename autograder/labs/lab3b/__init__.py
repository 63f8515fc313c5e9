"""Lab 3B on the instructors' side."""
