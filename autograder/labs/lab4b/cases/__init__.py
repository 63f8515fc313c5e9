"""The cases of Lab 4B, a module for each notebook: ``public()`` and ``hidden()`` by task."""
