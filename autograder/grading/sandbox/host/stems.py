"""Stems: processes that have imported libraries, and from which warm processes grow.

Importing torch takes seconds and hundreds of megabytes; a stem does it once, and what grows
from it shares it. A stem holds nothing of ours that a notebook may import, so that any kit can
grow from it, of whatever lab: while ``sharing`` is open, executors of this process hand their
stems on to the next one.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from autograder.grading.sandbox.host.cut import Cut, Kit
from autograder.grading.sandbox.host.house import KIT, KITS, ROOT, House
from autograder.grading.sandbox.host.isolation import Isolation, Reached, SandboxFailed
from autograder.grading.sandbox.host.warmth import STARTING, Started, reach, start_stem
from autograder.grading.sandbox.wire.line import Closed, Late, Line


class Stem:
    """One process at a time: started when it is needed, and again when it has died."""

    def __init__(
        self, reached: Reached, house: House, libraries: Sequence[str], only: Path | None = None
    ) -> None:
        self.reached, self.house, self.libraries = reached, house, tuple(libraries)
        self._only = only
        self._started: Started | None = None
        self._busy = threading.RLock()  # whoever needs it waits until it has started

    @property
    def process(self) -> int:
        """Its number; 0 while there is none. Another number: what had grown from it is gone."""
        return self._started.process.pid if self._started and self._started.runs else 0

    def start(self, disk_bytes: int) -> None:
        """Start it, if it does not run.

        Raises:
            SandboxFailed: it does not come up; the text tells what it said.
        """
        with self._busy:
            if not self.process:
                self.stop()
                self._started = start_stem(
                    self.reached, self.house, self.libraries, disk_bytes, self._only
                )

    def grow(
        self,
        kit: Kit,
        folder: Path,
        disk_bytes: int,
        environment: Mapping[str, str],
    ) -> Line:
        """The line to a new warm process, whose kit lies in ``folder``.

        Raises:
            SandboxFailed: it does not come up; the text tells what it said.
        """
        self.start(disk_bytes)
        assert self._started is not None
        in_house = self.reached.level >= Isolation.NAMESPACES
        ours, theirs = socket.socketpair()
        line = Line(ours)
        order = {
            "source": f"{KITS}/{folder.name}",
            "kit": KIT if in_house else str(folder),
            "kits": KITS if in_house and not self._only else None,
            "preload": list(kit.preload),
            "warm_up": list(kit.warm_up),
            "imports": list(kit.imports),
            "environment": dict(environment),
            "linux": sys.platform == "linux",
        }
        with theirs, suppress(Closed, Late):  # it tells below why it has gone
            deadline = time.monotonic() + STARTING
            with self._busy:
                self._started.line.send(order, deadline, (theirs.fileno(),))
        if why := self._started.ready(line):
            line.close()
            self.stop()
            raise SandboxFailed(f"{self.reached.level}: {why}")
        return line

    def stop(self) -> None:
        """End it, and all that has grown from it."""
        if self._started:
            self._started.end()
        self._started = None


class Stems:
    """The stems of one executor, or of several, one after the other; and the kits for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._kits: dict[Cut, Path] = {}
        self._free: list[Stem] = []
        self._lock = threading.Lock()
        self._reached: dict[tuple[object, ...], Reached] = {}
        self.house().build()

    def house(self, hidden: Sequence[Path] = (), threads: int = 1) -> House:
        """A house whose kits are ours."""
        return House(self._folder, (ROOT, *hidden), threads)

    def reach(self, house: House, require: Isolation, wanted: Isolation) -> Reached:
        """As in ``warmth``; what works in a house was tried once.

        Raises:
            NotIsolated: it is lower than ``require``; the text tells why.
        """
        asked = (str(house.plan()), require, wanted)
        if asked not in self._reached:
            self._reached[asked] = reach(house, require, wanted)
        return self._reached[asked]

    def kit(self, cut: Cut) -> Path:
        """The folder with a kit; it is made if there is none yet."""
        with self._lock:
            if cut not in self._kits:
                self._kits[cut] = self.house().add_kit(str(len(self._kits)), cut)
            return self._kits[cut]

    @contextmanager
    def lent(self, reached: Reached, house: House, libraries: Sequence[str]) -> Iterator[Stem]:
        """A stem with these libraries that nobody else uses meanwhile."""

        def about(stem: Stem) -> object:
            return stem.reached, str(stem.house.plan()), stem.house.threads, stem.libraries

        new = Stem(reached, house, libraries)
        with self._lock:
            stem = next((free for free in self._free if about(free) == about(new)), new)
            if stem is not new:
                self._free.remove(stem)
        try:
            yield stem
        finally:
            with self._lock:
                self._free.append(stem)

    def close(self) -> None:
        """End them all."""
        for stem in self._free:
            stem.stop()


_shared: list[Stems] = []


@contextmanager
def own_stems() -> Iterator[Stems]:
    """Stems that end with this."""
    with ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="executor-", ignore_cleanup_errors=True)
        )
        os.chmod(folder, 0o711)  # student code may run as another user
        stems = Stems(Path(folder) / "house")
        stack.callback(stems.close)
        yield stems


@contextmanager
def sharing() -> Iterator[None]:
    """While this is open, executors hand their stems on."""
    if _shared:
        yield
        return
    with own_stems() as stems:
        _shared.append(stems)
        try:
            yield
        finally:
            _shared.clear()


@contextmanager
def stems_to_use() -> Iterator[Stems]:
    """Those that are shared; else new ones."""
    if _shared:
        yield _shared[0]
        return
    with own_stems() as stems:
        yield stems
