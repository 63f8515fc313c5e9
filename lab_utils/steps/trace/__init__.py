"""From a real model to one graph of its whole training step.

``step`` is the entry; ``recorder`` is the step that is recorded, with the optimizer's
``updates``; ``tidy`` and ``naming`` make of the recording what a person can read.
"""
