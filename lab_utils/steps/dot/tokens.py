"""DOT text to tokens: one regular expression, and never a look back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from lab_utils.steps.dot.drawing import DotError, Drawing, short

_GAP = r"(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/|(?m:^\#[^\n]*+))*+"
_NUMBER = r"-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?+)"
_BARE = rf"[A-Za-z_\u0080-\U0010ffff][0-9A-Za-z_\u0080-\U0010ffff]*+|{_NUMBER}"
_QUOTED = r'"(?:[^"\\]++|\\(?s:.))*+"'
# Most of a file is attributes, so that name=value is one token.
_PAIR = (
    rf"(?P<key>{_BARE}){_GAP}={_GAP}"
    rf"(?:(?P<text>{_QUOTED})(?!{_GAP}\+)|(?P<word>{_BARE})){_GAP}[,;]?+"
)
_TOKEN = re.compile(
    rf"{_GAP}(?:{_PAIR}|(?P<bare>{_BARE})|(?P<quoted>{_QUOTED})"
    r"|(?P<sign>->|--|[][{};,:=<])|(?P<end>\Z))"
)
_LEADING_GAP = re.compile(_GAP)
_MORE = re.compile(rf"{_GAP}\+{_GAP}({_QUOTED})")
_ESCAPE = re.compile(r'\\(?:(["\\])|\r?\n)')
_ANGLE = re.compile(r"[<>]")


class Token(NamedTuple):
    """``kind`` is pair, bare, quoted, html, end, or the sign itself.

    A pair is ``text = value``; ``value`` is empty for all others.
    """

    kind: str
    text: str
    position: int
    value: str = ""

    def is_word(self, *words: str) -> bool:
        """Whether this is one of DOT's own words, in any mixture of capitals."""
        return self.kind == "bare" and self.text.lower() in words


NAMES = ("bare", "quoted", "html")  # kinds of token that can name something


class TokenStream:
    """The tokens of a text, one after the other; ``following`` is the next to be taken.

    Raises:
        DotError: at the first character that begins no token.
    """

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self._rest = _tokens(drawing)
        self.following = next(self._rest)

    def take(self) -> Token:
        """Go on by one token and return it; the end is never passed."""
        token = self.following
        if token.kind != "end":
            self.following = next(self._rest)
        return token

    def expected(self, wanted: str, token: Token) -> NoReturn:
        """Complain that ``token`` is not what should stand there."""
        found = f"{token.text}={token.value}" if token.kind == "pair" else token.text
        raise self.drawing.error(f"expected {wanted}, found {short(found)}", token.position)

    def attributes(self) -> dict[str, str]:
        """Take ``[name=value, …]``, perhaps several of them, perhaps none."""
        found: dict[str, str] = {}
        while self.following.kind == "[":
            self.take()
            while (token := self.take()).kind != "]":
                if token.kind == "pair":
                    found[token.text] = token.value
                elif token.kind in NAMES:
                    found[token.text] = self.value_of(token)
                    if self.following.kind in (",", ";"):
                        self.take()
                else:
                    self.expected("name=value or ]", token)
        return found

    def value_of(self, name: Token) -> str:
        """Take ``= value``; HTML, which is for the picture only, counts as empty."""
        sign = self.take()
        if sign.kind != "=":
            self.expected(f"= after {short(name.text)}", sign)
        value = self.take()
        if value.kind not in NAMES:
            self.expected(f"a value for {short(name.text)}", value)
        return "" if value.kind == "html" else value.text


def _tokens(drawing: Drawing) -> Iterator[Token]:
    text, place = drawing.text, 0
    match_token = _TOKEN.match
    while True:
        match = match_token(text, place)
        if match is None:
            raise _bad_token(drawing, place)
        place = match.end()
        kind = match.lastgroup
        if kind == "text":
            yield Token("pair", match["key"], match.start("key"), _unquoted(match["text"]))
        elif kind == "word":
            yield Token("pair", match["key"], match.start("key"), match["word"])
        elif kind == "bare":
            yield Token("bare", match["bare"], match.start("bare"))
        elif kind == "quoted":
            parts = [_unquoted(match["quoted"])]
            while more := _MORE.match(text, place):
                parts.append(_unquoted(more[1]))
                place = more.end()
            yield Token("quoted", "".join(parts), match.start("quoted"))
        elif kind == "end":
            yield Token("end", "the end of the file", place)
            return
        elif match["sign"] == "<":
            start, place = place - 1, _html_end(drawing, place)
            yield Token("html", text[start:place], start)
        else:
            yield Token(match["sign"], match["sign"], match.start("sign"))


def _unquoted(raw: str) -> str:
    if "\\" not in raw:
        return raw[1:-1]
    # As in Graphviz, a double backslash stays two characters.
    return _ESCAPE.sub(lambda m: {'"': '"', "\\": "\\\\"}.get(m[1], ""), raw[1:-1])


def _html_end(drawing: Drawing, start: int) -> int:
    depth = 1
    for angle in _ANGLE.finditer(drawing.text, start):
        depth += 1 if angle[0] == "<" else -1
        if depth == 0:
            return angle.end()
    raise drawing.error("an HTML label starts here and never ends: close it with >", start)


def _bad_token(drawing: Drawing, place: int) -> DotError:
    gap = _LEADING_GAP.match(drawing.text, place)
    place = gap.end() if gap else place
    if drawing.text.startswith('"', place):
        return drawing.error('a string starts here and never ends: close it with "', place)
    if drawing.text.startswith("/*", place):
        return drawing.error("a comment starts here and never ends: close it with */", place)
    found = short(drawing.text[place])
    return drawing.error(f"{found} does not belong here: unusual names need double quotes", place)
