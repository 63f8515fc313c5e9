"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab1b import LAB
from tests.support.catalogue import Cell, cell

_cell = partial(cell, LAB)

#: Task 1.1: a right version with places for mistakes.
TRAFFIC = """\
group = {op.name: op.name for op in ops}
for number, names in enumerate(groups):
    for name in names:
        group[name] = number
maker = {op.makes: group[op.name] for op in ops}
moved = {}
for op in ops:
    own = group[op.name]
    read = 0
    for value in set(op.reads):
        if maker.get(value) != own:
            read += nbytes[value]
    readers = [group[other.name] for other in ops if op.makes in other.reads]
    needed = not readers or any(reader != own for reader in readers)
    moved[op.name] = read, nbytes[op.makes] if needed else 0
return moved"""
READ_IF = "if maker.get(value) != own:"
NEEDED = "needed = not readers or any(reader != own for reader in readers)"


def _traffic(name: str, old: str, new: str, *says: str, most: float = 0.5) -> Cell:
    assert old in TRAFFIC
    return _cell("1.1", name, TRAFFIC.replace(old, new), *says, most=most)


SETS = "sets = [s for n in range(len(arrows) + 1) for s in combinations(arrows, n)]\n"
PARTS = "M, N, K = shape\nTm, Tn, Tk = tiles\na, b, c = M * K, K * N, M * N\n"


def _stays(name: str, a: str, b: str, c: str, *says: str, most: float = 0.5) -> Cell:
    body = f'{PARTS}return {{"A": ({a}), "B": ({b}), "C": ({c})}}[keep]'
    return _cell("2.1", name, body, *says, most=most)


A_RIGHT, B_RIGHT = "a, Tm * b, (Tk - 1) * c, Tk * c", "Tn * a, b, (Tk - 1) * c, Tk * c"
C_RIGHT = "Tn * a, Tm * b, 0, c"
DIVISORS = (
    "every = [[d for d in range(1, s + 1) if s % d == 0] for s in (m, n, k)]\n"
    "cost = lambda t: n // t[1] * m * k + m // t[0] * k * n\n"
)
FITS = "t[0] * t[2] + t[2] * t[1] + t[0] * t[1] <= budget"
TIMES = (
    'M, N, K = shape\nsize = {"fp64": 8, "fp32": 4, "bf16": 2, "int8": 1}\n'
    "elements = M * K + K * N + M * N\n"
)
SCALE = (
    "scale = np.abs(weight).max(axis=1) / 127\nscale = np.where(scale > 0, scale, 1.0)\n"
    "q = np.round(weight / scale[:, None])\n"
)
_ALL = "[(m, n, k) for m in range(tm) for n in range(tn) for k in range(tk)]"
SNAKE_IN_K = """\
steps = []
for m in range(tm):
    for n in range(tn):
        depths = range(tk) if n % 2 == 0 else reversed(range(tk))
        steps += [(m, n, k) for k in depths]
return steps"""

