"""Pictures of graphs, schedules and memory: they know what they draw, and are not known to it."""
