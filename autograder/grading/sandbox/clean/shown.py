"""The outputs of a cell while they come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.grading.sandbox.clean.hostile import clean_output
from autograder.grading.sandbox.host.job import Output


@dataclass
class Shown:
    """The outputs of one cell while they come in."""

    outputs: list[Output]
    by_display: dict[str, list[Output]]
    """Of the whole notebook: a later cell may change what an earlier one displayed."""
    clear_first: bool = False

    def add(self, raw: Any) -> None:
        """Take an output as the sandbox sent it."""
        output = clean_output(raw)
        if output is None:
            return
        identity = raw.get("display_id")
        if identity is not None and raw.get("update"):
            for earlier in self.by_display.get(str(identity), []):
                earlier |= {"data": output["data"], "metadata": output["metadata"]}
            return
        if self.clear_first:
            self.outputs.clear()
            self.clear_first = False
        last = self.outputs[-1] if self.outputs else {}
        if output["output_type"] == "stream" and output["name"] == last.get("name"):
            last["text"] += output["text"]
            return
        self.outputs.append(output)
        if identity is not None:
            self.by_display.setdefault(str(identity), []).append(output)

    def clear(self, wait: bool) -> None:
        """Forget what was shown, now or when there is something new."""
        self.clear_first = wait
        if not wait:
            self.outputs.clear()
