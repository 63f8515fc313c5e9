"""Cells that students might write in Homework 5, a module for each topic."""
