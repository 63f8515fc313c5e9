"""nbgrader looks for its settings here; they stand in autograder/nbgrader_config.py."""

load_subconfig("autograder/nbgrader_config.py")  # type: ignore[name-defined]  # noqa: F821
