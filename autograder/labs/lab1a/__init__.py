"""Lab 1A on the instructors' side."""
