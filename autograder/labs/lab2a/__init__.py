"""Lab 2A on the instructors' side: recorded runs, oracles, hidden cases, the build module."""
