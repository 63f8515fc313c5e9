"""How the cases of Lab 4B are made, a module for each notebook."""
