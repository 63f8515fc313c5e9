"""HTML, SVG, Markdown and maths that students show, without anything that acts when it is opened.

Cleaning runs in the grader itself, so it takes time in proportion to the text, whatever the
text is: no parser that repairs, no pattern that tries again, and nothing deep. (A parser that
repairs opens elements again: nh3 0.3 makes 117 MB of 50 kB, and aborts the process at 100 kB.)
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from html import escape, unescape
from xml.etree import ElementTree

from bleach.css_sanitizer import CSSSanitizer

_LONGEST = 200_000  # characters of HTML
_DEEPEST = 100  # elements in one another
_LONGEST_STYLE = 1000
_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "details"),
    *("div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p"),
    *("pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td"),
    *("tfoot", "th", "thead", "tr", "u", "ul"),
}
_ENDLESS = {  # need no end, and end their like
    *("br", "col", "colgroup", "dd", "dt", "hr", "li", "p", "tbody", "td", "tfoot", "th", "thead"),
    "tr",
}
_ATTRIBUTES = {
    *("class", "style", "title", "colspan", "rowspan", "border", "align", "open", "href", "hidden"),
}
_UNSEEN = {"style", "script", "title", "head"}
_TOKEN = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.S)
_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>])")
_ATTRIBUTE = re.compile(r"[\s/]*([^\s/>\"'=]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=>`]+))?")

_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    *("svg", "g", "defs", "symbol", "use", "clipPath", "mask", "marker", "pattern", "title"),
    *("desc", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"),
    *("tspan", "linearGradient", "radialGradient", "stop"),
}
_OUTSIDE = re.compile(r"url\((?!\s*['\"]?#)|expression|@import|javascript:", re.I)
ElementTree.register_namespace("", _SVG[1:-1])


class TooMuch(ValueError):
    """Not looked through, and so not shown; the text says why."""


def safe_html(text: str) -> str:
    """``text`` with known tags and attributes only, each ended where it has to be.

    Raises:
        TooMuch: it is too long, or too deep.
    """
    if len(text) > _LONGEST:
        raise TooMuch(f"more than {_LONGEST:,} characters of HTML")
    cleaner = _Cleaner()
    at = 0
    for token in _TOKEN.finditer(text):
        cleaner.take_text(text[at : token.start()])
        cleaner.take_tag(token[0])
        at = token.end()
    cleaner.take_text(text[at:])
    return _without_href(cleaner.finish())


class _Cleaner:
    """Writes HTML anew: a ``<`` in it is the beginning of a tag that was made here."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[str] = []
        self._count: Counter[str] = Counter()
        self._unseen = ""

    def take_text(self, text: str) -> None:
        if not self._unseen:
            self._parts.append(text.replace("<", "&lt;"))

    def take_tag(self, text: str) -> None:
        tag = _NAME.match(text)
        if tag is None:
            if text[1] not in "!?/" and not text[1].isalpha():  # as in 1 < 2 > 0
                self.take_text(text)
            return
        ends, name = bool(tag[1]), tag[2].lower()
        if self._unseen or name in _UNSEEN:
            if ends and name == self._unseen:
                self._unseen = ""
            elif not ends and not self._unseen:
                self._unseen = name
        elif name in _TAGS and ends:
            self._end(name)
        elif name in _TAGS:
            self._begin(name, _attributes(text, tag.end()))

    def finish(self) -> str:
        self._parts += [f"</{name}>" for name in reversed(self._open)]
        return "".join(self._parts)

    def _begin(self, name: str, attributes: str) -> None:
        if name not in _ENDLESS:
            self._open.append(name)
            self._count[name] += 1
            if len(self._open) > _DEEPEST:
                raise TooMuch(f"HTML with more than {_DEEPEST} elements in one another")
        self._parts.append(f"<{name}{attributes}>")

    def _end(self, name: str) -> None:
        if name in _ENDLESS:
            self._parts.append(f"</{name}>")
        while self._count[name]:
            last = self._open.pop()
            self._count[last] -= 1
            self._parts.append(f"</{last}>")
            if last == name:
                break


