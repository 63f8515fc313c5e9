"""Homework 5 on the instructors' side."""
