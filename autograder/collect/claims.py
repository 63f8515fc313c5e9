"""Which of several uploads counts for a student, and which is held back for a person to decide.

Whoever can put a file into a folder can name it after somebody else. What tells whose it is:

- the account that an LMS writes in front of a name, if most uploads have one: then this is a
  bulk download, and nobody else can write there;
- else the origin of an upload: the folder that it lies in, its name (copies and attempts of it
  are the same name), and the user that it belongs to on disk, if the uploads have several.

Of one account, or of one origin, the newest counts. Of two origins the one that counted before
goes on counting, at first the older; the other is held back unless it has the same content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.collect.shelf import Card
from autograder.collect.uploads import Upload, has_accounts, newest_first
from autograder.collect.words import usual, words

DIGESTS = re.compile(r"(?: [0-9a-f]{64})+$")
AGAIN = frozenset(words("new newer updated latest resubmission resubmitted corrected fixed again"))


@dataclass(frozen=True)
class Claim:
    """What becomes of one student's uploads; the newest first."""

    counting: tuple[Upload, ...]
    """Those of which the first that can be graded is."""
    held: tuple[Upload, ...] = ()
    """Those that an instructor has to look at."""
    same: tuple[Upload, ...] = ()
    """Others with the content of one that counts."""
    decided: tuple[Upload, ...] = ()
    """Others that an instructor decided against, now or before."""
    replaces: str = ""
    """The name of what counted before, if it is no longer there."""


class Claims:
    """Settles claims among the uploads of one run."""

    def __init__(self, origins: Mapping[Upload, str], accepted: Collection[str] = ()) -> None:
        """``origins``: name and digests of each; ``accepted``: names that an instructor chose."""
        self._origins, self._accepted = origins, accepted
        self._has_accounts = has_accounts(origins.keys())
        self._has_owners = len({upload.owner for upload in origins}) > 1

    def settle(self, uploads: Sequence[Upload], before: Card | None) -> Claim:
        """Who counts of a student's ``uploads``; ``before`` is what was collected earlier."""
        chosen = [upload for upload in uploads if upload.name in self._accepted]
        if chosen:
            others = tuple(upload for upload in uploads if upload is not chosen[0])
            return Claim((chosen[0],), decided=others)
        passed = before.passed if before else ()
        open_ones = [u for u in uploads if self._origins[u] not in passed] or list(uploads)
        counting, replaces = self._counting(open_ones, before)
        content = {self._content(upload) for upload in counting}
        rest = [upload for upload in open_ones if upload not in counting]
        held = tuple(upload for upload in rest if self._content(upload) not in content)
        same = tuple(upload for upload in rest if upload not in held)
        decided = tuple(upload for upload in uploads if upload not in open_ones)
        return Claim(tuple(newest_first(counting)), held, same, decided, replaces)

    def _counting(self, uploads: list[Upload], before: Card | None) -> tuple[list[Upload], str]:
        of_account = [upload for upload in uploads if upload.user]
        if self._has_accounts and of_account:
            return of_account, ""
        base = replaces = None
        if before:
            known = (before.source, before.owner)
            base = next((u for u in uploads if self._is_from(u, *known)), None) or next(
                (u for u in uploads if self._content(u) in before.origin), None
            )
            replaces = None if base else DIGESTS.sub("", before.origin)
        if base is None:
            zips = [upload for upload in uploads if not upload.loose]
            base = (zips or uploads)[-1]
        source, owner = source_of(base), base.owner
        return [u for u in uploads if self._is_from(u, source, owner)], replaces or ""

    def _is_from(self, upload: Upload, source: str, owner: int) -> bool:
        return source_of(upload) == source and not (self._has_owners and upload.owner != owner)

    def _content(self, upload: Upload) -> str:
        return self._origins[upload].removeprefix(upload.name)


def source_of(upload: Upload) -> str:
    """Where an upload comes from, as far as its name tells; the same for its next version."""
    if upload.user:
        return f"account {upload.user}"
    if upload.loose and upload.folder:
        return f"{upload.folder}/"
    stem = os.path.splitext(upload.name)[0]
    kept = [word for word in words(usual(stem)) if word not in AGAIN]
    return f"{upload.folder}/{' '.join(kept) or stem}"
