"""The notebooks of Lab 1B in JupyterLab: they run, and both films follow their sliders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.browser import Browser
from tests.support.films import Film, assert_follows_its_slider, solved_lab

pytestmark = [pytest.mark.needs_chromium, pytest.mark.slow, pytest.mark.xdist_group("browser")]

FILMS = (
    Film("01_fusion", "fusion_film(layer", "0 fused", "2 fused: 96.6", 2),
    Film("02_tiling", "c_stays})", "A stays: step 1 of 24", "A stays: step 8 of 24", 7),
)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of the solved notebooks."""
    with solved_lab(tmp_path_factory.mktemp("labs"), "lab1b") as server:
        yield server


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.notebook)
def test_a_film_follows_its_slider(browser: Browser, where: tuple[str, str], film: Film) -> None:
    assert_follows_its_slider(browser, where, "lab1b", film)
