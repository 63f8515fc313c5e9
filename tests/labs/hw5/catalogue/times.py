"""Wrong and right cells of notebook 1, times."""

from __future__ import annotations

from tests.support.catalogue import Cell, Written

TIMED = Written(
    "hw5",
    "1.1",
    """\
for _ in range(2):
    total = 0.0
    for batch in batches():
        sync()
        start = clock()
        step(batch)
        sync()
        total += clock() - start
return total""",
)
IMPOSSIBLE = Written(
    "hw5",
    "1.2",
    """\
work = 6 * macs * images / saving
return [b for b, t in seconds.items() if t is not None and work / t > peak]""",
)
SPEEDUPS = Written(
    "hw5",
    "1.4",
    "return {(n, b): times[1, b] / t for (n, b), t in times.items() if (1, b) in times}",
)
STRONG = Written(
    "hw5",
    "1.5",
    """\
return [
    (one, two, times[one] / times[two])
    for one in times for two in times
    if one[0] == 1 and two[0] > 1 and one[1] == two[0] * two[1]
]""",
)
SPLIT = Written(
    "hw5",
    "1.7",
    """\
parts = {}
for (n, b), t in times.items():
    if n > 1 and b in alone:
        compute = alone[b] / n
        if t < compute:
            raise ValueError(f"cell ({n}, {b})")
        parts[n, b] = (compute, t - compute)
return parts""",
)
BANDWIDTH = Written(
    "hw5",
    "1.8",
    """\
return {
    (n, b): 2 * (n - 1) / n * nbytes * math.ceil(images / (n * b)) / s / 1e9
    for (n, b), s in communication.items()
}""",
)
WRONG: list[Cell] = [
    TIMED.with_("nothing waits", ("        sync()\n", ""), says="the launches alone"),
    TIMED.with_(
        "the first epoch", ("range(2)", "range(1)"), says="run one epoch that does not count"
    ),
    TIMED.with_(
        "both epochs",
        ("    total = 0.0\n", ""),
        ("for _ in range(2)", "total = 0.0\nfor _ in range(2)"),
        says="start again from 0",
    ),
    TIMED.with_(
        "one sync",
        ("        sync()\n        start = clock()", "        start = clock()"),
        says="before the first reading too",
    ),
    TIMED.body(
        "with loading",
        "for _ in range(2):\n    sync(); start = clock()\n    for batch in batches():\n"
        "        step(batch)\n        sync()\n    total = clock() - start\nreturn total",
        "Loading is in this sum",
    ),
    IMPOSSIBLE.with_("MACs as operations", ("6 *", "3 *"), says="A MAC is two operations"),
    IMPOSSIBLE.with_("forward only", ("6 *", "2 *"), says="forward and backward"),
    IMPOSSIBLE.with_("no saving", (" / saving", ""), says="Clever algorithms save"),
    IMPOSSIBLE.with_("saving upside down", ("/ saving", "* saving"), says="divide the operations"),
    IMPOSSIBLE.with_("the possible ones", ("> peak", "<= peak"), says="rows that are possible"),
    SPEEDUPS.with_("upside down", ("times[1, b] / t", "t / times[1, b]"), says="the inverse"),
    SPEEDUPS.with_("efficiency", ("times[1, b] / t", "times[1, b] / t / n"), says="efficiency"),
    SPEEDUPS.with_(
        "one base for all", ("times[1, b] / t", "times[min(times)] / t"), says="its own"
    ),
    SPEEDUPS.with_(
        "without one GPU", ("if (1, b) in times", "if n > 1 and (1, b) in times"), says="missing"
    ),
    STRONG.with_("the same batch of each", ("two[0] * two[1]", "two[1]"), says="weak scaling"),
    STRONG.with_("upside down", ("times[one] / times[two]", "times[two] / times[one]"), says="one"),
    STRONG.with_(
        "among several GPUs",
        ("one[0] == 1 and two[0] > 1 and one[1]", "one[0] < two[0] and one[0] * one[1]"),
        says="compares with one GPU",
    ),
    STRONG.with_("one pair", ("return [", "return ["), ("\n]", "\n][:1]"), says="missing"),
    SPLIT.with_("not shared", ("alone[b] / n", "alone[b]"), says="One epoch is shared"),
    SPLIT.with_(
        "clamped",
        ('            raise ValueError(f"cell ({n}, {b})")', "            pass"),
        ("t - compute", "max(t - compute, 0)"),
        says="hides an impossible table",
    ),
    SPLIT.with_("the total", ("(compute, t - compute)", "(t, t - compute)"), says="the total"),
    SPLIT.with_("no name", ("cell ({n}, {b})", "impossible"), says="names the cell"),
    SPLIT.with_(
        "with loading",
        ("b in alone", "(1, b) in times"),
        ("alone[b] / n", "times[1, b] / n"),
        says="",
    ),
    BANDWIDTH.with_("one step", (" * math.ceil(images / (n * b))", ""), says="of one step"),
    BANDWIDTH.with_("GiB", ("/ 1e9", "/ 2**30"), says="GiB/s"),
    BANDWIDTH.with_("steps of one GPU", ("(n * b)", "b"), says="a batch on every GPU"),
    BANDWIDTH.with_("whole tensors", ("(n - 1) / n", "(n - 1)"), says="one of N chunks"),
    BANDWIDTH.with_(
        "rounded down", ("math.ceil(images / (n * b))", "(images // (n * b))"), says="round up"
    ),
    BANDWIDTH.body("nothing", "return dict.fromkeys(communication, 0.0)", "2 (N - 1) / N", most=0),
    BANDWIDTH.with_(
        "upside down",
        ("2 * (n - 1)", "1 / (2 * (n - 1)"),
        ("/ s / 1e9", "/ s / 1e9)"),
        says="This is the inverse",
    ),
    BANDWIDTH.with_("once around", ("2 * (n - 1)", "(n - 1)"), says="goes around twice"),
]
RIGHT: list[Cell] = [
    TIMED.body(
        "all batches are loaded first",
        "for batch in batches():\n    step(batch)\ndata = list(batches())\nsync()\n"
        "start = clock()\n"
        "for batch in data:\n    step(batch)\nsync()\nreturn clock() - start",
    ),
    IMPOSSIBLE.body(
        "by the shortest time",
        "least = 2 * macs * 3 * images / saving / peak\n"
        "return {b for b, t in seconds.items() if t and t < least}",
    ),
    SPEEDUPS.body(
        "a loop",
        "told = {}\nfor cell in times:\n    one = times.get((1, cell[1]))\n    if one:\n"
        "        told[cell] = one / times[cell]\nreturn told",
    ),
    STRONG.body(
        "by total",
        "told = set()\nfor (n, b), t in times.items():\n    one = (1, n * b)\n"
        "    if n != 1 and one in times:\n        told.add((one, (n, b), times[one] / t))\n"
        "return told",
    ),
    SPLIT.body(
        "lists, and a check at the end",
        "told = {c: [alone[c[1]] / c[0], t - alone[c[1]] / c[0]] for c, t in times.items()\n"
        "        if c[0] != 1 and c[1] in alone}\nfor c, (_, comm) in told.items():\n"
        "    if comm < 0:\n        raise ValueError('batch %d on %d GPUs' % (c[1], c[0]))\n"
        "return told",
    ),
    BANDWIDTH.body(
        "in whole numbers",
        "told = {}\nfor (n, b), s in communication.items():\n    steps = -(-images // (n * b))\n"
        "    told[(n, b)] = steps * 2 * (n - 1) * (nbytes / n) / (s * 10**9)\nreturn told",
    ),
]
