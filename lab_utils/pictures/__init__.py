"""Pictures of graphs and of memory, in one set of colours."""