WRONG = (
    # 1.1
    _traffic(
        "the producer's write is kept",
        NEEDED,
        "needed = True",
        "All who read this value are in the same group",
        "saves the producer's write",
    ),
    _traffic(
        "a fused consumer reads nothing at all",
        "moved[op.name] = read,",
        "read = read if all(maker.get(v) != own for v in op.reads) else 0\n"
        "    moved[op.name] = read,",
        "Weights and inputs come from memory, fused or not",
    ),
    _traffic(
        "one reader inside is enough to drop the write",
        NEEDED,
        "needed = own not in readers",
        "Somebody outside the group reads this value too",
    ),
    _traffic(
        "results are not written",
        NEEDED,
        "needed = any(reader != own for reader in readers)",
        "it is a result of the model",
    ),
    _traffic(
        "only neighbours hand values on",
        READ_IF,
        "made_by = [o for o in ops if o.makes == value]\n"
        "        near = made_by and ops.index(op) - ops.index(made_by[0]) == 1\n"
        "        if maker.get(value) != own or not near:",
        "still on chip",
        "however many steps lie between them",
    ),
    _traffic(
        "a value that is used twice is fetched twice",
        "set(op.reads)",
        "op.reads",
        "uses a value twice fetches it once",
    ),
    _cell(
        "1.1",
        "groups are not looked at",
        "return {op.name: (sum(nbytes[v] for v in op.reads), nbytes[op.makes]) for op in ops}",
        "still on chip",
    ),
    _cell(
        "1.1",
        "operators outside groups are left out",
        TRAFFIC.replace("return moved", "return {n: moved[n] for names in groups for n in names}"),
        "One entry for each operator",
    ),
    # 1.2
    _cell(
        "1.2",
        "compute and memory are added",
        "return sum(op.flops / rate + sum(moved[op.name]) / bandwidth for op in ops)",
        "You add compute and memory time",
    ),
    _cell(
        "1.2",
        "the slower of the two sums",
        "return max(sum(op.flops for op in ops) / rate,"
        " sum(sum(moved[op.name]) for op in ops) / bandwidth)",
        "One operator runs after the other",
    ),
    _cell(
        "1.2",
        "writes are forgotten",
        "return sum(max(op.flops / rate, moved[op.name][0] / bandwidth) for op in ops)",
        "Bytes that are written cross the same wires",
    ),
    _cell(
        "1.2",
        "the faster decides",
        "return sum(min(op.flops / rate, sum(moved[op.name]) / bandwidth) for op in ops)",
        "The slower of the two decides",
    ),
    _cell(
        "1.2",
        "milliseconds",
        "return 1e3 * sum(max(o.flops / rate, sum(moved[o.name]) / bandwidth) for o in ops)",
        "In seconds",
    ),
    # 1.3
    _cell("1.3", "everything is fused", "return arrows", "with more fusions than it takes"),
    _cell("1.3", "nothing is fused", "return []", "Nothing is fused"),
    _cell(
        "1.3",
        "the best arrow alone",
        "return [min(arrows, key=lambda a: time([a]))]",
        "One fusion is not enough",
    ),
    _cell(
        "1.3",
        "always the next best arrow",
        "chosen = []\n"
        "while True:\n"
        "    left = [a for a in arrows if a not in chosen]\n"
        "    best = min(left, key=lambda a: time([*chosen, a]), default=None)\n"
        "    if best is None or time([*chosen, best]) >= time(chosen):\n"
        "        return chosen\n"
        "    chosen.append(best)",
        "with more fusions than it takes",
    ),
    _cell(
        "1.3",
        "operators that no arrow joins",
        "return [(arrows[0][0], arrows[-1][1])]",
        "these two are no neighbours",
    ),
    _cell(
        "1.3",
        "an arrow that is none is tried",
        "return [(b, a) for a, b in arrows]",
        "yours is turned round",
    ),
    _cell(
        "1.3",
        "the timer is asked for something else",
        'time([("x", "y")])\nreturn []',
        "is not an arrow of this model",
    ),
    # 2.1
    _stays(
        "Tm and Tn swapped",
        "a, Tn * b, (Tk - 1) * c, Tk * c",
        "Tm * a, b, (Tk - 1) * c, Tk * c",
        "Tm * a, Tn * b, 0, c",
        "Tm and Tn are swapped",
    ),
    _stays(
        "partial sums are never read back",
        "a, Tm * b, 0, Tk * c",
        "Tn * a, b, 0, Tk * c",
        C_RIGHT,
        "Partial sums that were written have to be read back",
    ),
    _stays(
        "C is fetched even at first",
        "a, Tm * b, Tk * c, Tk * c",
        "Tn * a, b, Tk * c, Tk * c",
        "Tn * a, Tm * b, c, c",
        "starts on chip as zero",
    ),
    _stays(
        "C counts once everywhere",
        "a, Tm * b, 0, c",
        "Tn * a, b, 0, c",
        C_RIGHT,
        "leaves the chip after each of its Tk visits",
    ),
    _cell(
        "2.1",
        "tiles in place of elements",
        "Tm, Tn, Tk = tiles\nV = Tm * Tn * Tk\na, b, c = Tm * Tk, Tk * Tn, Tm * Tn\n"
        f'return {{"A": ({A_RIGHT}), "B": ({B_RIGHT}), "C": ({C_RIGHT})}}[keep]',
        "These are tiles",
    ),
    _cell(
        "2.1",
        "factors in place of elements",
        f"{PARTS}a = b = c = 1\n"
        f'return {{"A": ({A_RIGHT}), "B": ({B_RIGHT}), "C": ({C_RIGHT})}}[keep]',
        "how often the whole matrix is moved",
    ),
    _cell("2.1", "three numbers", f"{PARTS}return a, b, c", "has 3 numbers", "There must be 4"),
    # 2.2
    _cell("2.2", "plain loops", f"return {_ALL}", "an index that jumps back to 0"),
    _cell(
        "2.2",
        "A stays",
        "return [(m, n, k) for m in range(tm) for k in range(tk) for n in range(tn)]",
        "Tiles of C are written and read back",
    ),
    _cell(
        "2.2",
        "steps are left out",
        f"return {_ALL}[:-1]",
        "steps are missing",
        "a product that nobody adds",
    ),
    _cell("2.2", "steps come twice", f"return 2 * {_ALL}", "added twice"),
    _cell(
        "2.2",
        "m, k, n in place of m, n, k",
        f"return [(m, k, n) for m, n, k in {_ALL}]",
        "A step is (m, n, k), in this order",
    ),
    _cell(
        "2.2",
        "counted from 1",
        f"return [(m + 1, n + 1, k + 1) for m, n, k in {_ALL}]",
        "each from 0",
    ),
    # 2.3
    _cell("2.3", "k turns round, n jumps back", SNAKE_IN_K, "change two or three indices at once"),
    _cell("2.3", "plain loops", f"return {_ALL}", "change two or three indices at once"),
    _cell(
        "2.3",
        "a walk without jumps that keeps A",
        "steps, rows, cols = [], list(range(tk)), list(range(tn))\n"
        "for m in range(tm):\n    for k in rows:\n        steps += [(m, n, k) for n in cols]\n"
        "        cols.reverse()\n    rows.reverse()\nreturn steps",
        "Tiles of C are written and read back",
    ),
    _cell("2.3", "no list", "return None", "what you return is None"),
    # 2.4
    _cell(
        "2.4",
        "cubes",
        DIVISORS + "fit = [t for t in product(*every) if " + FITS + " and len(set(t)) == 1]\n"
        "return min(fit, key=cost)",
        "leave the room to C",
    ),
    _cell(
        "2.4",
        "C is left out of the budget",
        DIVISORS + "fit = [t for t in product(*every) if t[0] * t[2] + t[2] * t[1] <= budget]\n"
        "return min(fit, key=cost)",
        "must be on chip together",
    ),
    _cell(
        "2.4",
        "numbers of tiles",
        DIVISORS + f"t = min((t for t in product(*every) if {FITS}), key=cost)\n"
        "return m // t[0], n // t[1], k // t[2]",
        "These are numbers of tiles",
    ),
    _cell("2.4", "one element each", "return 1, 1, 1", "Some other tiles move less"),
    _cell("2.4", "sizes that do not divide", "return 5, 7, 1", "divide M, N and K without rest"),
    # 2.5
    _cell(
        "2.5",
        "the rate of the stored type",
        TIMES + "return 2 * M * N * K / rates[stored], elements * size[stored] / bandwidth",
        "You take the rate of the type that is stored",
    ),
    _cell(
        "2.5",
        "the bytes of the computed type",
        TIMES + 'size |= {"tf32": 4}\n'
        "return 2 * M * N * K / rates[computed], elements * size[computed] / bandwidth",
        "what crosses the wires is the type that is stored",
    ),
    _cell(
        "2.5",
        "a multiplication and an addition are one",
        TIMES + "return M * N * K / rates[computed], elements * size[stored] / bandwidth",
        "two operations",
    ),
    _cell(
        "2.5",
        "the handout's rule of thumb",
        TIMES + 'x = rates["bf16"]\n'
        'rule = {"bf16": x, "int8": 2 * x, "fp32": x / 2, "fp64": x / 4, "tf32": x / 2}\n'
        "return 2 * M * N * K / rule[computed], elements * size[stored] / bandwidth",
        "This is the rate of another type",
    ),
    _cell(
        "2.5",
        "C is not written",
        TIMES + "elements = M * K + K * N\n"
        "return 2 * M * N * K / rates[computed], elements * size[stored] / bandwidth",
        "A, B and C cross once each",
    ),
    _cell(
        "2.5",
        "bits",
        TIMES + "return 2 * M * N * K / rates[computed], 8 * elements * size[stored] / bandwidth",
        "eight are one byte",
    ),
    _cell(
        "2.5",
        "turned round",
        TIMES + "return elements * size[stored] / bandwidth, 2 * M * N * K / rates[computed]",
        "They are turned round",
    ),
    # 2.6
    _cell(
        "2.6",
        "one scale for all",
        "scale = np.full(len(weight), np.abs(weight).max() / 127)\n"
        "return np.round(weight / scale[:, None]).astype(np.int8), scale",
        "All rows have one scale",
    ),
    _cell(
        "2.6",
        "a scale for each column",
        "scale = np.abs(weight).max(axis=0) / 127\n"
        "return np.round(weight / scale).astype(np.int8), scale",
        "One scale for each row",
    ),
    _cell(
        "2.6",
        "fractions are cut off",
        SCALE.replace("np.round(weight / scale[:, None])", "weight / scale[:, None]")
        + "return q.astype(np.int8), scale",
        "cuts the fraction off",
    ),
    _cell(
        "2.6",
        "128 steps on each side",
        SCALE.replace("127", "128") + "return q.astype(np.int8), scale",
        "128 does not fit into int8",
    ),
    _cell(
        "2.6",
        "a row of zeros",
        "scale = np.abs(weight).max(axis=1) / 127\n"
        "with np.errstate(all='ignore'):\n    return np.round(weight / scale[:, None]), scale",
        "divided by 0",
    ),
    _cell(
        "2.6",
        "the largest number, not the largest magnitude",
        "scale = weight.max(axis=1) / 127\n"
        "return np.clip(np.round(weight / scale[:, None]), -127, 127).astype(np.int8), scale",
        "may belong to a negative weight",
    ),
    _cell("2.6", "not rounded", SCALE + "return weight / scale[:, None], scale", "Round to whole"),
)

