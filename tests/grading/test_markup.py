"""What students show can be looked at without harm, and honest outputs stay what they are."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html.parser import HTMLParser
from types import FrameType
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbconvert.exporters import HTMLExporter

from autograder.grading.sandbox.clean.hostile import clean_output
from autograder.grading.sandbox.clean.markup import (
    SAFE,
    TooMuch,
    safe_html,
    safe_markdown,
    safe_svg,
)

ACTIVE = re.compile(
    r"<\s*(script|iframe|object|embed|form|base|meta|link|foreignObject|animate|set|image)\b"
    r"|\son\w+\s*=|javascript:|url\(\s*['\"]?https?:|<!ENTITY",
    re.I,
)

HTML = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<div style='background:url(https://x/y)'>x</div>",
    "<svg><script>alert(1)</script></svg>",
    "<form action='https://x'><input name=password></form>",
    "<meta http-equiv=refresh content='0;url=https://x'>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<style>@import 'https://x'</style><b>bold</b>",
    "<!-- <script> --><script>alert(1)</script>",
]
SVG = [
    "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script><g/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    "<svg xmlns='http://www.w3.org/2000/svg'><foreignObject><b/></foreignObject></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><image href='https://x/y.png'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><rect style='fill:url(https://x)'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><use href='https://x#y'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><set onbegin='alert(1)'/></svg>",
    "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>",
    "<html><script>alert(1)</script></html>",
    "no picture",
]


@pytest.mark.parametrize("text", HTML)
def test_html_does_nothing(text: str) -> None:
    assert not ACTIVE.search(safe_html(text) or "")


@pytest.mark.parametrize("text", SVG)
def test_svg_does_nothing(text: str) -> None:
    assert not ACTIVE.search(safe_svg(text) or "")


def test_markdown_is_cleaned_like_html_and_other_forms_are_dropped() -> None:
    data = {"text/markdown": "# hi <script>alert(1)</script>", "application/javascript": "x"}
    raw = {"output_type": "display_data", "data": {**data, "text/html": "<b onclick=x>y</b>"}}
    output = clean_output(raw)
    assert output is not None
    assert output["data"] == {"text/markdown": "# hi ", "text/html": "<b>y</b>"}


def test_a_table_stays_a_table() -> None:
    html = safe_html(pd.DataFrame({"x": [1, 2], "y": ["a", "<b>"]}).to_html())
    assert html is not None
    assert html.count("<tr") == 3
    assert "&lt;b&gt;" in html


def test_a_picture_stays_a_picture() -> None:
    text = (
        "<svg xmlns='http://www.w3.org/2000/svg' width='9'><defs><clipPath id='c'/></defs>"
        "<g clip-path='url(#c)'><rect x='1' style='fill:red'/><text>a &lt; b</text></g></svg>"
    )
    safe = safe_svg(text)
    assert safe is not None
    for part in ("url(#c)", "fill:red", "a &lt; b", 'width="9"', "<clipPath"):
        assert part in safe


def svg(content: str) -> str:
    return f"<svg xmlns='http://www.w3.org/2000/svg'>{content}</svg>"


#: What costs a parser that repairs HTML far more than it costs to write.
COSTLY = {
    "many elements in one another": "<div>" * 5000,
    "tags that do not end": "<style " * 5000,
    "attributes": "<b " + "a " * 15_000 + ">",
    "elements to be opened again": "<p>"
    + "".join(f"<b title={number}>" for number in range(90))
    + "</p><p>x" * 3000,
    "a comment that does not end": "<!--" * 8000,
    "quotes": "<b a=\"'" * 5000,
    "lists in lists": "<ul><li>" * 3000,
    "brackets": f"<b style='color:{'(' * 900}'>" * 30,
}


def steps(work: Callable[[], Any], most: int) -> int:
    """How many lines of Python run; it is ended when there are more than ``most``."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        assert count <= most, "too much work"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        with suppress(TooMuch):
            work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("what", COSTLY)
def test_work_and_result_are_in_proportion_to_what_is_shown(what: str) -> None:
    text = COSTLY[what]
    for kind in ("text/html", "text/markdown"):
        assert steps(partial(SAFE[kind], text), 10 * len(text)) > 0
        with suppress(TooMuch):
            assert len(SAFE[kind](text) or "") <= 4 * len(text)


def test_what_is_too_long_or_too_deep_is_left_out() -> None:
    for text in ("x" * 1_000_000, "<div>" * 101):
        with pytest.raises(TooMuch):
            safe_html(text)
    for text in ("<g>" * 2000 + "</g>" * 2000, "<g/>" * 300_000):
        with pytest.raises(TooMuch):
            safe_svg(svg(text))
    assert safe_html("<div>" * 100 + "<p>" * 1000)
    assert safe_svg(svg("<g>" * 99 + "</g>" * 99))


