"""Homework 5, distributed training and quantization: the instructors' side."""
