"""Where collected submissions lie, and how the next run knows that it may leave them alone.

``into/<student>/<lab>/`` holds what nbgrader grades. Beside the students there is a hidden
folder with a card for each of them: what was handed in, what was made of it, and the remarks.
A card is written last. Whenever the work is cut off, either the card and the folder are whole,
or there is no card and the folder is made again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from autograder.collect.records import RemarkKind, listed
from autograder.remark import Remark
from lab_utils.kit.files import write_whole

HIDDEN = ".collected"


@dataclass(frozen=True)
class Card:
    """What is known about one collected submission."""

    key: str
    """Digest of all that the result depends on."""
    chosen: int
    """Which of the student's uploads it is, the newest being 0."""
    origin: str
    """Name and digest of that upload."""
    files: Mapping[str, str]
    """Digests by name."""
    remarks: tuple[Remark, ...]
    source: str = ""
    """Where that upload comes from (see ``claims``)."""
    owner: int = -1
    """The user to whom it belongs on disk."""
    passed: tuple[str, ...] = ()
    """Other uploads that an instructor decided against, like ``origin``."""
    release: str = ""
    """The release that it was made from; empty: nobody knows."""


class Shelf:
    """All collected submissions of one lab."""

    def __init__(self, into: Path, lab: str) -> None:
        """Nothing is written yet."""
        self._into = into
        self._lab = lab
        # nbgrader would take a folder .collected/<lab> for a student's.
        self.uploads = into / HIDDEN / f"{lab}-uploads"
        self._cards = into / HIDDEN / f"{lab}-cards"
        self._new = into / HIDDEN / f"{lab}-new"
        self._old = into / HIDDEN / f"{lab}-old"

    def folder(self, student: str) -> Path:
        """Where nbgrader looks for a student's submission."""
        return self._into / student / self._lab

    def card(self, student: str, key: str) -> Card | None:
        """What was collected earlier, if it is all there and was made from the same."""
        card = self._read(student)
        if card is None or card.key != key:
            return None
        if RemarkKind.FAILED in [remark.kind for remark in card.remarks]:
            return None  # the mistake may have been mended since
        there = {path.name for path in _files(self.folder(student))}
        return card if there == card.files.keys() else None

    def before(self, student: str) -> Card | None:
        """What was collected earlier, from whatever."""
        return self._read(student)

    def edited(self, student: str, card: Card) -> tuple[Remark, ...]:
        """Tell of files that somebody has edited after they were collected."""
        changed = [
            path.name
            for path in _files(self.folder(student))
            if digest(path.read_bytes()) != card.files.get(path.name)
        ]
        text = f"Edited after it was collected, and graded as edited: {listed(changed)}."
        return (Remark(RemarkKind.EDITED_HERE, text),) if changed else ()

    def put(self, student: str, card: Card, files: Mapping[str, bytes]) -> None:
        """Replace what lies there for a student."""
        self.remove(student)
        shutil.rmtree(self._new, ignore_errors=True)
        if files:
            self._new.mkdir(parents=True)
            for name, data in files.items():
                (self._new / name).write_bytes(data)
            self.folder(student).parent.mkdir(parents=True, exist_ok=True)
            self._new.rename(self.folder(student))
        self._cards.mkdir(parents=True, exist_ok=True)
        write_whole(self._card_path(student), _as_text(card))

    def remove(self, student: str) -> None:
        """Take away what was collected for a student."""
        self._card_path(student).unlink(missing_ok=True)
        shutil.rmtree(self._old, ignore_errors=True)
        folder = self.folder(student)
        if folder.exists():
            self._old.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(self._old)  # at once: nobody grades half a folder
            shutil.rmtree(self._old)
            if not any(folder.parent.iterdir()):
                folder.parent.rmdir()

    def remove_moved(self, students: Iterable[str], origins: Iterable[str]) -> None:
        """Take away what now lies under another student, as when a class list was added.

        ``students`` and ``origins`` are those of this run. What comes from elsewhere stays.
        """
        current, met = set(students), set(origins)
        for path in sorted(self._cards.glob("*.json")):
            card = self._read(path.stem)
            if path.stem not in current and card and card.origin in met:
                self.remove(path.stem)

    def _card_path(self, student: str) -> Path:
        return self._cards / f"{student}.json"

    def _read(self, student: str) -> Card | None:
        try:
            content = json.loads(self._card_path(student).read_text(encoding="utf-8"))
            remarks = tuple(Remark(RemarkKind(kind), text) for kind, text in content["remarks"])
            passed = tuple(content.get("passed", ()))
            return Card(**{**content, "remarks": remarks, "passed": passed})
        except (OSError, ValueError, KeyError, TypeError):
            return None


def digest(data: bytes) -> str:
    """What tells one content from another."""
    return sha256(data).hexdigest()


def _as_text(card: Card) -> str:
    remarks = [(str(remark.kind), remark.text) for remark in card.remarks]
    return json.dumps({**vars(card), "remarks": remarks}, indent=1, sort_keys=True)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
