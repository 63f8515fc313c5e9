"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab2a import LAB
from tests.support.catalogue import cell

_cell = partial(cell, LAB)

POSITIONS = (
    "down = (conv.height - conv.filter_height) // conv.stride + 1\n"
    "across = (conv.width - conv.filter_width) // conv.stride + 1\n"
    "window = conv.filter_height * conv.filter_width * conv.channels\n"
)
HEADS = (
    "head = 'Layer name, M, N, K,' if len(layers[0]) == 4 else "
    "'Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
    "Num Filter, Strides,'\n"
)
CONFIG = """\
return f'''[general]
run_name = mine
[architecture_presets]
ArrayHeight: {design.height}
ArrayWidth: {design.width}
IfmapSramSzkB: {design.ifmap_kb}
FilterSramSzkB: {design.filter_kb}
OfmapSramSzkB: {design.ofmap_kb}
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: {design.dataflow}
Bandwidth: {bandwidth}
[run_presets]
InterfaceBandwidth: USER
'''"""
ROWS = (
    "rows = [[float(x) for x in line.split(',')[:5]] for text in (conv_report, gemm_report)\n"
    "        for line in text.splitlines()[1:]]\n"
)
LATE = "late = halves * period - 1 - (cycles + 1)\n"
AREA = (
    "area = 525 * design.height * design.width + 1015.7 * (design.ifmap_kb + "
    "design.filter_kb + design.ofmap_kb)\n"
)
TREE = """\
from sklearn.tree import DecisionTreeRegressor
def numbers(text):
    design = read_config(text)
    return [*design[:5], DATAFLOWS.index(design.dataflow)]
tree = DecisionTreeRegressor(random_state=0)
tree.fit([numbers(one) for one in configs], cycles)
return list(tree.predict([numbers(one) for one in asked]))"""
LINE = """\
def numbers(text):
    design = read_config(text)
    return [1.0, *design[:4], *(float(design.dataflow == flow) for flow in DATAFLOWS)]
formulas = [stall_free_cycles(read_config(one)) for one in configs]
ratios = [math.log(count / formula) for count, formula in zip(cycles, formulas)]
line = np.linalg.lstsq(np.array([numbers(one) for one in configs]), ratios, rcond=None)[0]
return [stall_free_cycles(read_config(one)) * math.exp(np.dot(line, numbers(one)))
        for one in asked]"""
RATIOS = """\
from sklearn.tree import DecisionTreeRegressor
from sklearn.ensemble import {model}
def numbers(text):
    design = read_config(text)
    return [*design[:4], *(design.dataflow == flow for flow in DATAFLOWS)]
def formula(text):
    return stall_free_cycles(read_config(text))
model = {model}({options})
ratios = [math.log(c / formula(t)) for t, c in zip(configs, cycles)]
model.fit([numbers(t) for t in configs], ratios)
told = model.predict([numbers(t) for t in asked])
return [formula(t) * math.exp(r) for t, r in zip(asked, told)]"""

