"""The words of a name, whatever its accents, case, spaces and punctuation."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

# Letters that do not fall apart into a plain one and an accent.
PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe"})
LONGEST = 60
COPY = re.compile(r"^(?:copy|kopie) (?:of|von) |[\s_.-]*(?:\(\d+\)|copy\s?\d*|kopie)$")
VERSION = re.compile(r"[\s_.-]*(?:solutions?|solved|final|finished|done|[-_ ]v?\d+)$")


def fold(text: str) -> str:
    """Without accents, in lower case."""
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in apart if not unicodedata.combining(c)).translate(PLAIN)


def words(text: str) -> list[str]:
    """The words of a text, folded; apostrophes do not part a word (``O'Neil``)."""
    return re.findall(r"[^\W_]+", re.sub(r"['’`´]", "", fold(text)))


def squashed(text: str) -> str:
    """The words of a text in one piece."""
    return "".join(words(text))


def slug(text: str) -> str:
    """A name for a folder: a-z, 0-9 and ``-``; other texts have other slugs.

    What cannot be written so, or is too long, is told apart by a few digits at the end.
    """
    parts = words(text)
    plain = "-".join(re.findall("[a-z0-9]+", "-".join(parts)))
    if plain == "-".join(parts) and 0 < len(plain) <= LONGEST:
        return plain
    digest = sha256("-".join(parts).encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[:LONGEST].strip('-') or 'student'}-{digest}"


def usual(stem: str) -> str:
    """The name of a file without what copying, downloading and students add to it."""
    return without(COPY, without(VERSION, without(COPY, stem)))


def without(addition: re.Pattern[str], stem: str) -> str:
    """``stem``, folded, with none of the additions at its ends; never empty for their sake."""
    text = fold(stem[:300]).strip()
    while (shorter := addition.sub("", text)) != text and shorter:
        text = shorter
    return text
