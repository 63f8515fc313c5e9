"""Notebooks 1 and 2 of Lab 3B in JupyterLab: they run, and their films follow the sliders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import Film, assert_follows_its_slider, solved_lab

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

FILMS = (
    Film("01_ranks", "ranks_film(run_ranks(4, add_up", "done after 304.03", "done after 304.03", 0),
    Film("02_pipeline", "schedule_film(", "48 messages", "60 messages", 2),
)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab3b") as server:
        yield server


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.notebook)
def test_a_film_follows_its_slider(browser: Browser, where: tuple[str, str], film: Film) -> None:
    assert_follows_its_slider(browser, where, "lab3b", film)
