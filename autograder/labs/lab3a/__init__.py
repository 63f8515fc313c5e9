"""Lab 3A on the instructors' side."""
