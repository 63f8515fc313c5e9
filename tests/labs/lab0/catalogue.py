"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from tests.support.catalogue import Cell

IMPORTS = "import re\n\nimport numpy as np\n"


def _function(name: str, body: str, *says: str, most: float = 0.5) -> Cell:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return Cell(name, "1.1", f"{IMPORTS}\n\ndef tensor_bytes(shape, dtype):\n{lines}\n", says, most)


def _file(name: str, code: str, *says: str) -> Cell:
    return Cell(name, "1.2", code, says)


BITS = 'bits = 8 if dtype == "bool" else int(re.search("[0-9]+", dtype)[0])\n'
ROWS = "[(name, array.nbytes) for name, array in tiny_model().items()]"


def _written(rows: str, first: str = "tensor,bytes", mode: str = "w") -> str:
    return (
        f'with open("bytes.csv", "{mode}") as file:\n'
        f"    print({first!r}, file=file)\n"
        f'    for row in {rows}:\n        print(*row, sep=",", file=file)\n'
    )


WRONG = (
    _function("bits in place of bytes", BITS + "return math.prod(shape) * bits", "192", "are bits"),
    _function("elements in place of bytes", "return math.prod(shape)", "each takes 4 bytes"),
    _function(
        "lengths are added", BITS + "return sum(shape) * bits // 8", "20 bytes", "multiply them"
    ),
    _function(
        "every dtype takes four bytes",
        "return math.prod(shape) * 4",
        "You count 4 bytes for each element",
        "is its bits",
    ),
    _function(
        "a bool is a bit",
        BITS + 'bits = 1 if dtype == "bool" else bits\nreturn math.prod(shape) * bits // 8',
        "7 bytes",
        "63 bytes",
        "a whole byte",
    ),
    _function(
        "a bool is a bit, and bytes may be broken",
        BITS + 'bits = 1 if dtype == "bool" else bits\nreturn math.prod(shape) * bits / 8',
        "7.875 bytes",
        "a whole byte",
    ),
    _function(
        "no dimension, no element",
        BITS + "return math.prod(shape) * bits // 8 if shape else 0",
        "a single number",
        "a product of no factors is 1",
    ),
    _function(
        "a length of 0 counts as 1",
        BITS + "return math.prod(n or 1 for n in shape) * bits // 8",
        "a batch of nothing",
        "there is no element",
    ),
    _function(
        "the tensor is made",
        "return np.empty(shape, dtype).nbytes",
        "MemoryError",
        "more than any computer holds",
        "return np.empty(shape, dtype).nbytes",
    ),
    _function("nothing comes back", BITS + "print(math.prod(shape) * bits // 8)", "is None"),
    _function("words come back", 'return "24 bytes"', "A number is wanted there"),
    _function(
        "bool is forgotten",
        'return math.prod(shape) * int(dtype.strip("abcdefilnotu")) // 8',
        "and a mask",
        "ValueError",
    ),
    _function("still to be written", "raise NotImplementedError", "still to be written"),
    Cell(
        "a parameter is missing",
        "1.1",
        "def tensor_bytes(shape):\n    return 4 * math.prod(shape)",
        ("it takes (shape)", "must take (shape, dtype)"),
    ),
    _file("no file", "pass", "there is no file bytes.csv", "Run the cell that writes it"),
    _file(
        "no first line",
        _written(ROWS)
        .replace("print('tensor,bytes'", "('tensor,bytes'")
        .replace(", file=file)\n    for", ")\n    for"),
        "begins with 'embedding,128000'",
    ),
    _file("other columns", _written(ROWS, "name,size"), "'name,size'", "'tensor,bytes'"),
    _file("semicolons", _written(ROWS, "tensor;bytes").replace('","', '";"'), "a comma between"),
    _file("a tensor is left out", _written(f"{ROWS}[1:]"), "no row for embedding"),
    _file(
        "a total that nobody asked for",
        _written(f'[*{ROWS}, ("total", 226304)]'),
        "a row for 'total'",
        "and no other",
    ),
    _file("it grows", 2 * _written(ROWS, mode="a"), "a row for 'tensor'", '("w")'),
    _file(
        "elements in the file",
        _written(ROWS.replace("nbytes", "size")),
        "attention: 12288",
        "attention: 49152",
        "nbytes is the number of bytes",
    ),
    _file("bits in the file", _written(ROWS.replace("array.nbytes", "8 * array.nbytes")), "bits"),
    _file(
        "kilobytes",
        _written(ROWS.replace("array.nbytes", "array.nbytes / 1024")),
        "not in thousands",
    ),
    _file(
        "a unit behind the number",
        _written(ROWS.replace("array.nbytes", 'f"{array.nbytes} bytes"')),
        "Digits alone",
    ),
    _file(
        "one number for all",
        _written(ROWS.replace("array.nbytes", "7")),
        "The array's own nbytes is wanted",
    ),
)

RIGHT = (
    _function("numpy's size of an element", "return math.prod(shape) * np.dtype(dtype).itemsize"),
    _function("numpy's product", "return np.prod(shape, dtype=int) * np.dtype(dtype).itemsize"),
    _function(
        "a table of sizes and a loop",
        'sizes = {"bool": 1, "int8": 1, "float16": 2, "float32": 4, "float64": 8, "int64": 8}\n'
        "total = sizes[dtype]\nfor length in shape:\n    total *= length\nreturn total",
    ),
    _function("a float that is whole", BITS + "return math.prod(shape) * (bits / 8)"),
    _function(
        "a word printed on the way", BITS + "print(shape)\nreturn bits // 8 * math.prod(shape)"
    ),
    _function(
        "a function that calls itself",
        BITS + "if not shape:\n    return bits // 8\n"
        "return shape[0] * tensor_bytes(shape[1:], dtype)",
    ),
    Cell(
        "other names and a default",
        "1.1",
        f'{IMPORTS}\n\ndef tensor_bytes(lengths, kind="float32"):\n'
        "    return int(np.dtype(kind).itemsize * math.prod(lengths))",
    ),
    _file("print", _written(ROWS)),
    _file("rows in another order", _written(f"reversed({ROWS})")),
    _file(
        "pandas, with its index",
        f'import pandas as pd\npd.DataFrame({ROWS}, columns=["tensor", "bytes"])'
        '.to_csv("bytes.csv")',
    ),
    _file(
        "quotes and carriage returns",
        'with open("bytes.csv", "w", newline="") as file:\n'
        "    table = csv.writer(file, quoting=csv.QUOTE_ALL)\n"
        f'    table.writerows([("tensor", "bytes"), *{ROWS}])',
    ),
    _file("blanks behind commas", _written(ROWS, "tensor, bytes").replace('","', '", "')),
    _file("floats", _written(ROWS.replace("array.nbytes", "float(array.nbytes)"))),
)

#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (("1.1", "* bits / 8", "a float that is whole is the same number"),)