def test_html_ends_what_it_begins() -> None:
    assert safe_html("<b><i>x</b></i></div>y<p>1<p>2<ul><li>3") == (
        "<b><i>x</i></b>y<p>1<p>2<ul><li>3</ul>"
    )
    assert safe_html("1 < 2 > 0 <3 & <b") == "1 &lt; 2 > 0 &lt;3 & &lt;b"


def test_attributes_are_written_anew() -> None:
    given = "<td COLSPAN=2 title='a \"&lt;\"' class=x class=y onclick='z' style='color: red'/>"
    wanted = '<td colspan="2" title="a &quot;&lt;&quot;" class="x" style="color: red;">'
    assert safe_html(given) == safe_html(wanted) == wanted


SCRIPTS = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "&#106;avascript:alert(1)",
    "&#x0006Aavascript:alert(1)",
    "javascript\\:alert(1)",
    "javascript&colon;alert(1)",
    "java&Tab;script:alert(1)",
    "&#1;javascript:alert(1)",
    "&amp;#106;avascript:alert(1)",
    "vbscript:x",
    "data:text/html,x",
    "data:image/svg+xml,x",
    "file:///etc/passwd",
]
LINKS = [
    "[x]({})",
    "[x]( \n<{}>)",
    "[x]({} 'title')",
    "[x](< {}>)",
    "> [x](\n> {})",
    "[![x](y.png)]({})",
    "[r]\n\n[r]: {}",
    "[r]\n\n[r]:\n   <{}>",
    "[r]:\n\n[r]:{}\n\n[r]",
    "<{}>",
    "<a href='{}'>x</a>",
]


class _Targets(HTMLParser):
    """Where the links of a page lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name == "href" and tag == "a"]


def page_of(*texts: str) -> str:
    """Texts in cells and in outputs, on the page that nbgrader's feedback is made of."""
    book = nbformat.v4.new_notebook()
    for text in texts:
        told, shown = (
            nbformat.v4.new_markdown_cell(safe_markdown(text)),
            nbformat.v4.new_code_cell(),
        )
        book.cells += [told, shown]
        for kind in ("text/markdown", "text/html", "text/latex"):
            output = clean_output({"output_type": "display_data", "data": {kind: text}})
            shown.outputs += [nbformat.from_dict(output)] if output else []
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(book)
    return page[page.index("<body") :]


@pytest.mark.parametrize("form", LINKS)
def test_no_link_does_anything_but_lead_to_a_page(form: str) -> None:
    page = page_of(*(form.format(script) for script in SCRIPTS))
    plain = [re.sub(r"[\x00-\x20]", "", target) for target in _Targets(page).found]
    assert not [target for target in plain if re.match(r"[a-z][a-z0-9+.-]*:", target, re.I)]


def test_honest_links_stay_links() -> None:
    honest = [
        "https://a.b/c?d=e:f",
        "http://a",
        "mailto:a@b.c",
        "#place",
        "02_other.ipynb",
        "x/y:z",
    ]
    text = " ".join(f"[x]({target})" for target in honest) + "\n\n[r]\n\n[r]: https://r.s"
    assert safe_markdown(text) == text
    assert set(_Targets(page_of(text)).found) >= {*honest, "https://r.s"}
    picture = "![x](attachment:a.png) ![x](data:image/png;base64,AAAA)"
    assert safe_markdown(picture) == picture


def test_maths_has_no_links() -> None:
    forms = (r"\href", r"\\href", "&#92;href", r"\h&#x72;ef", "&bsol;href")
    page = page_of(*(f"$x + {form}{{javascript:alert(1)}}{{y}}$" for form in forms))
    assert page.count("text{javascript:alert(1)}{y}") == 4 * len(forms)
    assert not [form for form in forms if form in page]
    picture = safe_svg(svg(r"<text>$\href{javascript:x}{y}$</text>"))
    assert picture is not None
    assert r"\href" not in picture


def test_text_cells_keep_their_markdown_and_lose_their_tags() -> None:
    text = "a < b, x<y\n<details><summary>Help</summary>\n<b onclick=x>y</b> <script>z</script>"
    assert safe_markdown(text) == (
        "a < b, x&lt;y\n<details><summary>Help</summary>\n"
        "&lt;b onclick=x>y</b> &lt;script>z&lt;/script>"
    )
