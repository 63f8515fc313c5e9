"""A gradebook of ours is one of nbgrader's."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.gradebook import make_empty


def _all(path: Path) -> tuple[set[str], list[tuple[object, ...]]]:
    with sqlite3.connect(path) as database:
        tables = {str(sql) for (sql,) in database.execute("SELECT sql FROM sqlite_master")}
        return tables, database.execute("SELECT * FROM alembic_version").fetchall()


def test_an_empty_gradebook_is_as_nbgrader_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It starts a program called alembic.
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    Gradebook(f"sqlite:///{theirs}").close()
    make_empty(f"sqlite:///{ours}")
    Gradebook(f"sqlite:///{ours}").close()  # which takes it for its own
    assert _all(ours) == _all(theirs)
