"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab2b import LAB
from tests.support.catalogue import Cell, cell

_cell = partial(cell, LAB)

#: Task 1.1: a right version with places for mistakes.
MISSES = """\
held, places = [], []
for place, line in enumerate(trace):
    if line in held:
        if policy == "LRU":
            held.remove(line); held.append(line)
    else:
        places.append(place)
        held.append(line)
        while len(held) > size:
            held.pop(0)
return places"""


def _misses(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in MISSES
    return _cell("1.1", name, MISSES.replace(old, new), *says, most=most)


RIGHT_MISSES = "def misses(trace, size, policy):\n" + "\n".join(
    f"    {line}" for line in MISSES.splitlines()
)
LRU_ALONE = RIGHT_MISSES.replace('policy == "LRU"', "True")
LEVELS = """\
lines = [a // LINE for a in addresses]
asked = [lines[p] for p in misses(lines, l1, "LRU")]
return len(asked), len(misses(asked, l2, "LRU"))"""


def _levels(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in LEVELS
    return _cell("1.2", name, LEVELS.replace(old, new), *says, most=most, before=RIGHT_MISSES)


FETCH = "fetch = [max(near * a, far * b) for a, b in zip(first, second)]\n"
TOP = """\
area = lambda p: 525 * p.height * p.width + 1015.7 * 3 * (p.ifmap + p.filter)
score = lambda p: round(p.efficiency if goal == "efficiency"
                        else 17500 / p.cycles + 15000 / area(p), 6)
best = {}
for p in sorted(points, key=lambda p: (-score(p), area(p))):
    best.setdefault(score(p), p)
return list(best.values())[:10]"""


def _top(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in TOP
    return _cell("1.5", name, TOP.replace(old, new), *says, most=most)


PRODUCT = """\
X, Y, R, S, C, K, t = conv[1:]
P, Q = (X - R) // t + 1, (Y - S) // t + 1
return P * Q, K, R * S * C"""


def _product(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in PRODUCT
    return _cell("2.1", name, PRODUCT.replace(old, new), *says, most=most)


LATENCY = """\
M, N, K = product
rows, columns, T = {"os": (M, N, K), "ws": (K, N, M), "is": (K, M, N)}[dataflow]
load = 0 if dataflow == "os" else height
fold = load + height + width - 2 + T
return fold * math.ceil(rows / height) * math.ceil(columns / width)"""


def _latency(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in LATENCY
    return _cell("2.2", name, LATENCY.replace(old, new), *says, most=most)


ROWS = """\
X, Y, R, S, C, K, t = conv[1:]
P, Q = (X - R) // t + 1, (Y - S) // t + 1
h, sets = min(R, height), max(1, height // R)
folds, groups, strips = math.ceil(R / h), math.ceil(K / sets), math.ceil(P / width)
return groups * C * folds * (S + strips * (S * Q + h - 1))"""


def _rows(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in ROWS
    return _cell("2.3", name, ROWS.replace(old, new), *says, most=most)


LAWS = """\
broken = []
if claim.cycles * claim.pes < claim.macs: broken.append("macs")
if min(claim.first, claim.second) < claim.lines: broken.append("compulsory")
if claim.second > claim.first: broken.append("asked")
if claim.l2 == 0 and claim.first != claim.second: broken.append("no second level")
if claim.l2 >= claim.lines and claim.second != claim.lines: broken.append("all fits")
return broken"""


def _laws(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in LAWS
    return _cell("2.4", name, LAWS.replace(old, new), *says, most=most)


WRONG = (
    # 1.1
    _misses("LRU everywhere", 'if policy == "LRU":', "if True:", "This is LRU"),
    _misses("FIFO everywhere", 'if policy == "LRU":', "if False:", "This is FIFO"),
    _misses("one line too many", "len(held) > size", "len(held) > size + 1", "one line more"),
    _misses("one line too few", "len(held) > size", "len(held) >= size", "one line less"),
    _misses("nothing leaves", "held.pop(0)", "break", "Nothing ever leaves"),
    _misses("lines, not places", "places.append(place)", "places.append(line)", "numbers of lines"),
    _misses("counted from 1", "enumerate(trace)", "enumerate(trace, 1)", "counted from 0"),
    _cell(
        "1.1",
        "hits",
        MISSES.replace("return places", "return [p for p in range(len(trace)) if p not in places]"),
        "These are the hits",
    ),
    _misses("the newest leaves", "held.pop(0)", "held.pop(-2)", "Follow it by hand"),
    _cell("1.1", "a number", f"{MISSES.replace('return places', 'return len(places)')}", "an int"),
    # 1.2
    _levels("words, not lines", "a // LINE", "a", "These are words"),
    _levels(
        "the second level sees every access",
        "misses(asked, l2",
        "misses(lines, l2",
        "Your second level sees every access",
    ),
    _levels(
        "one large buffer", "misses(asked, l2", "misses(lines, l1 + l2", "not one large buffer"
    ),
    _levels(
        "hits of the second level",
        'len(misses(asked, l2, "LRU"))',
        'len(asked) - len(misses(asked, l2, "LRU"))',
        "what misses in the second level too",
    ),
    _levels(
        "FIFO",
        '"LRU"',
        '"FIFO"',
        "both levels use LRU",
    ),
    _levels(
        "turned round",
        'return len(asked), len(misses(asked, l2, "LRU"))',
        'return len(misses(asked, l2, "LRU")), len(asked)',
        "turned round",
    ),
    _levels(
        "no second level is none",
        'misses(asked, l2, "LRU")',
        'misses(asked, l2, "LRU") if l2 else []',
        "Law: a second level of 0 lines",
    ),
    # 1.3
    _cell("1.3", "a loop", "return list(range(size + 2)) * 5", "Equally many"),
    _cell("1.3", "too few lines", "return [0, 1, 2] * size", "fit into the larger buffer"),
    _cell("1.3", "nothing", "return []", "The trace is empty"),
    _cell(
        "1.3",
        "the trace of the book for every size",
        "return [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]",
        most=0.3,
    ),
    _cell("1.3", "an ordinary one", "return [i * i % 11 for i in range(60)] * 2", "misses less"),
    # 1.4
    _cell(
        "1.4",
        "both wires added",
        FETCH.replace("max(near * a, far * b)", "near * a + far * b")
        + "return fetch[0] + sum(map(max, compute, fetch[1:] + [0]))",
        "You add the times of the two wires",
    ),
    _cell(
        "1.4",
        "a stage overlaps with its own fetch",
        FETCH + "return sum(map(max, compute, fetch))",
        "not with its own",
    ),
    _cell(
        "1.4",
        "the first fetch is free",
        FETCH + "return sum(map(max, compute, fetch[1:] + [0]))",
        "waits for the whole first fetch",
    ),
    _cell(
        "1.4",
        "nothing overlaps",
        FETCH + "return sum(compute) + sum(fetch)",
        "the lines of the next one come",
    ),
    _cell(
        "1.4",
        "the larger of the sums",
        FETCH + "return max(sum(compute), sum(fetch))",
        "cannot get the time back",
    ),
    _cell(
        "1.4",
        "stalls alone",
        FETCH + "return fetch[0] + sum(map(max, compute, fetch[1:] + [0])) - sum(compute)",
        "These are the stalls alone",
    ),
    _cell(
        "1.4",
        "memory alone",
        "fetch = [far * b for b in second]\n"
        "return fetch[0] + sum(map(max, compute, fetch[1:] + [0]))",
        "between the two levels is forgotten",
    ),
    _cell(
        "1.4",
        "the upper wire alone",
        "fetch = [near * a for a in first]\n"
        "return fetch[0] + sum(map(max, compute, fetch[1:] + [0]))",
        "The wire from memory is forgotten",
    ),
    _cell(
        "1.4",
        "the last stage is forgotten",
        FETCH + "return fetch[0] + sum(map(max, compute, fetch[1:]))",
        "The last stage fetches nothing more",
    ),
    # 1.5
    _top("no second level", "1015.7 * 3", "1015.7", "second level is missing"),
    _top("ties by cycles", "(-score(p), area(p))", "(-score(p), p.cycles)", "by cycles"),
    _top("the worst first", "(-score(p),", "(score(p),", ""),
    _cell(
        "1.5",
        "the same score ten times",
        TOP.partition("best = {}")[0] + "return sorted(points, key=score, reverse=True)[:10]",
        "The same score comes twice",
    ),
    _top("nine", "[:10]", "[:9]", "Ten designs are wanted"),
    _top("turned round", "list(best.values())[:10]", "list(best.values())[:10][::-1]", "turned"),
    _top(
        "second level as large as the first",
        "1015.7 * 3",
        "1015.7 * 2",
        "three times in all",
    ),
    _cell("1.5", "names", "return ['5 x 4 ws']", "Return Point("),
    # 2.1
    _product("no stride", "// t + 1", "+ 1", "The stride is left out"),
    _product(
        "rounded up",
        "(X - R) // t + 1, (Y - S) // t + 1",
        "-((R - X) // t) + 1, -((S - Y) // t) + 1",
        "You round up",
    ),
    _product(
        "padding", "(X - R) // t + 1, (Y - S) // t + 1", "-(-X // t), -(-Y // t)", "need padding"
    ),
    _product(
        "height and width", "(X - R) // t + 1, (Y - S)", "(X - S) // t + 1, (Y - R)", "mixed up"
    ),
    _product("no channels", "R * S * C", "R * S", "sums over all channels"),
    _product("C and K swapped", "K, R * S * C", "C, R * S * K", "Channels and filters are swapped"),
    _product("one too few", "// t + 1", "// t", "One too few"),
    _product("another order", "P * Q, K, R * S * C", "P * Q, R * S * C, K", "not in this order"),
    # 2.2
    _latency(
        "nothing is loaded", 'load = 0 if dataflow == "os" else height', "load = 0", "loaded first"
    ),
    _latency("os loads too", '0 if dataflow == "os" else height', "height", "loads nothing"),
    _latency("is as ws", '"is": (K, M, N)', '"is": (K, N, M)', "Look at the table again"),
    _latency(
        "folds rounded down",
        "math.ceil(rows / height) * math.ceil(columns / width)",
        "(rows // height) * (columns // width)",
        "round the number of folds up",
    ),
    _latency(
        "one fold",
        "fold * math.ceil(rows / height) * math.ceil(columns / width)",
        "fold",
        "Law: fewer cycles",
    ),
    _latency(
        "one less", "math.ceil(columns / width)", "math.ceil(columns / width) - 1", "One less"
    ),
    _latency("no skew", "load + height + width - 2 + T", "load + T", "Values enter skewed"),
    _latency(
        "one skew for all",
        "return fold * math.ceil(rows / height) * math.ceil(columns / width)",
        "return fold - T + T * math.ceil(rows / height) * math.ceil(columns / width)",
        "Every fold fills and drains",
    ),
    _latency(
        "array turned",
        "math.ceil(rows / height) * math.ceil(columns / width)",
        "math.ceil(rows / width) * math.ceil(columns / height)",
        "are swapped",
    ),
    _latency(
        "cut together",
        "math.ceil(rows / height) * math.ceil(columns / width)",
        "math.ceil(rows * columns / (height * width))",
        "Rows and columns are cut apart",
    ),
    _latency(
        "only the part that is used",
        "load + height + width",
        "load + min(rows, height) + min(columns, width)",
        "a fold always takes H and W",
    ),
    _latency(
        "loaded once for all folds",
        "return fold * math.ceil(rows / height) * math.ceil(columns / width)",
        "return load + (fold - load) * math.ceil(rows / height) * math.ceil(columns / width)",
        "another part in every fold",
    ),
    _latency("ws as is", '"ws": (K, N, M)', '"ws": (K, M, N)', "Look at the table again"),
    _latency("skew by one more", "width - 2", "width - 1", "H - 1 steps down"),
    # 2.3
    _rows("input rows", "math.ceil(P / width)", "math.ceil(X / width)", "count output rows"),
    _rows("no stride", "// t + 1", "+ 1", "The stride is left out"),
    _rows(
        "rounded up",
        "(X - R) // t + 1, (Y - S) // t + 1",
        "-((R - X) // t) + 1, -((S - Y) // t) + 1",
        "round the size of the output up",
    ),
    _rows("R and S swapped", "X, Y, R, S, C, K, t", "X, Y, S, R, C, K, t", "mixed up"),
    _rows("no channels", "groups * C *", "groups *", "Each input channel has a filter row"),
    _rows("no filters", "math.ceil(K / sets)", "1", "Each filter needs passes"),
    _rows(
        "C and K swapped",
        "X, Y, R, S, C, K, t",
        "X, Y, R, S, K, C, t",
        "Channels and filters are swapped",
    ),
    _rows("one set", "max(1, height // R)", "1", "several filters are worked on at once"),
    _rows("no folds", "math.ceil(R / h)", "1", "its rows come in several folds"),
    _rows("no drain", "+ h - 1", "", "The top row begins one cycle later"),
    _rows("no load", "(S + strips", "(0 + strips", "have to be loaded"),
    _rows(
        "loaded for each strip",
        "(S + strips * (S * Q + h - 1))",
        "strips * (S + S * Q + h - 1)",
        "they are loaded once for all strips",
    ),
    _rows(
        "weights of all rows one after the other",
        "(S + strips",
        "(S * h + strips",
        "All rows of the array are loaded at once",
    ),
    _rows("parts of a set", "max(1, height // R)", "max(1, height / R)", "Only whole sets work"),
    _rows(
        "groups rounded down",
        "math.ceil(K / sets)",
        "max(1, K // sets)",
        "last group of filters",
    ),
    _rows("strips rounded down", "math.ceil(P / width)", "max(1, P // width)", "A last strip"),
    _rows("a fold drains the filter", "+ h - 1", "+ R - 1", "not the whole filter"),
    _rows("the array drains", "+ h - 1", "+ height - 1", "Each set drains by itself"),
    _rows("one product an output", "(S * Q + h - 1)", "(Q + h - 1)", "one product a cycle"),
    _rows(
        "array turned",
        "X, Y, R, S, C, K, t = conv[1:]",
        "X, Y, R, S, C, K, t = conv[1:]\nheight, width = width, height",
        "are swapped",
    ),
    _cell(
        "2.3",
        "the answer that went round",
        "X, Y, R, S, C, K, t = conv[1:]\nreturn math.ceil(Y / 5) * (S + R + 3 + X - 2) * C * K",
        "the answer that went round",
        most=0,
    ),
    # 2.4
    _laws(
        "rounded down",
        "claim.cycles * claim.pes < claim.macs",
        "claim.cycles < claim.macs // claim.pes",
        "do not fit into these cycles",
    ),
    _laws(
        "one level is enough",
        "min(claim.first, claim.second)",
        "claim.first",
        "Every line that is asked for",
    ),
    _laws(
        "no second level is forgotten",
        "claim.l2 == 0 and",
        "False and",
        "0 lines has nothing",
    ),
    _laws(
        "all fits is forgotten",
        "claim.l2 >= claim.lines and",
        "False and",
        "each comes from memory once",
    ),
    _laws(
        "cycles are never counted",
        "claim.cycles * claim.pes < claim.macs",
        "False",
        "do not fit into these cycles",
    ),
    _laws(
        "the second level alone",
        "min(claim.first, claim.second)",
        "claim.second",
        "Every line that is asked for",
    ),
    _laws(
        "more than all must fit",
        "claim.l2 >= claim.lines",
        "claim.l2 > claim.lines",
        "each comes from memory once",
    ),
    _laws(
        "only fewer are too few",
        "claim.first != claim.second",
        "claim.first > claim.second",
        "0 lines has nothing",
    ),
    _laws("never asked", "claim.second > claim.first", "False", "cannot miss more often"),
    _laws(
        "the first alone",
        "return broken",
        "return broken[:1]",
        "Every line that is asked for",
    ),
    _cell("2.4", "all is well", "return []", "do not fit into these cycles"),
    _cell("2.4", "names of one's own", "return ['too fast']", "is no name of a law"),
    _cell("2.4", "places", "return [0]", "The names of laws are wanted"),
)

RIGHT = (
    _cell(
        "1.1",
        "a dict that keeps its order",
        "held, places = {}, []\n"
        "for place, line in enumerate(trace):\n"
        "    hit = line in held\n"
        "    if hit and policy == 'LRU':\n        held[line] = held.pop(line)\n"
        "    if not hit:\n        places.append(place)\n"
        "        if size and len(held) >= size:\n            del held[next(iter(held))]\n"
        "        if size:\n            held[line] = None\n"
        "return places",
    ),
    _cell(
        "1.1",
        "by times, with numpy",
        "import numpy as np\n"
        "when, out = {}, []\n"
        "for now, line in enumerate(trace):\n"
        "    if line not in when:\n        out.append(now)\n"
        "        if len(when) == size and when:\n            when.pop(min(when, key=when.get))\n"
        "        if size:\n            when[line] = now\n"
        "    elif policy == 'LRU':\n        when[line] = now\n"
        "return np.array(out)",
    ),
    _cell("1.2", "as in the text", LEVELS, before=RIGHT_MISSES),
    _cell(
        "1.2",
        "both levels in one loop, without misses",
        "a, b, m, n = [], [], 0, 0\n"
        "for w in addresses:\n"
        "    x = w // LINE\n"
        "    if x in a:\n        a.remove(x); a.append(x)\n        continue\n"
        "    m += 1\n    a = (a + [x])[-l1:] if l1 else []\n"
        "    if x in b:\n        b.remove(x); b.append(x)\n        continue\n"
        "    n += 1\n    b = (b + [x])[-l2:] if l2 else []\n"
        "return [m, n]",
    ),
    _cell(
        "1.2",
        "with a wrong version of task 1.1, which is lent",
        LEVELS,
        before="def misses(trace, size, policy):\n    return []",
    ),
    _cell(
        "1.3",
        "by thinking",
        "n = size\nreturn [*range(n + 1), *range(n - 1), n + 1, *range(n + 2)]",
    ),
    _cell(
        "1.3",
        "with a FIFO that is LRU, for which a right one is lent",
        "rng = random.Random(0)\n"
        "for _ in range(2000):\n"
        "    trace = [rng.randrange(size + 3) for _ in range(10 * size)]\n"
        "    if len(misses(trace, size + 1, 'FIFO')) > len(misses(trace, size, 'FIFO')):\n"
        "        break\n"
        "return trace",
        before=LRU_ALONE,
    ),
    _cell(
        "1.4",
        "step by step, from the end",
        "t = 0\n"
        "for i in range(len(compute)):\n"
        "    f = max(near * first[i], far * second[i])\n"
        "    t = t + f if i == 0 else max(t + compute[i - 1], t + f)\n"
        "return float(t + compute[-1])",
    ),
    _cell(
        "1.5",
        "largest areas never looked at",
        "out = []\n"
        "A = {p: 525 * p.height * p.width + 1015.7 * (p.ifmap + p.filter)\n"
        "        + 2 * 1015.7 * (p.ifmap + p.filter) for p in points}\n"
        "V = {p: round(p.efficiency, 6) if goal == 'efficiency'\n"
        "     else round(17500 / p.cycles + 15000 / A[p], 6) for p in points}\n"
        "for v in sorted(set(V.values()), reverse=True)[:10]:\n"
        "    out.append(min((p for p in points if V[p] == v), key=A.get))\n"
        "return tuple(out)",
    ),
    _cell(
        "2.1",
        "by counting windows",
        "tall = len(range(0, conv.height - conv.filter_height + 1, conv.stride))\n"
        "wide = len(range(0, conv.width - conv.filter_width + 1, conv.stride))\n"
        "deep = conv.filter_height * conv.filter_width * conv.channels\n"
        "return [tall * wide, conv.filters, deep]",
    ),
    _cell("2.2", "as in the text", LATENCY),
    _cell(
        "2.2",
        "a loop over folds",
        "M, N, K = product\n"
        "a, b, T = {'os': (M, N, K), 'ws': (K, N, M), 'is': (K, M, N)}[dataflow]\n"
        "t = 0\n"
        "for i in range(0, a, height):\n    for j in range(0, b, width):\n"
        "        t += (height - 1) + (width - 1) + T + (height if dataflow != 'os' else 0)\n"
        "return t",
    ),
    _cell("2.3", "in one go", ROWS),
    _cell(
        "2.3",
        "loops",
        "t = 0\n"
        "R, S = conv.filter_height, conv.filter_width\n"
        "P = (conv.height - R + conv.stride) // conv.stride\n"
        "Q = (conv.width - S + conv.stride) // conv.stride\n"
        "step = height // R or 1\n"
        "for k in range(0, conv.filters, step):\n    for c in range(conv.channels):\n"
        "        for r in range(0, R, min(R, height)):\n            t += S\n"
        "            for p in range(0, P, width):\n"
        "                t += Q * S + min(R, height) - 1\n"
        "return t",
    ),
    _cell("2.4", "one by one", LAWS),
    _cell(
        "2.4",
        "a set, by a division",
        "c = claim\n"
        "return {n for n, bad in {\n"
        "    'macs': c.macs / c.pes > c.cycles,\n"
        "    'compulsory': c.lines > c.second or c.lines > c.first,\n"
        "    'asked': c.second > c.first,\n"
        "    'no second level': not c.l2 and c.second != c.first,\n"
        "    'all fits': c.l2 >= c.lines and c.second != c.lines}.items() if bad}",
    ),
)

_NEAR = "designs lie further apart than a constant that is off by one: the same ones win"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("1.3", "random.Random(", "any trace with the anomaly is an answer"),
    ("1.3", "trace = [rng.randrange(size", "any trace with the anomaly is an answer"),
    ("1.4", "coming = [*fetch[1:], 1]", "no tile computes for less than a cycle"),
    ("1.4", "strict=False", "the lists are of one length"),
    ("1.5", "list(sorted(points, key=", "the last one is beaten by another"),
    ("1.5", "return worth", "it only tells ties from noise in the last digits"),
    ("1.5", "return round(worth, ", "it only tells ties from noise in the last digits"),
    ("1.5", "* p.height * p.width", _NEAR),
    ("1.5", "worth = p.efficiency if goal == 'efficiency' else 17", _NEAR),
)