WRONG = (
    # 1.1
    _cell(
        "1.1",
        "with padding",
        f"{POSITIONS}return conv.height * conv.width, conv.filters, window",
        "There is no padding",
    ),
    _cell(
        "1.1",
        "no stride",
        f"{POSITIONS}down, across = conv.height - conv.filter_height + 1, "
        "conv.width - conv.filter_width + 1\nreturn down * across, conv.filters, window",
        "The window moves on by the stride",
    ),
    _cell(
        "1.1",
        "rounded up, as SCALE-Sim does",
        "down = -(-(conv.height - conv.filter_height + conv.stride) // conv.stride)\n"
        "across = -(-(conv.width - conv.filter_width + conv.stride) // conv.stride)\n"
        "window = conv.filter_height * conv.filter_width * conv.channels\n"
        "return down * across, conv.filters, window",
        "round down, as PyTorch does",
    ),
    _cell(
        "1.1",
        "channels forgotten",
        f"{POSITIONS}return down * across, conv.filters, conv.filter_height * conv.filter_width",
        "K counts the channels too",
    ),
    _cell(
        "1.1",
        "N and K swapped",
        f"{POSITIONS}return down * across, window, conv.filters",
        "in another order: M, then N, then K",
    ),
    _cell(
        "1.1",
        "one position too few",
        f"{POSITIONS}return (down - 1) * (across - 1), conv.filters, window",
        "The first position counts as well",
    ),
    # 1.2
    _cell(
        "1.2",
        "every dataflow as os",
        "return m, n, k",
        "a row of inputs goes by in each step",
        "a column of weights goes by in each step",
    ),
    _cell(
        "1.2",
        "is as ws",
        "return {'os': (m, n, k), 'ws': (k, n, m), 'is': (k, n, m)}[dataflow]",
        "a column of weights goes by in each step",
    ),
    _cell(
        "1.2",
        "rows and columns swapped",
        "return {'os': (n, m, k), 'ws': (n, k, m), 'is': (m, k, n)}[dataflow]",
        "what is summed lies along the rows",
        "M along the rows, N the columns",
    ),
    # 1.3
    _cell(
        "1.3",
        "nothing is loaded",
        "return height + width + steps - 2",
        "What stays must be loaded first",
    ),
    _cell(
        "1.3",
        "os is loaded too",
        "return 2 * height + width + steps - 2",
        "Nothing is loaded beforehand here",
    ),
    _cell(
        "1.3",
        "the last cycle forgotten",
        "return (0 if dataflow == 'os' else height) + height + width + steps - 3",
        "the cycle of the last PE's last step counts",
    ),
    _cell(
        "1.3",
        "every row and column waits",
        "return (0 if dataflow == 'os' else height) + height + width + steps",
        "H - 1 and W - 1",
    ),
    _cell(
        "1.3",
        "only the steps",
        "return steps",
        "The array is not full at once",
    ),
    # 1.4
    _cell(
        "1.4",
        "floor",
        "return max(1, rows // height) * max(1, columns // width) * fold - 1",
        "What is left over needs a fold too",
    ),
    _cell(
        "1.4",
        "the cycles that pass",
        "return -(-rows // height) * -(-columns // width) * fold",
        "reports the number of the last one",
    ),
    _cell(
        "1.4",
        "rounded up once",
        "return math.ceil(rows * columns / (height * width)) * fold - 1",
        "A fold is a rectangle",
    ),
    _cell(
        "1.4",
        "height and width swapped",
        "return math.ceil(rows / width) * math.ceil(columns / height) * fold - 1",
        "Rows are cut by the height",
    ),
    _cell(
        "1.4",
        "one less a fold",
        "return math.ceil(rows / height) * math.ceil(columns / width) * (fold - 1)",
        "one less in all",
    ),
    _cell(
        "1.4",
        "always one more",
        "return (rows // height + 1) * (columns // width + 1) * fold - 1",
        "round up, do not add one",
    ),
    # 1.5
    _cell(
        "1.5",
        "a fraction",
        "d, a = math.ceil(rows / height), math.ceil(columns / width)\n"
        "return rows * columns / (d * height * a * width)",
        "This is a fraction",
    ),
    _cell(
        "1.5",
        "rounded up once",
        "pes = height * width\n"
        "return 100 * rows * columns / (math.ceil(rows * columns / pes) * pes)",
        "rounded up each alone",
    ),
    _cell(
        "1.5",
        "the last fold alone",
        "return 100 * (rows % height or height) * (columns % width or width) / (height * width)",
        "This is the last fold alone",
    ),
    _cell(
        "1.5",
        "the first fold alone",
        "return 100 * min(rows, height) * min(columns, width) / (height * width)",
        "some PEs without work",
    ),
    # 2.1
    _cell(
        "2.1",
        "no comma at the end",
        f"{HEADS}return '\\n'.join([head] + [','.join(map(str, one)) for one in layers])",
        "Every row ends with a comma",
    ),
    _cell(
        "2.1",
        "no header",
        "return '\\n'.join(','.join(map(str, one)) + ',' for one in layers)",
        "The first line is a header",
    ),
    _cell(
        "2.1",
        "no names",
        f"{HEADS}return '\\n'.join([head] + [','.join(map(str, one[1:])) + ',' for one in layers])",
        "The first entry of a row is the layer's name",
    ),
    _cell(
        "2.1",
        "another order",
        f"{HEADS}return '\\n'.join([head] + [','.join([one[0], *map(str, one[:0:-1])]) + ',' "
        "for one in layers])",
        "keep the order of the header",
    ),
    # 2.2
    _cell(
        "2.2",
        "height and width swapped",
        CONFIG.replace("{design.height}", "{design.width}", 1).replace(
            "ArrayWidth: {design.width}", "ArrayWidth: {design.height}"
        ),
        "The height is the number of rows",
    ),
    _cell(
        "2.2",
        "bandwidth is calculated",
        CONFIG.replace("USER", "CALC"),
        "stalls vanish",
    ),
    _cell(
        "2.2",
        "a section is missing",
        CONFIG.replace("[run_presets]\n", ""),
        "one of the three sections is missing",
    ),
    _cell(
        "2.2",
        "always the same bandwidth",
        CONFIG.replace("{bandwidth}", "50"),
        "The bandwidth is given to your function",
    ),
    # 2.3
    _cell(
        "2.3",
        "stalls twice",
        f"{ROWS}stalls = sum(r[2] for r in rows)\n"
        "return sum(r[1] for r in rows) + stalls, stalls, sum(r[4] for r in rows) / len(rows)",
        "has the stalls in it already",
    ),
    _cell(
        "2.3",
        "the mean of two means",
        f"{ROWS}many = len(conv_report.splitlines()) - 1\n"
        "one, two = (sum(r[4] for r in part) / len(part) for part in (rows[:many], rows[many:]))\n"
        "return sum(r[1] for r in rows), sum(r[2] for r in rows), (one + two) / 2",
        "This is the mean of two means",
    ),
    _cell(
        "2.3",
        "a fraction",
        f"{ROWS}return (sum(r[1] for r in rows), sum(r[2] for r in rows), "
        "sum(r[4] for r in rows) / len(rows) / 100)",
        "This is a fraction",
    ),
    _cell(
        "2.3",
        "the convolutions alone",
        f"{ROWS}rows = rows[:len(conv_report.splitlines()) - 1]\n"
        "return (sum(r[1] for r in rows), sum(r[2] for r in rows), "
        "sum(r[4] for r in rows) / len(rows))",
        "The network has both files",
    ),
    _cell(
        "2.3",
        "another column",
        f"{ROWS}return (sum(r[1] for r in rows), sum(r[2] for r in rows), "
        "sum(r[3] for r in rows) / len(rows))",
        "Mapping Efficiency is wanted",
    ),
    # 2.4
    _cell(
        "2.4",
        "delays are added up",
        f"{LATE}return int(np.maximum(late, 0).sum())",
        "all later demands come later too",
    ),
    _cell(
        "2.4",
        "never early",
        f"{LATE}return int(late.max()) if len(late) else 0",
        "does not give time back",
    ),
    _cell(
        "2.4",
        "the last miss",
        f"{LATE}return int(max(0, late[-1])) if len(late) else 0",
        "The last miss need not be the worst",
    ),
    _cell(
        "2.4",
        "nothing overlaps",
        "return len(cycles) * period",
        "only lateness costs",
    ),
    # 2.5
    _cell(
        "2.5",
        "efficiency as a fraction",
        f"{AREA}return 80000 / cycles + 8 * efficiency / 100, 17500 / cycles + 15000 / area",
        "The efficiency is in per cent",
    ),
    _cell(
        "2.5",
        "outputs take no area",
        f"{AREA}area -= 1015.7 * design.ofmap_kb\n"
        "return 80000 / cycles + 8 * efficiency, 17500 / cycles + 15000 / area",
        "All three memories take area",
    ),
    _cell(
        "2.5",
        "one PE",
        f"{AREA}area -= 525 * (design.height * design.width - 1)\n"
        "return 80000 / cycles + 8 * efficiency, 17500 / cycles + 15000 / area",
        "There are height times width PEs",
    ),
    # 2.6
    _cell(
        "2.6",
        "the same score ten times",
        "return sorted(range(len(scores)), key=lambda place: -scores[place])[:10]",
        "designs that score alike count as one",
    ),
    _cell(
        "2.6",
        "the worst first",
        "first = {s: p for p, s in enumerate(scores)}\n"
        "return [first[s] for s in sorted(first)[-10:]]",
        "The best comes first",
        most=0.4,
    ),
    _cell(
        "2.6",
        "nine of them",
        "first = {s: p for p, s in enumerate(scores)}\n"
        "return [first[s] for s in sorted(first, reverse=True)[:9]]",
        "up to ten are wanted",
    ),
    # 2.7
    _cell(
        "2.7",
        "fractions",
        "a, b = max(first) - min(first), max(second) - min(second)\n"
        "return a / (a + b), b / (a + b)",
        "These are fractions",
    ),
    _cell(
        "2.7",
        "means",
        "a, b = sum(first), sum(second)\nreturn 100 * a / (a + b), 100 * b / (a + b)",
        "the same everywhere decides nothing",
    ),
    _cell(
        "2.7",
        "largest values",
        "a, b = max(first), max(second)\nreturn 100 * a / (a + b), 100 * b / (a + b)",
        "The largest value is no swing",
    ),
    # 2.8
    _cell(
        "2.8",
        "beaten only if worse in both",
        "return [p for p, (x, y) in enumerate(points) "
        "if not any(a < x and b < y for a, b in points)]",
        "as good in one and better in the other",
    ),
    _cell(
        "2.8",
        "equal points beat each other",
        "return [p for p, (x, y) in enumerate(points) if not any("
        "a <= x and b <= y for q, (a, b) in enumerate(points) if q != p)]",
        "no better than each other",
    ),
    _cell(
        "2.8",
        "the fastest alone",
        "best = min(points)\nreturn [p for p, one in enumerate(points) if one == best]",
        "it belongs to",
    ),
    # 3.1
    _cell(
        "3.1",
        "signs cancel",
        "return 100 * sum((p - c) / c for p, c in zip(predicted, cycles)) / len(cycles)",
        "must not cancel",
    ),
    _cell(
        "3.1",
        "squared cycles",
        "return sum((p - c) ** 2 for p, c in zip(predicted, cycles)) / len(cycles)",
        "let the slowest designs decide alone",
    ),
    _cell(
        "3.1",
        "a fraction",
        "return sum(abs(p - c) / c for p, c in zip(predicted, cycles)) / len(cycles)",
        "This is a fraction",
    ),
    _cell(
        "3.1",
        "relative to the sum",
        "return 100 * sum(abs(p - c) for p, c in zip(predicted, cycles)) / sum(cycles)",
        "the slow designs decide alone",
    ),
    # 3.2
    _cell(
        "3.2",
        "every fourth",
        "places = range(len(designs))\n"
        "return [p for p in places if p % 4], [p for p in places if p % 4 == 0]",
        "tests nothing but memory",
    ),
    _cell(
        "3.2",
        "the test is learned from",
        "places = list(range(len(designs)))\nreturn places, places[: len(places) // 4]",
        "it knows the answer",
    ),
    _cell(
        "3.2",
        "no test",
        "return list(range(len(designs))), []",
        "About a quarter of the designs",
    ),
    _cell(
        "3.2",
        "twins are thrown away",
        "seen = {d._replace(ofmap_kb=0): p for p, d in enumerate(designs)}\n"
        "places = list(seen.values())\nreturn places[5:], places[:5]",
        "Every design is on one of the two sides",
    ),
    # 3.3
    _cell("3.3", "the mean", "return [sum(cycles) / len(cycles)] * len(asked)", "The mean of all"),
    _cell("3.3", "a plain tree", TREE, "put folds into the features"),
    _cell("3.3", "a straight line", LINE, "a straight line cannot follow them"),
    _cell(
        "3.3",
        "the formula",
        "return [stall_free_cycles(read_config(text)) for text in asked]",
        "let a model learn what it leaves out",
    ),
    _cell(
        "3.3",
        "our own model",
        "rows = model_rows([read_config(one) for one in asked]).values()\n"
        "return [sum(row.total for row in layers) for layers in rows]",
        "predict is to do this itself",
        most=0,
    ),
    _cell("3.3", "nothing", "return [1.0] * len(asked)", "is it the right scale"),
)

