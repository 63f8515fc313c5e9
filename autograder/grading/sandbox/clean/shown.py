"""The outputs of a cell while they come in, and how much of them there may be."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from autograder.grading.sandbox.clean.hostile import clean_output
from autograder.grading.sandbox.host.job import Output

MOST_OUTPUTS = 5000
"""Of one cell, changes of earlier ones among them."""


LAST_WORDS = 16_000
"""Bytes of the error of a cell for which there is room when there is none for anything else."""


class Full(Exception):
    """There is no room for an output; the text says of what there was too much."""


@dataclass
class Quota:
    """Bytes that may be kept, in all that shares it."""

    most: int
    around: Quota | None = None
    """Of which it is a part."""
    kept: int = 0

    @property
    def left(self) -> int:
        """How many more there may be."""
        own = max(0, self.most - self.kept)
        return own if self.around is None else min(own, self.around.left)

    def take(self, size: int) -> None:
        """Note that so many are kept; less than nothing: that they are no more.

        Raises:
            Full: there is no room for them.
        """
        if size > self.left:
            raise Full("all bytes that there are")
        self.kept += size
        if self.around is not None:
            self.around.take(size)


@dataclass
class Display:
    """What is shown under one name: in several places, and the same in each."""

    kept: int = 0
    """Bytes that its places take, or took."""
    places: dict[int, Output] = field(default_factory=dict)
    """By identity."""


@dataclass
class Shown:
    """The outputs of one cell while they come in; ``settle`` when there are no more."""

    outputs: list[Output]
    by_display: dict[str, Display]
    """Of the whole notebook: a later cell may change what an earlier one displayed."""
    quota: Quota
    clear_first: bool = False
    _count: int = 0
    _held: int = 0
    _said_last: bool = False
    _text: list[str] = field(default_factory=list)
    """Of the last output, if that is a stream: they come in many parts."""
    _changed: dict[str, Output] = field(default_factory=dict)
    _own: list[tuple[Display, Output]] = field(default_factory=list)

    def add(self, raw: Any) -> None:
        """Take an output as the sandbox sent it.

        Raises:
            Full: there is no room for it.
        """
        self._count += 1
        if self._count > MOST_OUTPUTS:
            raise Full(f"{MOST_OUTPUTS:,} outputs")
        output = clean_output(raw)
        if output is None:
            return
        identity = raw.get("display_id")
        if identity is not None and raw.get("update"):
            self._change(str(identity), output)
            return
        if self.clear_first:
            self._forget()
        size = self._room_for(output)
        last = self.outputs[-1] if self.outputs else {}
        if self._text and output["output_type"] == "stream" and output["name"] == last.get("name"):
            self._text.append(output["text"])
            self._held += size
            return
        self._join()
        if output["output_type"] == "stream":
            self._text = [output["text"]]
        self.outputs.append(output)
        if identity is None:
            self._held += size
        else:
            display = self.by_display.setdefault(str(identity), Display())
            display.kept += size
            display.places[id(output)] = output
            self._own.append((display, output))

    def note(self, text: str) -> None:
        """Add words of ours, for which there is always room."""
        self._join()
        self.outputs.append({"output_type": "stream", "name": "stderr", "text": text})

    def clear(self, wait: bool) -> None:
        """Forget what was shown, now or when there is something new."""
        self.clear_first = wait
        if not wait:
            self._forget()

    def settle(self) -> None:
        """Put everything into its place."""
        self._join()
        for identity, new in self._changed.items():
            for earlier in self.by_display[identity].places.values():
                earlier |= {"data": new["data"], "metadata": new["metadata"]}
        self._changed.clear()

    def _change(self, identity: str, output: Output) -> None:
        """What is displayed under a name becomes something else, once the cell is done."""
        if (display := self.by_display.get(identity)) is not None:
            size = _size(output) * len(display.places)
            self.quota.take(size - display.kept)
            display.kept = size
            self._changed[identity] = output

    def _room_for(self, output: Output) -> int:
        size = _size(output)
        try:
            self.quota.take(size)
        except Full:
            if output["output_type"] != "error" or size > LAST_WORDS or self._said_last:
                raise
            self._said_last = True
            return 0
        return size

    def _forget(self) -> None:
        self.clear_first = False
        self.quota.take(-self._held)
        self._held = 0
        self._text = []
        self.outputs.clear()
        for display, output in self._own:
            del display.places[id(output)]
        self._own.clear()

    def _join(self) -> None:
        if self._text:
            self.outputs[-1]["text"] = "".join(self._text)
            self._text = []


def _size(output: Output) -> int:
    """About as many bytes as it takes in a notebook."""
    return len(json.dumps(output, ensure_ascii=False).encode("utf-8", "replace"))
