"""Submissions that try to get, break or learn what is not theirs."""
