"""Cells that students might write in Lab 4B, a module for each notebook."""