RIGHT = (
    _cell(
        "2.6",
        "with PyTorch",
        "import torch\nw = torch.tensor(weight)\n"
        "scale = w.abs().amax(1) / 127\nscale[scale == 0] = 1\n"
        "return (w / scale[:, None]).round().to(torch.int8), scale",
    ),
    _cell("1.1", "loops", TRAFFIC),
    _cell(
        "1.1",
        "sets of values, and lists in place of pairs",
        "of = {n: frozenset(g) for g in groups for n in g}\n"
        "at = lambda n: of.get(n, frozenset([n]))\n"
        "out = {}\n"
        "for op in ops:\n"
        "    inside = {o.makes for o in ops if o.name in at(op.name)}\n"
        "    users = {o.name for o in ops if op.makes in o.reads}\n"
        "    out[op.name] = [sum(nbytes[v] for v in set(op.reads) - inside),\n"
        "                    nbytes[op.makes] * (not users or not users <= at(op.name))]\n"
        "return out",
    ),
    _cell(
        "1.2",
        "a loop and numpy's maximum",
        "import numpy as np\n\nt = np.float64(0)\nfor op in ops:\n    r, w = moved[op.name]\n"
        "    t += np.maximum(op.flops / rate, (r + w) / bandwidth)\nreturn t",
    ),
    _cell("1.3", "the first of the shortest", SETS + "return min(sets, key=lambda s: time(s))"),
    _cell(
        "1.3",
        "the last of the shortest, as a set",
        SETS + "return set(min(sets[::-1], key=lambda s: (time(s), len(s))))",
    ),
    _cell(
        "1.3",
        "by bits",
        "best = None\n"
        "for mask in range(2 ** len(arrows)):\n"
        "    fused = [a for i, a in enumerate(arrows) if mask >> i & 1]\n"
        "    key = time(fused), len(fused)\n"
        "    if best is None or key < best[0]:\n        best = key, fused\n"
        "return best[1]",
    ),
    _stays("a table", A_RIGHT, B_RIGHT, C_RIGHT),
    _cell(
        "2.1",
        "a walk through the loop nest",
        "M, N, K = shape\nTm, Tn, Tk = tiles\nR = range\n"
        'steps = {"A": [(m, n, k) for m in R(Tm) for k in R(Tk) for n in R(Tn)],\n'
        '         "B": [(m, n, k) for n in R(Tn) for k in R(Tk) for m in R(Tm)],\n'
        '         "C": [(m, n, k) for m in R(Tm) for n in R(Tn) for k in R(Tk)]}[keep]\n'
        "a = b = c = None\nra = rb = rc = wc = 0\nseen = set()\n"
        "for m, n, k in steps:\n"
        "    ra += (m, k) != a\n    rb += (k, n) != b\n"
        "    if (m, n) != c:\n        rc += (m, n) in seen\n        wc += 1\n"
        "    seen.add((m, n))\n"
        "    a, b, c = (m, k), (k, n), (m, n)\n"
        "sm, sn, sk = M // Tm, N // Tn, K // Tk\n"
        "return ra * sm * sk, rb * sk * sn, rc * sm * sn, wc * sm * sn",
    ),
    _cell("2.2", "k turns round, n jumps back", SNAKE_IN_K),
    _cell(
        "2.3",
        "columns first, with parities",
        "steps = []\ni = 0\n"
        "for n in range(tn):\n"
        "    rows = range(tm) if n % 2 == 0 else range(tm - 1, -1, -1)\n"
        "    for m in rows:\n"
        "        ks = range(tk) if i % 2 == 0 else range(tk - 1, -1, -1)\n        i += 1\n"
        "        for k in ks:\n            steps.append([m, n, k])\n"
        "return np.array(steps)",
    ),
    _cell(
        "2.4",
        "the largest of equally good ones",
        DIVISORS + f"fit = [t for t in product(*every) if {FITS}]\n"
        "return max(fit, key=lambda t: (-cost(t), t[2]))",
    ),
    _cell(
        "2.5",
        "numpy's floats and bits / 8",
        "M, N, K = map(np.float64, shape)\n"
        "bits = int(''.join(c for c in stored if c.isdigit()))\n"
        "return [M * N * K / rates[computed] * 2, (M * K + K * N + M * N) * bits / 8 / bandwidth]",
    ),
    _cell(
        "2.6",
        "plain Python, no arrays",
        "q, scales = [], []\n"
        "for row in weight.tolist():\n"
        "    s = max(map(abs, row)) / 127 or 1.0\n"
        "    scales.append(s)\n    q.append([int(np.floor(w / s + 0.5)) for w in row])\n"
        "return q, scales",
    ),
    _cell(
        "2.6",
        "scales as a column, in float32",
        SCALE + "return q.astype('int8'), scale[:, None].astype('float32')",
    ),
)

