"""What a training job sends and holds, found out by running it.

``schedules`` goes through collectives message by message, ``sharded`` runs a layer on all ranks at
once and counts what they send, ``held`` asks autograd what a device keeps, ``search`` tries all.
"""
