"""Seconds of the processor that a command takes, with all that it starts.

Nobody waits for what a sandbox ends, so that the kernel adds it to nobody: it has to be seen.
"""

from __future__ import annotations

from threading import Event, Thread

from autograder.grading.sandbox.inside.usage import look


class Watch(Thread):
    """Seconds of the processor that a process and all below it use, while it runs."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.seconds, self._over, self._process = 0.0, Event(), process

    def run(self) -> None:
        """Look once in a while: what ends is counted by whoever waits for it."""
        before = 0.0
        while not self._over.wait(0.5):
            family, seen = {self._process}, look()
            for pid, process in seen.items():
                if process.parent in family:
                    family.add(pid)
            now = sum(seen[pid].cpu for pid in family if pid in seen)
            self.seconds += max(0.0, now - before)
            before = now

    def end(self) -> float:
        """The sum."""
        self._over.set()
        self.join()
        return self.seconds
