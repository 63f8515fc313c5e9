"""A real browser for the tests: headless Chromium, and a Jupyter server for it to look at.

``browser`` is a fixture of the whole session; ``jupyter_server`` serves a folder for as
long as its block runs. Tests that use them are marked ``needs_chromium`` and, so that one
browser serves them all, ``xdist_group("browser")``.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from lab_utils.kit.root import ROOT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SCREENSHOTS = ROOT / "build" / "screenshots"
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1280,1600",
)
#: What Chromium and JupyterLab report about themselves, whatever notebook is open.
NOISE = (
    "favicon.ico",  # a page without an icon
    "ResizeObserver loop",  # Chromium's own notice that a layout took two rounds
)


class Browser:
    """What the tests do with a page: open it, wait for something on it, look at it."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Go to ``url``; what the console said on the page before it is forgotten."""
        self.driver.get(url)
        self.driver.get_log("browser")  # reading the log empties it

    def js(self, script: str, *arguments: Any) -> Any:
        """The value of a JavaScript function body on the page; promises are awaited."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, what: str, *arguments: Any, seconds: float = 60) -> Any:
        """What ``script`` returns as soon as it is true; ``what`` it waits for is told if never."""
        end = time.monotonic() + seconds
        while not (found := self.js(script, *arguments)):
            if time.monotonic() > end:
                picture = self.screenshot(f"failed {what}")
                pytest.fail(f"waited {seconds} s in vain for {what}: see {picture}", pytrace=False)
            time.sleep(0.1)
        return found

    def screenshot(self, name: str) -> Path:
        """Keep what is on the page as ``build/screenshots/NAME.png``."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name.replace('/', '_')}.png"
        self.driver.save_screenshot(str(path))
        return path

    def console_errors(self) -> list[str]:
        """Errors in the browser's console since the last call, without the known noise."""
        entries = [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]
        return [text for text in entries if not any(noise in text for noise in NOISE)]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all tests."""
    with chromium() as started:
        yield started


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium, driven by Debian's chromedriver."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        for option in (*_OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        driver = webdriver.Chrome(options=options, service=service)
        driver.set_script_timeout(120)
        try:
            yield Browser(driver)
        finally:
            driver.quit()


@contextmanager
def jupyter_server(root: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Serve ``root`` by JupyterLab on this machine; gives its address (ends in /) and token.

    ``options`` go to the command line. Settings, data and runtime files of the user who
    runs the tests are left alone. ``window.jupyterapp`` is there for scripts.
    """
    token = secrets.token_hex(16)
    with TemporaryDirectory(prefix="jupyter-", ignore_cleanup_errors=True) as scratch:
        places = ("config", "data", "runtime", "ipython", "settings", "workspaces")
        homes = {name: str(Path(scratch, name)) for name in places}
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": homes["config"],
            "JUPYTER_CONFIG_DIR": homes["config"],
            "JUPYTER_DATA_DIR": homes["data"],
            "JUPYTER_RUNTIME_DIR": homes["runtime"],
            "IPYTHONDIR": homes["ipython"],
            "JUPYTERLAB_SETTINGS_DIR": homes["settings"],
            "JUPYTERLAB_WORKSPACES_DIR": homes["workspaces"],
        }
        _settle(Path(homes["settings"]))
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += ["--ServerApp.ip=127.0.0.1", "--port=0", f"--ServerApp.root_dir={root}"]
        command += [f"--IdentityProvider.token={token}", "--expose-app-in-browser"]
        command += ["--LabApp.extension_manager=readonly"]
        log = Path(scratch, "server.log")
        with log.open("w") as said:
            server = subprocess.Popen(
                [*command, *options], cwd=root, env=environment, stdout=said, stderr=said
            )
        try:
            yield _address(server, Path(homes["runtime"]), log), token
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _settle(settings: Path) -> None:
    """No question about news, and every cell of a notebook in the page."""
    for plugin, choices in {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }.items():
        path = settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(choices), encoding="utf-8")


def _address(server: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """Where the server listens: it notes that in its runtime folder, on a busy machine too soon."""
    end = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < end:
        for path in runtime.glob("jpserver-*.json"):
            try:
                address: str = json.loads(path.read_text())["url"]
                place = urlsplit(address)
                socket.create_connection((place.hostname, place.port), 10).close()
                return address
            except (OSError, ValueError, KeyError):  # still being written, or not listening yet
                continue
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}", pytrace=False)
