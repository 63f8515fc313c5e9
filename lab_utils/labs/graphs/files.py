"""A handed-in .dot file: compared by structure, never as text."""

from __future__ import annotations

from dataclasses import dataclass

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import HandedIn


@dataclass(frozen=True)
class DotFile(HandedIn):
    """A graph that the notebooks write."""

    def difference(self, made: bytes, handed_in: bytes) -> str:
        """The first difference of the two graphs, in words; empty if there is none."""
        if made == handed_in:
            return ""
        from lab_utils.steps.compare.diff import diff  # a packer may do without torch
        from lab_utils.steps.dot.read import read_dot

        try:
            first, second = (read_dot(f"{_text(content)}\n") for content in (made, handed_in))
        except LabError as error:
            raise LabError(f"{error}: write it again with write_dot") from None
        return next((found.text for found in diff(first, second)), "")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