_ORDER = "in which order they are looked at makes no difference"
_TIES = "of tiles that move equally little any one is right"
_ONE = "a tile of one element always fits, and is found again"
_SAME = "the same is added for all tiles: the least stays the least"
_LESS = "task 2.2 asks for less than 2.3: either may run the other way, and columns need not turn"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("1.1", "the other way round", _ORDER),
    ("1.3", "without list", "arrows may come as a tuple"),
    ("1.3", "range(len(arrows) + 2)", "there is no choice of more arrows than there are"),
    ("2.2", "the other way round", _LESS),
    ("2.2", "a statement is left out", _LESS),
    ("2.3", "the other way round", "an order is as good from back to front"),
    ("2.4", "the other way round", _TIES),
    ("2.4", "not the first", _ONE),
    ("2.4", "best, least = ", _ONE),
    (
        "2.4",
        "not the last",
        "the whole fits only where a part that is shorter along K moves as few",
    ),
    ("2.4", "m // i * k * n - m * n", _SAME),
    ("2.4", "moved = n // j * m * k + m // i * k * n", _SAME),
    ("2.4", "moved <= least", _TIES),
    ("2.4", "range(1, size + 2)", "no size has a divisor larger than itself"),
    ("2.4", "n / j", "a divisor leaves no rest"),
    ("2.4", "m / i", "a divisor leaves no rest"),
    ("2.6", "scale[scale == 0] = 2", "a row of zeros may have any scale above 0"),
    ("2.4", "if i + deep * j", "the best tile is one element long along K: i times 1 is i"),
)
