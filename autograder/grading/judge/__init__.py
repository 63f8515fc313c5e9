"""From the answers of a sandbox to points, by processes that never run student code."""
