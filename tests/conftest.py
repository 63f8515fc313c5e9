"""What every test needs: a fixed hypothesis profile, and skips that say how to end them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

# Before anything imports torch: pytest already runs one process a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The experiments of notebook 06 in seconds.
os.environ.setdefault("PROJECT_SIZE", "small")

import pytest
from hypothesis import HealthCheck, settings

from autograder.grading.sandbox.host.stems import sharing
from tests.support import one_machine_cluster
from tests.support.browser import browser  # noqa: F401  (a fixture)

# No verdict may depend on how fast the machine is.
_patient = settings(
    deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow], max_examples=50
)
settings.register_profile("random", _patient)
settings.register_profile("repeatable", _patient, derandomize=True, database=None)
settings.load_profile("repeatable" if os.environ.get("CI") else "random")


@dataclass(frozen=True)
class Tool:
    """A program outside Python that the tests with one marker run."""

    obstacle: Callable[[], str | None]
    """What is wrong with the program on this machine; None when it can be used."""
    cure: str


def _missing(*programs: str) -> Callable[[], str | None]:
    def obstacle() -> str | None:
        absent = [program for program in programs if shutil.which(program) is None]
        return f"{' and '.join(absent)} not found" if absent else None

    return obstacle


@cache
def _bwrap_obstacle() -> str | None:
    """Many containers have the program but forbid what it does."""
    if absent := _missing("bwrap")():
        return absent
    trial = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    result = subprocess.run(trial, capture_output=True, text=True)
    return f"bwrap does not work here ({result.stderr.strip()})" if result.returncode else None


TOOLS = {
    "needs_dot": Tool(_missing("dot"), "apt-get install graphviz, or brew install graphviz"),
    "needs_chromium": Tool(
        _missing("chromium", "chromedriver"), "apt-get install chromium chromium-driver"
    ),
    "needs_bwrap": Tool(
        _bwrap_obstacle, "apt-get install bubblewrap (Linux only), and allow user namespaces"
    ),
    "needs_shellcheck": Tool(
        _missing("shellcheck"), "apt-get install shellcheck, or brew install shellcheck"
    ),
    "needs_slurm": Tool(
        one_machine_cluster.obstacle, "as root, apt-get install slurm-wlm munge (Linux only)"
    ),
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Groups stay together: see ``tests.support.groups``."""
    from tests.support.groups import ByGroup

    return ByGroup(config, log)


@pytest.fixture(scope="session", autouse=True)
def warm_for_all() -> Iterator[None]:
    """Executors of a test run hand on what has imported the libraries, whatever their kit."""
    with sharing():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: one that begins last keeps one processor busy, and the other waits."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose tool is missing; fail it where all tools are promised to be there."""
    for name, tool in TOOLS.items():
        if item.get_closest_marker(name) and (obstacle := tool.obstacle()):
            reason = f"{obstacle}: {tool.cure}"
            if os.environ.get("REQUIRE_TOOLS"):
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)
