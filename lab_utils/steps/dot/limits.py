"""How large a .dot file may be: what is written can be read, so both sides look here."""

from __future__ import annotations

MAX_BYTES = 64 * 2**20
MAX_NODES = 50_000
MAX_EDGES = 250_000
