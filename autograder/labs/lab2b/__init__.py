"""Lab 2B on the instructors' side."""
