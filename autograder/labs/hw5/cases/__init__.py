"""The cases of Homework 5, a module for each notebook: ``public()`` and ``hidden()`` by task."""
