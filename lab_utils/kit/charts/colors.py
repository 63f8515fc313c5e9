"""A few strong colours for lines, bars and marks, which can be read on a light and a dark page."""

from __future__ import annotations

BLUE, RED, ORANGE, GREEN = "#1f6fd0", "#d62728", "#d35400", "#2a9d4a"
GREY, PALE = "#999999", "#888888"
#: What a comparison found: as wanted; missing or wrong; there, but not wanted.
RIGHT, WRONG, NEEDLESS = BLUE, RED, GREY
