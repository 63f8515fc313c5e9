"""Small simulators and counters that several labs use."""
