"""What every assignment is made of; no torch, no graph, no lab."""
