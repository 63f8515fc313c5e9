"""Two graphs compared by structure: names, order, colours and layout make no difference.

``structure`` holds what counts, ``matching`` (by ``refinement`` and ``growth``) pairs the
nodes, ``reach`` is the order that control edges force, and ``diff`` tells the
``differences`` in words.
"""