RIGHT = (
    _cell(
        "1.1",
        "positions as ranges",
        "down = range(0, conv.height - conv.filter_height + 1, conv.stride)\n"
        "across = range(0, conv.width - conv.filter_width + 1, conv.stride)\n"
        "k = conv.channels * conv.filter_width * conv.filter_height\n"
        "return [len(down) * len(across), conv.filters, k]",
    ),
    _cell(
        "1.2",
        "with ifs",
        "import numpy as np\n\nif dataflow == 'os':\n    return np.array([m, n, k])\n"
        "return (k, n, m) if dataflow == 'ws' else (k, m, n)",
    ),
    _cell(
        "1.3",
        "as a sum of waits",
        "load = height * (dataflow in ('ws', 'is'))\n"
        "return float(sum([load, height, width, steps, -2]))",
    ),
    _cell(
        "1.4",
        "folds counted one by one",
        "return sum(fold for r in range(0, rows, height) for c in range(0, columns, width)) - 1",
    ),
    _cell(
        "1.5",
        "fold by fold",
        "import numpy as np\n\nused = [min(height, rows - r) * min(width, columns - c) "
        "for r in range(0, rows, height) for c in range(0, columns, width)]\n"
        "return np.mean(used) / (height * width) * 100",
    ),
    _cell(
        "2.1",
        "without spaces, with an empty line",
        f"{HEADS}rows = [','.join(map(str, one)) + ',' for one in layers]\n"
        "return '\\n'.join([head, *rows, '', ''])",
    ),
    _cell("2.2", "with colons and another name", CONFIG),
    _cell(
        "2.3",
        "with pandas",
        "import io, pandas as pd\n"
        "frames = [pd.read_csv(io.StringIO(t), skipinitialspace=True) "
        "for t in (conv_report, gemm_report)]\n"
        "both = pd.concat(frames)\n"
        "return both['Total Cycles'].sum(), both['Stall Cycles'].sum(), "
        "both['Mapping Efficiency %'].mean()",
    ),
    _cell(
        "2.4",
        "cycle by cycle",
        "waited = 0\nfor c, k in zip(cycles, halves):\n"
        "    waited += max(0, k * period - 1 - (c + waited + 1))\nreturn waited",
    ),
    _cell(
        "2.5",
        "numpy",
        "kb = np.sum(design[2:5])\n"
        "area = np.float64(525) * design.height * design.width + 1015.7 * kb\n"
        "return np.array([8e4 / cycles + 8 * efficiency, 1.75e4 / cycles + 1.5e4 / area])",
    ),
    _cell(
        "2.6",
        "another of the equal ones",
        "last = {s: p for p, s in enumerate(scores)}\n"
        "return (last[s] for s in sorted(last, reverse=True)[:10])",
    ),
    _cell(
        "2.7",
        "numpy",
        "spans = np.array([np.ptp(first), np.ptp(second)])\nreturn spans / spans.sum() * 100",
    ),
    _cell(
        "2.8",
        "all against all",
        "beats = lambda a, b: a[0] <= b[0] and a[1] <= b[1] and a != b\n"
        "return {p for p, one in enumerate(points) if not any(beats(o, one) for o in points)}",
    ),
    _cell(
        "3.1",
        "a loop",
        "off = 0\nfor p, c in zip(predicted, cycles):\n    off += abs(p / c - 1)\n"
        "return 100 * off / len(cycles)",
    ),
    _cell(
        "3.2",
        "families at random",
        "import random\nfamilies = {}\nfor p, d in enumerate(designs):\n"
        "    key = d.height, d.width, d.ifmap_kb, d.filter_kb, d.dataflow\n"
        "    families.setdefault(key, []).append(p)\n"
        "keys = sorted(families)\nrandom.Random(1).shuffle(keys)\ntest = []\n"
        "for key in keys:\n    if len(test) + len(families[key]) <= 0.33 * len(designs):\n"
        "        test += families[key]\n"
        "return [p for p in range(len(designs)) if p not in test], test",
    ),
    _cell(
        "3.3",
        "boosted ratios",
        RATIOS.format(model="GradientBoostingRegressor", options="random_state=0"),
    ),
    _cell(
        "3.3",
        "a forest of ratios",
        RATIOS.format(model="RandomForestRegressor", options="random_state=1"),
    ),
)

_HEADER = "SCALE-Sim skips the first line, whatever it says"
_FLOAT = "a whole number of another type is the same number"
_SPLIT = "any split that keeps families together and tests with about a quarter is right"
_FOREST = "another forest, or the same features written otherwise, predicts as well"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("2.1", "the condition is always", _HEADER),
    ("2.1", "[header, *rows])", "the last line may end with the text"),
    ("2.3", "without int", _FLOAT),
    ("2.3", "[:6]", "the next column is a number too, and is not used"),
    ("2.4", "without int", _FLOAT),
    ("2.6", "the other way round", "of equal scores any place is right"),
    ("3.1", "without float", _FLOAT),
    ("3.2", "the other way round", _SPLIT),
    ("3.2", "without sorted", _SPLIT),
    ("3.2", "the other truth", _SPLIT),
    ("3.2", "(test if len(family)", _SPLIT),
    ("3.2", "ofmap_kb=1", "it is the same for all of a family"),
    ("3.3", "ExtraTreesRegressor(", _FOREST),
    ("3.3", "flows = ", _FOREST),
    ("3.3", "strict=False", "there are as many cycles as files"),
)
