"""Lab 4B, the instructors' side."""
