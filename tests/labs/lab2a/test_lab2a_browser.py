"""The notebooks of Lab 2A in JupyterLab: they run, and the films follow their sliders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import Film, assert_follows_its_slider, solved_lab

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

FILMS = (
    Film(
        "01_array",
        "systolic_film((6, 4, 5)",
        "output-stationary: cycle 1 of 22",
        "output-stationary: cycle 9 of 22",
        8,
    ),
    Film("02_search", "pareto_film(", "1 of ", "3 of ", 2),
)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks, in which nothing takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB2A_SIZE", "small")
        with solved_lab(tmp_path_factory.mktemp("labs"), "lab2a") as server:
            yield server


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.notebook)
def test_a_film_follows_its_slider(browser: Browser, where: tuple[str, str], film: Film) -> None:
    assert_follows_its_slider(browser, where, "lab2a", film)
