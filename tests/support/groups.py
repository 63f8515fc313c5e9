"""Tests of one ``xdist_group`` run in one process, and share what is dear to start.

pytest-xdist 3.8 finds groups by a name that pytest 9.2 no longer looks at, and spreads them
without a word. So the process that hands tests out reads the groups from the modules itself.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

from lab_utils.kit.root import ROOT

_GROUP = re.compile(r'^pytestmark = [^=]*?xdist_group\("([^"]+)"\)', re.M)


@cache
def group_of(module: str) -> str | None:
    """The group that a test module names for all its tests; its path is below the root."""
    path = Path(ROOT, module)
    found = _GROUP.search(path.read_text(encoding="utf-8")) if path.is_file() else None
    return found[1] if found else None


class ByGroup(LoadScopeScheduling):
    """Hands out tests one by one, those of a group together."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0]) or nodeid
