"""The pages of nbgrader's ``generate_feedback``, which load nothing when they are opened.

nbgrader's own load scripts from the web, and whatever picture a student points to: who reads
feedback would tell a stranger so. Here pictures are in the page or not shown, maths stands as it
was written, and the page forbids the browser to load or run anything (a Content Security Policy).
"""

from __future__ import annotations

import base64
import mimetypes
import re
import secrets
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from traitlets import default

from autograder.grading.sandbox.clean.markup import SAFE, TooMuch, safe_html

POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">"
)
TEMPLATES = Path(__file__).with_name("pages") / "stock"
SHOWN = {"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml"}
PICTURES = {"image/png", "image/jpeg", "image/gif"}
LARGEST = 5_000_000
_IMG = re.compile(r"<img\b[^>]*>", re.I)
_INLINE = re.compile(r"data:image/(?:png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=\s]*", re.I)


class SelfContained(HTMLExporter):
    """Writes a notebook as one page that needs, loads and runs nothing else."""

    @default("template_paths")
    def _template_paths(self, prune: bool = True, root_dirs: Any = None) -> list[str]:
        return [str(TEMPLATES), *super()._template_paths(prune, root_dirs)]

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page."""
        page, resources = super().from_notebook_node(nb, resources, **kw)
        return page.replace("<head>", f"<head>\n{POLICY}", 1), resources

    def _preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """After all preprocessors, take out what acts or is loaded."""
        nb, resources = super()._preprocess(nb, resources)
        nb.metadata.pop("widgets", None)
        for cell in nb.cells:
            if cell.cell_type == "raw":
                cell.source = _safe("text/html", cell.source) or ""
            for output in cell.get("outputs", []):
                _clean(output)
        return nb, resources

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Text as HTML that we know, with pictures that are in the page."""
        html = super().markdown2html(context, source)
        mark = secrets.token_hex(8)
        pictures: list[str] = []

        def set_aside(tag: re.Match[str]) -> str:
            pictures.append(self._picture(tag[0], context))
            return f"{mark}-{len(pictures) - 1}-"

        html = _IMG.sub(set_aside, html)
        try:
            html = safe_html(html)
        except TooMuch:
            return f"<pre>{escape(source)}</pre>"
        return re.sub(rf"{mark}-(\d+)-", lambda found: pictures[int(found[1])], html)

    def _picture(self, tag: str, context: Any) -> str:
        about = escape(_attribute(tag, "alt"))
        address = _attribute(tag, "src").strip()
        if not _INLINE.fullmatch(address):
            address = self._of_the_lab(address, context)
        if address:
            return f'<img src="{escape(address)}" alt="{about}">'
        return f"<em>[a picture that is not shown: {about or 'without a name'}]</em>"

    def _of_the_lab(self, address: str, context: Any) -> str:
        """A picture that was released with the lab, as data; never a file that was handed in."""
        lab = context.get("resources", {}).get("nbgrader", {}).get("assignment", "")
        kind = mimetypes.guess_type(address)[0]
        if not lab or kind not in {*PICTURES, "image/svg+xml"}:
            return ""
        course = CourseDirectory(config=self.config)
        folder = Path(course.format_path(course.release_directory, ".", lab)).resolve()
        try:
            path = (folder / unquote(address)).resolve()
            if not path.is_relative_to(folder) or path.stat().st_size > LARGEST:
                return ""
            return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
        except (OSError, ValueError):
            return ""


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf"""\s{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", tag, re.I)
    return unescape(next(filter(None, found.groups()), "")) if found else ""


def _clean(output: NotebookNode) -> None:
    """An output without anything that acts, or that names a file."""
    output.pop("svg_filename", None)
    if "metadata" in output:
        output.metadata = NotebookNode()
    if "data" in output:
        kept = {kind: value for kind, value in output.data.items() if kind in SHOWN | PICTURES}
        cleaned = {kind: _safe(kind, value) for kind, value in kept.items()}
        output.data = NotebookNode({kind: value for kind, value in cleaned.items() if value})


def _safe(kind: str, text: str) -> str | None:
    if kind == "text/markdown" or kind not in SAFE:  # Markdown is cleaned when it has become HTML
        return text
    try:
        return SAFE[kind](text)
    except TooMuch:
        return None
