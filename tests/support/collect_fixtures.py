"""Fixtures: the sample course, a good hand-in for it, and a way to collect what is handed in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat.notebooknode import NotebookNode

from autograder.collect import HandIn, Roster, collect
from autograder.collect.records import RemarkKind
from autograder.collect.released import Released, read_released
from tests.support.collect_class import (
    ANSWERS,
    CLASS,
    DOT,
    NOTEBOOKS,
    as_bytes,
    build_course,
    is_clean,
    kinds,
    put,
)
from tests.support.sample_course import LAB, fill, folder_of


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def solved(course: Path) -> dict[str, NotebookNode]:
    """The notebooks of a good student, by name."""
    notebooks = folder_of(course / "notebooks", LAB)
    return {name: fill(notebook, ANSWERS) for name, notebook in notebooks.items()}


@pytest.fixture(scope="module")
def released(course: Path) -> dict[str, Released]:
    return {name: read_released(course / "notebooks" / LAB / f"{name}.ipynb") for name in NOTEBOOKS}


@pytest.fixture(scope="module")
def good(solved: dict[str, NotebookNode]) -> dict[str, bytes]:
    """The files of a good hand-in."""
    return {f"{name}.ipynb": as_bytes(solved[name]) for name in NOTEBOOKS} | {"llm_mlp.dot": DOT}


@pytest.fixture
def take(course: Path, tmp_path: Path) -> Callable[..., list[HandIn]]:
    """Collect what lies in the folder ``in`` (or elsewhere) into the folder ``submitted``."""

    def collected(
        files: dict[str, bytes] | None = None,
        roster: Roster | None = CLASS,
        source: Path | None = None,
        **options: Any,
    ) -> list[HandIn]:
        (tmp_path / "in").mkdir(exist_ok=True)
        put(tmp_path / "in", files or {})
        into = tmp_path / "submitted"
        rows = collect(source or tmp_path / "in", LAB, into, roster, root=course, **options)
        assert RemarkKind.FAILED not in [kind for row in rows for kind in kinds(row)]
        for row in rows:
            assert row.folder in (None, into / row.student / LAB)
            assert all(is_clean(path) for path in (row.folder or tmp_path / "no").glob("*.ipynb"))
        return rows

    return collected
