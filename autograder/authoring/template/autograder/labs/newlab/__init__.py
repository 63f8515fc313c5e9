"""A new lab on the instructors' side."""
