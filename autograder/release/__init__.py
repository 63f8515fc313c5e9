"""Releases: what students get, in one archive, checked for leaks and published for them."""
