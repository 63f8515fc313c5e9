"""Pictures of graphs, schedules and memory; they depend on the values that they draw, never the reverse."""
