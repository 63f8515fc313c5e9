"""A .dot file is a picture and a program: written, read back, and run.

Reading goes ``tokens`` → ``syntax`` → ``drawing`` (nodes and edges), then either
``program`` (which accepts the ``operators`` of a fixed list, and ``check``s the whole) or
``thin`` (the older form, a drawing only). ``values`` and ``arguments`` are the two small
languages inside a node; ``write`` is the way back.
"""