def _attributes(tag: str, at: int) -> str:
    """The attributes that we know, as they are written in HTML."""
    found: dict[str, str] = {}
    while part := _ATTRIBUTE.match(tag, at):
        at = part.end()
        name, value = part[1].lower(), part[2] or ""
        if name not in _ATTRIBUTES or name in found:
            continue
        value = unescape(value[1:-1] if value[:1] in ("'", '"') else value)
        if name == "style":
            value = _style(value)
        if (value or name in ("open", "hidden")) and (name != "href" or _leads_nowhere_bad(value)):
            found[name] = value
    return "".join(f' {name}="{escape(value)}"' for name, value in found.items())


@lru_cache(maxsize=1000)
def _style(text: str) -> str:
    """The style without what loads or covers things; nothing if it is none that people write."""
    if len(text) > _LONGEST_STYLE or sum(map(text.count, "([{")) > 20:  # it is read recursively
        return ""
    return CSSSanitizer().sanitize_css(text)


def safe_svg(text: str) -> str | None:
    """A picture of shapes and words alone; None if ``text`` is none.

    Raises:
        TooMuch: it is too long, or too deep.
    """
    if len(text) > 5 * _LONGEST:
        raise TooMuch(f"a picture of more than {5 * _LONGEST:,} characters")
    if "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper():
        return None
    try:
        root = ElementTree.fromstring(text, ElementTree.XMLParser(target=_Shallow()))
    except TooMuch:
        raise
    except (ElementTree.ParseError, ValueError):
        return None
    if root.tag not in (f"{_SVG}svg", "svg"):
        return None
    _strip(root)
    return _without_href(ElementTree.tostring(root, encoding="unicode"))


class _Shallow(ElementTree.TreeBuilder):
    """Stops before a tree becomes too deep for those who walk through it."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise TooMuch(f"a picture with more than {_DEEPEST} elements in one another")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag)


def _strip(element: ElementTree.Element) -> None:
    element[:] = [child for child in element if child.tag.removeprefix(_SVG) in _SHAPES]
    for child in element:
        _strip(child)
    for name, value in list(element.attrib.items()):
        local = name.rpartition("}")[2].lower()
        points_out = local in ("href", "src") and not value.strip().startswith("#")
        if local.startswith("on") or points_out or _OUTSIDE.search(value):
            del element.attrib[name]


_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(_TAGS))})\s*/?>)(?=[A-Za-z/!?])", re.I)
_TARGET = re.compile(r"(\]\(|\]:)([\s<>]*)([^\s<>()\[\]]+)")  # > begins lines of a quotation
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
_GOOD = re.compile(r"(?:https?|mailto|attachment):|data:image/(?:png|jpeg|gif);", re.I)


def safe_markdown(text: str) -> str:
    """The text of a cell with every tag shown as text, but for plain ones without attributes.

    Links lead to the web, to a mail, or to another place in the notebook.
    """
    return _TAG.sub("&lt;", _safe_links(text))


def _safe_links(markdown: str) -> str:
    """A target with another scheme is made a place in the page, which does not exist."""

    def made_safe(link: re.Match[str]) -> str:
        return link[0] if _leads_nowhere_bad(link[3]) else f"{link[1]}{link[2]}#{link[3]}"

    return _without_href(_TARGET.sub(made_safe, markdown))


def _leads_nowhere_bad(target: str) -> bool:
    """Whether a link may lead there, however its scheme is written."""
    for _ in range(2):  # what one reader decodes may be decoded by the next one
        target = unescape(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", target))
    plain = re.sub(r"[\x00-\x20\x7f-\xa0\xad\u200b-\u200f\ufeff]+", "", target)
    return _SCHEME.match(plain) is None or _GOOD.match(plain) is not None


def _coded(character: str, *names: str) -> str:
    """A pattern for a character, or what stands for it in HTML."""
    code = ord(character)
    coded = rf"&(?:#0*{code};?|#[xX]0*(?i:{code:x});?{''.join(f'|{name};' for name in names)})"
    return rf"(?:{re.escape(character)}|{coded})"


_HREF = re.compile(_coded("\\", "bsol") + "".join(map(_coded, "href")) + r"(?![A-Za-z])")


def _without_href(text: str) -> str:
    r"""Maths without ``\href``: where it would lead is shown as text."""
    return _HREF.sub(r"\\text", text)


def _safe_shown_markdown(text: str) -> str:
    return _safe_links(safe_html(text))


#: How each form of an output is made safe.
SAFE = {
    "text/html": safe_html,
    "text/markdown": _safe_shown_markdown,
    "text/latex": _without_href,
    "image/svg+xml": safe_svg,
}
