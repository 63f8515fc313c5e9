"""Starts sandboxes and runs submissions in them, on the grader's side."""
