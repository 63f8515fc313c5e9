"""HTML, SVG and Markdown that students show, without anything that acts when it is opened."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import bleach
from bleach.css_sanitizer import CSSSanitizer

_LONGEST = 200_000  # characters of HTML; cleaning takes its time
_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "details"),
    *("div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "li", "ol", "p"),
    *("pre", "s", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td"),
    *("tfoot", "th", "thead", "tr", "u", "ul"),
}
_ATTRIBUTES = ["class", "style", "title", "colspan", "rowspan", "border", "align", "open", "href"]
_UNSEEN = re.compile(r"<(style|script|title|head)\b.*?</\1\s*>", re.I | re.S)

_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    *("svg", "g", "defs", "symbol", "use", "clipPath", "mask", "marker", "pattern", "title"),
    *("desc", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text"),
    *("tspan", "linearGradient", "radialGradient", "stop"),
}


def safe_html(text: str) -> str | None:
    """``text`` with known tags only; None if it is too long to be looked through."""
    if len(text) > _LONGEST:
        return None
    return bleach.clean(
        _UNSEEN.sub("", text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        protocols={"http", "https", "mailto"},
        css_sanitizer=CSSSanitizer(),
        strip=True,
    )


def safe_svg(text: str) -> str | None:
    """A picture of shapes and words alone; None if ``text`` is none."""
    if len(text) > 5 * _LONGEST or "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper():
        return None
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    if root.tag not in (f"{_SVG}svg", "svg"):
        return None
    _strip(root)
    ElementTree.register_namespace("", _SVG[1:-1])
    return ElementTree.tostring(root, encoding="unicode")


def _strip(element: ElementTree.Element) -> None:
    for child in list(element):
        tag = child.tag.removeprefix(_SVG) if isinstance(child.tag, str) else ""
        if tag in _SHAPES:
            _strip(child)
        else:
            element.remove(child)
    for name, value in list(element.attrib.items()):
        local = name.rpartition("}")[2].lower()
        points_out = local in ("href", "src") and not value.strip().startswith("#")
        outside = re.search(r"url\(\s*['\"]?\s*(?!#)|expression|@import|javascript:", value, re.I)
        if local.startswith("on") or points_out or outside:
            del element.attrib[name]


_TAG = re.compile(rf"<(?!/?(?:{'|'.join(sorted(_TAGS))})\s*/?>)(?=[A-Za-z/!?])", re.I)


def safe_markdown(text: str) -> str:
    """The text of a cell with every tag shown as text, but for plain ones without attributes."""
    return _TAG.sub("&lt;", text)


#: How each form of an output is made safe.
SAFE = {"text/html": safe_html, "text/markdown": safe_html, "image/svg+xml": safe_svg}
