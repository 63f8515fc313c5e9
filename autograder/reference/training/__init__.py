"""What training a transformer across ranks takes, found out by running it on tensors without data.

``blocks`` is the layer itself, ``memory`` and ``time`` count and simulate, ``search`` tries all.
"""
