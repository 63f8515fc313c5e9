"""The cases of Lab 3B, a module for each notebook: ``public()`` and ``hidden()`` by task."""
