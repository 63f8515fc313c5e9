"""Makes a lab from ``template/``: a small one that is built, graded and released as it is.

The template lies there as the lab will lie in the repository; ``newlab`` in paths and texts
becomes the lab's name. Only ``setup/course.toml`` is there already, and gets an entry more.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole
from lab_utils.kit.root import ROOT

TEMPLATE = Path(__file__).with_name("template")
NAME, TITLE = "newlab", "A new lab"
COURSE = Path("setup/course.toml")


def new_lab(name: str, title: str = TITLE, root: Path = ROOT) -> list[Path]:
    """Write the lab ``name``; the files that are new or have grown, seen from ``root``.

    Raises:
        LabError: there is such a lab, or no lab can be called that; nothing is written.
    """
    _check(name, title)
    if name in read_course(root / COURSE).labs:
        raise LabError(f"{COURSE} has a lab {name} already: choose another name, or take it out")
    files = {path: text for path, text in _filled(name, title).items() if path != COURSE}
    for folder in sorted({path.parent for path in files}):
        if (root / folder).exists():
            raise LabError(f"there is a folder {folder} already: choose another name, or delete it")
    entry = _filled(name, title)[COURSE]
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(root / path, text)
    before = (root / COURSE).read_text(encoding="utf-8").rstrip("\n")
    write_whole(root / COURSE, f"{before}\n\n{entry}")
    return [*sorted(files), COURSE]


def _check(name: str, title: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]{1,19}", name) or keyword.iskeyword(name):
        raise LabError(
            f"a lab cannot be called {name!r}: a letter, then letters and digits, 2 to 20 of them, "
            "all small, and no word of Python's own; as in lab5"
        )
    if not re.fullmatch(r'[^"\\\x00-\x1f\x7f]{1,60}', title):
        raise LabError(
            f"a lab cannot have the title {title!r}: at most 60 characters in one line, without "
            'quotes (") and backslashes'
        )


def _filled(name: str, title: str) -> dict[Path, str]:
    """Texts by path, with the lab's name and title in place."""

    def filled(text: str) -> str:
        return text.replace(NAME, name).replace(TITLE, title)

    return {
        Path(filled(path.relative_to(TEMPLATE).as_posix())): filled(path.read_text("utf-8"))
        for path in sorted(TEMPLATE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
