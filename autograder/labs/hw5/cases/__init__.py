"""The cases of Homework 5, a module for each topic: ``public()`` and ``hidden()`` by task."""
