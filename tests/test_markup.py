"""What students show can be looked at without harm, and honest outputs stay what they are."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from autograder.executor.hostile import clean_output
from autograder.executor.markup import safe_html, safe_markdown, safe_svg

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


def test_what_is_too_long_is_left_out() -> None:
    assert safe_html("x" * 1_000_000) is None


def test_text_cells_keep_their_markdown_and_lose_their_tags() -> None:
    text = "a < b, x<y\n<details><summary>Help</summary>\n<b onclick=x>y</b> <script>z</script>"
    assert safe_markdown(text) == (
        "a < b, x&lt;y\n<details><summary>Help</summary>\n"
        "&lt;b onclick=x>y</b> &lt;script>z&lt;/script>"
    )
