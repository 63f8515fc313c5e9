"""Cells that every notebook has and no source writes: the start, and the hand-in at the end."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.cells import SHOWS, TASK
from lab_utils.kit.course import RELEASE_NAME, Assignment, Course, Notebook
from lab_utils.kit.lab import handed_in

FRAME = ("start", "hand-in-text", "hand-in")  # the ids of these cells

# On Colab there is no lab_utils yet, so that this has to find or fetch it by itself.
START = """\
# @title Run this cell first
# On Colab it brings the lab's files; everywhere it says what is missing.
import sys
import zipfile
from pathlib import Path

KEEP_IN_DRIVE = True  # @param {type:"boolean"}
if "google.colab" in sys.modules:
    from urllib.request import urlretrieve

    from google.colab import drive, files

    places = [Path("/content")]
    if KEEP_IN_DRIVE:
        try:
            drive.mount("/content/drive")
            places.insert(0, Path("/content/drive/MyDrive"))
        except Exception as error:
            print("Drive is not used:", error)
            print("So your work is gone when Colab ends this session. Download it before")
            print("(File > Download), or run this cell again and allow Drive.")

    def releases():
        paths = [path for place in places for path in place.glob("@RELEASE@*")]
        zips = [path for path in paths if zipfile.is_zipfile(path)]
        folders = [path for path in paths if (path / ".unpacked").is_file()]
        return folders + [path / zipfile.ZipFile(path).namelist()[0].split("/")[0] for path in zips]

    if not releases():
        try:
            urlretrieve("@URL@", "/content/@RELEASE@.zip")
        except (OSError, ValueError):
            print("Choose the zip of the release (@RELEASE@-….zip):")
            files.upload()
    assert releases(), "There is no @RELEASE@-….zip yet: run this cell again and choose it."
    sys.path.insert(0, str(releases()[0]))
    from lab_utils.kit.machine.colab import begin

    begin("@LAB@", places)
else:  # the release in which this notebook lies, unless lab_utils is installed
    sys.path += [str(path) for path in Path.cwd().parents if (path / "lab_utils").is_dir()]

from lab_utils.kit.machine.environment import check_environment

check_environment();"""

#: Its text is folded away in JupyterLab and on Colab: it is to be run, not read.
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}

#: Where a notebook is graded, lab_utils is there, and nobody packs anything.
NOT_GRADED = {TASK: {SHOWS: True}}

TEXT = """\
## Hand in

Save all notebooks of this lab. Then run this cell and press the button: it runs them once \
more, says what is unfinished and what the public checks give, and writes one zip with @FILES@."""

HAND_IN = """\
from lab_utils.kit.hand_in import pack_widget

pack_widget("@LAB@")"""


def add_frame(built: NotebookNode, course: Course, lab: Assignment, notebook: Notebook) -> None:
    """Put the start before the first code cell, and the hand-in at the end of the last notebook."""
    *some, last = ["the notebooks", *(f"`{file.name}`" for file in handed_in(lab.id))]
    files = f"{', '.join(some)} and {last}" if some else last
    values = {"@LAB@": lab.id, "@RELEASE@": RELEASE_NAME, "@URL@": course.release_url}
    values["@FILES@"] = files

    def filled(template: str) -> str:
        for name, value in values.items():
            template = template.replace(name, value)
        return template

    kinds = [cell.cell_type for cell in built.cells]
    first = kinds.index("code") if "code" in kinds else len(kinds)
    start = new_code_cell(filled(START), id=FRAME[0], metadata={**FOLDED, **NOT_GRADED})
    built.cells.insert(first, start)
    if notebook is lab.notebooks[-1]:
        built.cells.append(new_markdown_cell(filled(TEXT), id=FRAME[1]))
        hand_in = new_code_cell(filled(HAND_IN), id=FRAME[2], metadata=dict(NOT_GRADED))
        built.cells.append(hand_in)
