"""Random accidents: to the cells of a notebook, and to zips."""

from __future__ import annotations

import json
import stat
from copy import deepcopy

import nbformat
from hypothesis import strategies as st
from nbformat.notebooknode import NotebookNode

from tests.support.collect_class import FIRST, SECOND, order, zip_of, zip_of_pairs

ACCIDENTS = ["delete", "duplicate", "retype", "strip", "rename", "flip", "move", "paste", "edit"]


@st.composite
def damaged(draw: st.DrawFn, notebook: NotebookNode) -> tuple[NotebookNode, set[str]]:
    """A notebook after some accidents, and the grade_ids that none of them has touched."""
    result = deepcopy(notebook)
    ids = order(notebook)
    untouched = set(ids)
    for _ in range(draw(st.integers(0, 6))):
        places = [at for at, cell in enumerate(result.cells) if "nbgrader" in cell.metadata]
        if not places:
            break
        at = draw(st.sampled_from(places))
        cell = result.cells[at]
        grade_id = cell.metadata.nbgrader.get("grade_id")
        accident = draw(st.sampled_from(ACCIDENTS))
        if accident not in ("duplicate", "flip", "paste", "move", "retype"):
            untouched.discard(grade_id)
        if accident == "delete":
            del result.cells[at]
        elif accident == "duplicate":
            result.cells.insert(draw(st.integers(0, len(result.cells))), deepcopy(cell))
        elif accident == "move":
            result.cells.insert(draw(st.integers(0, len(result.cells) - 1)), result.cells.pop(at))
        elif accident == "strip":
            cell.metadata.clear()
        elif accident == "rename":
            cell.metadata.nbgrader.grade_id = draw(st.sampled_from(["x", *ids]))
        elif accident == "flip":
            flag = draw(st.sampled_from(["grade", "locked", "solution", "task", "points"]))
            cell.metadata.nbgrader[flag] = draw(st.sampled_from([True, False, None, 7]))
        elif accident == "paste":
            own = nbformat.v4.new_code_cell(draw(st.sampled_from(["1 + 1", "x = 3", "# a note"])))
            result.cells.insert(at, own)
        elif accident == "edit":
            cell.source = draw(st.sampled_from(["", "pass", "assert True", cell.source[::-1]]))
        else:
            types = ["code", "markdown", "raw"]
            cell.cell_type = draw(st.sampled_from(types))
    return result, untouched


KEYS = ["cells", "cell_type", "source", "metadata", "nbgrader", "grade_id", "worksheets"]
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
garbage = st.binary(max_size=80) | json_values.map(lambda value: json.dumps(value).encode())
file_names = st.sampled_from(
    [f"{FIRST}.ipynb", f"{SECOND}.ipynb", "a.dot", "../a.dot", "/x.ipynb", "in.zip", "d/", "", ".."]
) | st.text(max_size=12)


@st.composite
def bad_zips(draw: st.DrawFn) -> bytes:
    """A zip of garbage, perhaps in another one, perhaps with a few bytes changed or cut off."""
    pairs = draw(st.lists(st.tuples(file_names, garbage), max_size=5))
    mode = draw(st.sampled_from([0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR]))
    data = bytearray(zip_of_pairs([(clean(n), d) for n, d in pairs], mode=mode | 0o777))
    for _ in range(draw(st.integers(0, 4))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    data = data[: draw(st.sampled_from([len(data), len(data), draw(st.integers(0, len(data)))]))]
    return zip_of({"in.zip": bytes(data)}) if draw(st.booleans()) else bytes(data)


def clean(name: str) -> str:
    return name.encode("utf-8", "ignore").decode()
