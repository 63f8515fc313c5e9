"""Reading what student code sends: bounded, JSON only, and nothing but known forms.

Each function takes any bytes or any JSON, and either gives clean data or raises
``Spoiled``. No text that passes can break a file, a database or a page it is put in.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

from autograder.grading.sandbox.clean.markup import SAFE
from autograder.grading.sandbox.host.job import Output, Reply

MIME_TYPES = (
    "text/plain",
    "text/latex",
    "application/json",
)
PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}

_MOST_PARTS = 300_000  # values in one message: each takes memory, however short its text
_DEEPEST = 60
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_CELLS = 100_000
_KINDS = ("unwritten", "form", "absent")  # of errors, as far as a word is needed for them
_LONGEST_WORDS = 2000  # characters of an error


class Spoiled(Exception):
    """Not what the sandbox' own code sends; the text says why."""


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``, without NaN, half characters, or too many or too deep values."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") > _MOST_PARTS:
        raise Spoiled("a message with too many parts")
    try:
        value = json.loads(
            body.decode("utf-8"), parse_constant=_number, parse_float=_number, parse_int=_integer
        )
    except (ValueError, RecursionError):
        raise Spoiled("a message that is not JSON") from None
    if not isinstance(value, dict):
        raise Spoiled("a message that is no object")
    if sum(1 for _ in _levels(value)) > _DEEPEST + 1:
        raise Spoiled("a message that is nested too deeply")
    # Half a character can only come from such an escape: what is no UTF-8 was not decoded.
    return _whole(value) if _HALF.search(body) else value


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _integer(text: str) -> int:
    if len(text) > 20:  # no honest answer is longer, and others overflow where they are used
        raise ValueError("a number that is too long")
    return int(text)


def _levels(value: Any) -> Iterator[list[Any]]:
    """All parts of plain data, keys too, level by level: answers are long, and never deep."""
    level = [value]
    while level:
        yield level
        held = [part for part in level if type(part) in (dict, list)]
        level = [
            item
            for part in held
            for item in (part if type(part) is list else chain(part, part.values()))
        ]


def _whole(value: Any) -> Any:
    """The same with every text made of whole characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(k): _whole(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value


def weight(value: Any) -> int:
    """About how many bytes of memory plain data takes."""
    return sum(sum(map(sys.getsizeof, level)) for level in _levels(value))


def clean_reply(raw: Any) -> Reply:
    """An answer, or an error in words; whatever else came along is dropped."""
    if isinstance(raw, dict) and isinstance(raw.get("error"), str):
        reply = {"error": raw["error"], "look": ""}
        reply |= {part: raw[part] for part in ("look", "wanted") if isinstance(raw.get(part), str)}
        reply = {part: words[:_LONGEST_WORDS] for part, words in reply.items()}
        return reply | ({"kind": raw["kind"]} if raw.get("kind") in _KINDS else {})
    if isinstance(raw, dict) and "answer" in raw and "error" not in raw:
        return {"answer": raw["answer"]}
    raise Spoiled("a reply without an answer")


def clean_output(raw: Any) -> Output | None:
    """An output in the form of nbformat; None if nothing in it is of a known type."""
    kind = raw.get("output_type") if isinstance(raw, dict) else None
    if kind == "stream":
        name = "stderr" if raw.get("name") == "stderr" else "stdout"
        return {"output_type": kind, "name": name, "text": _text(raw.get("text"))}
    if kind == "error":
        lines = raw.get("traceback")
        return {
            "output_type": kind,
            "ename": _text(raw.get("ename")),
            "evalue": _text(raw.get("evalue")),
            "traceback": [_text(line) for line in (lines if isinstance(lines, list) else [])],
        }
    if kind not in ("display_data", "execute_result"):
        raise Spoiled("an output of an unknown type")
    data = _bundle(raw.get("data"))
    if not data:
        return None
    output = {"output_type": kind, "data": data, "metadata": _sizes(raw.get("metadata"), data)}
    if kind == "execute_result":
        output["execution_count"] = clean_count(raw.get("execution_count"))
    return output


def clean_count(raw: Any) -> int:
    """The number of a cell."""
    if type(raw) is not int or not 0 <= raw < _MOST_CELLS:
        raise Spoiled("a cell number that is none")
    return raw


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise Spoiled("an output whose text is none")
    return raw


def _bundle(raw: Any) -> dict[str, Any]:
    """The forms of one output that we know, by MIME type."""
    if not isinstance(raw, dict):
        raise Spoiled("an output without data")
    data = {}
    for kind, value in raw.items():
        if kind in SAFE and isinstance(value, str):
            if (safe := SAFE[kind](value)) is not None:
                data[kind] = safe
        elif (
            kind == "application/json"
            or (kind in MIME_TYPES and isinstance(value, str))
            or (kind in PICTURES and isinstance(value, str) and _is_picture(kind, value))
        ):
            data[kind] = value
    return data


def _is_picture(kind: str, text: str) -> bool:
    """Whether it is base64 (which goes into pages as it is) of a file that begins as it should."""
    try:
        content = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return content.startswith(PICTURES[kind])


def _sizes(raw: Any, data: dict[str, Any]) -> dict[str, Any]:
    """Width and height of pictures: all that we keep of an output's metadata."""
    sizes = {}
    for kind in data:
        told = raw.get(kind) if isinstance(raw, dict) else None
        if isinstance(told, dict):
            known = {k: v for k in ("width", "height") if type(v := told.get(k)) in (int, float)}
            if known:
                sizes[kind] = known
    return sizes
