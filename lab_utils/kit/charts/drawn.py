"""A picture as a notebook shows it, and values that draw themselves.

How a value is drawn is registered with ``drawing_of``, by modules that know the value: the
value knows none of them. Where these modules are, ``picture_book`` is told.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import singledispatch
from hashlib import md5
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture in every form that some reader of a notebook needs.

    ``html`` takes the page's colours and answers to the mouse; ``svg`` stands alone, for
    pages that strip HTML; ``words`` are for terminals, and the caption. ``below`` are more
    pictures that belong to it, each standing alone.
    """

    html: str
    svg: str
    words: str
    below: tuple[str, ...] = ()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {
            "text/html": self._page(),
            "image/svg+xml": self.svg,
            "text/plain": self.words,
        }

    def _page(self) -> str:
        """HTML that is whole where a notebook is trusted, and images where it is not.

        A notebook that somebody else ran is shown without styles and without SVG: of a picture
        only its words would be left. So the picture is hidden, a style shows it, and the same
        style hides the images. Where the style is taken out, the images are what is left.
        """
        if "<svg" not in self.html:
            return self.html
        name = f"drawn-{md5(self.html.encode(), usedforsecurity=False).hexdigest()[:12]}"
        images = "".join(map(_image, (self.svg, *self.below)))
        return (
            f"<style>.{name}-live{{display:block!important}}.{name}-still{{display:none}}</style>"
            f'<div class="{name}-live" hidden style="display:none">{self.html}</div>'
            f'<div class="{name}-still">{images}'
            f"<details><summary>in words</summary><pre>{escape(self.words)}</pre></details></div>"
        )

    def __repr__(self) -> str:
        return self.words

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def _image(svg: str) -> str:
    """A picture that stands alone as an image in the page; what it says is its other text."""
    label = re.search(r'aria-label="([^"]*)"', svg)
    data = b64encode(svg.encode()).decode("ascii")
    told = label[1] if label else ""
    return f'<img alt="{told}" src="data:image/svg+xml;base64,{data}" style="max-width:100%">'


def drawing(svg: Callable[[bool], str], words: str, caption: str = "") -> Drawing:
    """A drawing from a function that gives the SVG alone (True) or inline (False)."""
    below = f'<div style="font-size:90%;opacity:.85">{escape(caption)}</div>' if caption else ""
    return Drawing(f"<div>{svg(False)}{below}</div>", svg(True), words)


def drawing_of_words(words: str) -> Drawing:
    """Where there is nothing to draw: the words alone, as a picture too."""
    rows = words.splitlines() or [""]
    lines = "".join(
        f'<text x="8" y="{20 + 16 * place}">{escape(row)}</text>' for place, row in enumerate(rows)
    )
    wide, high = 16 + 8 * max(map(len, rows)), 16 * len(rows) + 16
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" role="img" '
        f'aria-label="{escape(words)}" font-family="monospace" font-size="12">{lines}</svg>'
    )
    return Drawing(f'<pre style="white-space:pre-wrap">{escape(words)}</pre>', svg, words)


def stacked(*drawings: Drawing) -> Drawing:
    """One below the other; where all HTML is taken out, the first alone."""
    first, *others = drawings
    return Drawing(
        "".join(one.html for one in drawings),
        first.svg,
        "\n".join(one.words for one in drawings),
        (*first.below, *(svg for one in others for svg in (one.svg, *one.below))),
    )


_books: list[str] = []


def picture_book(module: str) -> None:
    """``module`` registers drawings; it is imported when a value is shown that nobody can draw.

    So a package tells where its pictures are, and its values need not know them.
    """
    _books.append(module)


def open_books() -> None:
    """Import all picture books now, for a process that will show values and has no time then.

    One that does not load is left for later: who shows a value of it is told why.
    """
    for book in list(_books):
        with suppress(Exception):
            import_module(book)
            _books.remove(book)


@singledispatch
def drawing_of(value: Any) -> Drawing:
    """The picture of ``value``, by the function that is registered for its type.

    Raises:
        TypeError: there is none, in no picture book either.
    """
    known = drawing_of.dispatch(object)
    while (draw := drawing_of.dispatch(type(value))) is known:
        if not _books:
            raise TypeError(f"no picture of a {type(value).__name__} is known")
        book = _books[0]
        import_module(book)  # what fails to load is tried, and told, again next time
        _books.remove(book)
    return draw(value)


class DrawsItself:
    """Base of our values: a bare name in a cell is the picture that ``drawing_of`` finds."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return drawing_of(self)._repr_mimebundle_()
