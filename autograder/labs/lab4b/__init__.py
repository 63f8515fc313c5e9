"""Lab 4B on the instructors' side."""
