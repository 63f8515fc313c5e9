"""Lab 1B on the instructors' side."""
