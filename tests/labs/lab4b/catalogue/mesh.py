"""Wrong and right cells of notebook 1, a mesh and the messages on it."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab4b import LAB
from tests.support.catalogue import Cell
from tests.support.catalogue import cell as any_cell

_cell = partial(any_cell, LAB)


def _changed(task: str, body: str, name: str, old: str, new: str, *says: str) -> Cell:
    assert old in body, old
    return _cell(task, name, body.replace(old, new), *says)


#: Task 1.1 with places for mistakes.
LINKS = """\
links = []
for y in range(height):
    for x in range(width):
        for right, down in ((1, 0), (0, 1)):
            if x + right < width and y + down < height:
                a, b = y * width + x, (y + down) * width + x + right
                links += [(a, b), (b, a)]
return links"""
TORUS = """\
links = set()
for y in range(height):
    for x in range(width):
        for a, b in (((x + 1) % width, y), (x, (y + 1) % height)):
            if (a, b) != (x, y):
                links |= {(y * width + x, b * width + a), (b * width + a, y * width + x)}
return links"""
BY_NUMBER = """\
links, nodes = [], width * height
for n in range(nodes):
    if n + 1 < nodes: links += [(n, n + 1), (n + 1, n)]
    if n + width < nodes: links += [(n, n + width), (n + width, n)]
return links"""
EVERY_NEIGHBOUR = """\
links = []
for n in range(width * height):
    for m in range(width * height):
        if abs(n % width - m % width) + abs(n // width - m // width) == 1:
            links += [(n, m), (m, n)]
return links"""
NEAR = """\
return {(n, m) for n in range(width * height) for m in range(width * height)
        if n != m and max(abs(n % width - m % width), abs(n // width - m // width)) == 1}"""

#: Task 1.2 with places for mistakes.
ROUTE = """\
x, y, to_x, to_y = src % width, src // width, dst % width, dst // width
nodes = [src]
while x != to_x:
    x += 1 if to_x > x else -1
    nodes.append(y * width + x)
while y != to_y:
    y += 1 if to_y > y else -1
    nodes.append(y * width + x)
return nodes"""
Y_FIRST = """\
way = [dst]
x, y, to_x, to_y = dst % width, dst // width, src % width, src // width
while x != to_x:
    x += 1 if to_x > x else -1
    way.append(y * width + x)
while y != to_y:
    y += 1 if to_y > y else -1
    way.append(y * width + x)
return way[::-1]"""
DIAGONAL = """\
x, y, to_x, to_y = src % width, src // width, dst % width, dst // width
nodes = [src]
while (x, y) != (to_x, to_y):
    x += (to_x > x) - (to_x < x)
    y += (to_y > y) - (to_y < y)
    nodes.append(y * width + x)
return nodes"""
AROUND = """\
x, y, to_x, to_y = src % width, src // width, dst % width, dst // width
nodes = [src]
right = (to_x - x) % width <= (x - to_x) % width
while x != to_x:
    x = (x + (1 if right else -1)) % width
    nodes.append(y * width + x)
down = (to_y - y) % height <= (y - to_y) % height
while y != to_y:
    y = (y + (1 if down else -1)) % height
    nodes.append(y * width + x)
return nodes"""

#: Task 1.3 with places for mistakes.
CIRCLE = """\
waits = {}
for way in routes:
    links = list(zip(way, way[1:]))
    for held, wanted in zip(links, links[1:]):
        waits.setdefault(held, []).append(wanted)
def walk(path):
    for wanted in waits.get(path[-1], []):
        if wanted in path:
            return path[path.index(wanted):]
        if wanted not in seen:
            seen.add(wanted)
            found = walk([*path, wanted])
            if found:
                return found
    return []
seen = set()
for link in waits:
    found = walk([link])
    if found:
        return found
return []"""
OF_NODES = """\
links = {pair for way in routes for pair in zip(way, way[1:])}
for a, b in links:
    if (b, a) in links:
        return [(a, b), (b, a)]
return []"""
ANY_TURN = """\
links = {pair for way in routes for pair in zip(way, way[1:])}
routes = [[a, b, d] for a, b in links for c, d in links if b == c and a != d]
"""
LIBRARY = """\
from graphlib import CycleError, TopologicalSorter
sorter = TopologicalSorter()
for way in routes:
    for held, wanted in pairwise(pairwise(way)):
        sorter.add(wanted, held)
try:
    sorter.prepare()
except CycleError as error:
    return [list(link) for link in error.args[1]]
return []"""

#: Task 1.4 with places for mistakes.
CLOCK = """\
free, ends = {}, [m.start for m in messages]
events = [(m.start, n, 0) for n, m in enumerate(messages)]
while events:
    events.sort()
    now, n, place = events.pop(0)
    way = messages[n].route
    if place + 1 == len(way):
        ends[n] = now
        continue
    over, nbytes = (way[place], way[place + 1]), messages[n].nbytes
    began = max(now, free.get(over, 0))
    free[over] = began + link.busy(nbytes)
    events.append((began + link.hop(nbytes), n, place + 1))
return ends"""
ALONE = "return [m.start + (len(m.route) - 1) * link.hop(m.nbytes) for m in messages]"
IN_LIST_ORDER = """\
free, ends = {}, []
for m in messages:
    now = m.start
    for over in zip(m.route, m.route[1:]):
        began = max(now, free.get(over, 0))
        free[over] = began + link.busy(m.nbytes)
        now = began + link.hop(m.nbytes)
    ends.append(now)
return ends"""
CUT_THROUGH = """\
return [m.start + (len(m.route) - 1) * link.latency + link.busy(m.nbytes) for m in messages]"""
QUEUES = """\
at = [[m.start, n, 0] for n, m in enumerate(messages)]
free = {}
while True:
    going = [one for one in at if one[2] + 1 < len(messages[one[1]].route)]
    if not going:
        return [float(time) for time, _, _ in at]
    one = min(going)
    m = messages[one[1]]
    over = m.route[one[2]], m.route[one[2] + 1]
    start = max(one[0], free.get(over, 0))
    free[over] = start + link.busy(m.nbytes)
    one[0], one[2] = start + link.hop(m.nbytes), one[2] + 1"""

#: Task 1.5: forbid two turns, those that suit the traffic best (the turn model).
TURN_MODEL = """\
best = None
for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
    load, chosen = Counter(), []
    for src, dst in pairs:
        dx, dy = (dst % width - src % width) * sx, (dst // width - src // width) * sy
        along_x = route(src, dst, width, height)
        along_y = route(dst, src, width, height)[::-1]
        ways = [along_x] if dx < 0 < dy else [along_y] if dy < 0 < dx else [along_x, along_y]
        way = min(ways, key=lambda one: max(load[pair] for pair in pairwise(one)))
        chosen.append(way)
        load.update(pairwise(way))
    took = max(arrivals([Message(0, MIB, way) for way in chosen], LINK))
    if best is None or took < best[0]:
        best = took, chosen
return best[1]"""
BY_TURNS = """\
return [route(a, b, width, height) if n % 2 else route(b, a, width, height)[::-1]
        for n, (a, b) in enumerate(pairs)]"""
EMPTIER = """\
load, chosen = Counter(), []
for src, dst in pairs:
    ways = route(src, dst, width, height), route(dst, src, width, height)[::-1]
    way = min(ways, key=lambda one: max(load[pair] for pair in pairwise(one)))
    chosen.append(way)
    load.update(pairwise(way))
return chosen"""
FULL_OF_WAITING = """\
load, chosen = Counter(), []
for src, dst in pairs:
    ways = route(dst, src, width, height)[::-1], route(src, dst, width, height)
    ways = sorted(ways, key=lambda one: sum(load[pair] for pair in pairwise(one)))
    for way in ways:
        if waiting_cycle(chosen + [way]) == []:
            break
    chosen.append(tuple(way))
    load.update(pairwise(way))
return tuple(chosen)"""

#: Task 1.6 with places for mistakes.
LOG = """\
words = dict(zip(METRICS, ["Wall time", "GPU time", "Comm time", "Compute bound percentage",
    "Average compute utilization", "Average memory utilization", "Average operation intensity",
    "peak memory usage"]))
found = {}
for line in text.splitlines():
    for name, told in words.items():
        if "sys[0]" in line and told + ": " in line:
            value = line.split(told + ": ")[1]
            number = float(value.split()[0].rstrip("%"))
            if name == "peak_memory_usage":
                number *= 1024 ** "BKMGT".index(value.split()[1][0])
            found[name] = number
return found"""
EXPRESSION = """\
import re
def one(words):
    return re.search(r"sys\\[0\\],? " + words + r": ([\\d.]+)%? ?(\\w*)", text).groups()
names = ["Wall time", "GPU time", "Comm time", "Compute bound percentage",
    "Average compute utilization", "Average memory utilization", "Average operation intensity"]
found = {name: float(one(words)[0]) for name, words in zip(METRICS, names)}
number, unit = one("peak memory usage")
found["peak_memory_usage"] = float(number) * {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30,
    "TB": 2**40}[unit]
return found"""


def _links(name: str, old: str, new: str, *says: str) -> Cell:
    return _changed("1.1", LINKS, name, old, new, *says)


def _route(name: str, old: str, new: str, *says: str) -> Cell:
    return _changed("1.2", ROUTE, name, old, new, *says)


def _circle(name: str, old: str, new: str, *says: str) -> Cell:
    return _changed("1.3", CIRCLE, name, old, new, *says)


def _clock(name: str, old: str, new: str, *says: str) -> Cell:
    return _changed("1.4", CLOCK, name, old, new, *says)


def _log(name: str, old: str, new: str, *says: str) -> Cell:
    return _changed("1.6", LOG, name, old, new, *says)


WRONG: list[Cell] = [
    _cell("1.1", "a torus", TORUS, "makes a torus"),
    _links("one direction", "[(a, b), (b, a)]", "[(a, b)]", "A link goes one way"),
    _cell("1.1", "by number", BY_NUMBER, "one node ends a row"),
    _cell("1.1", "twice", EVERY_NEIGHBOUR, "A link is there twice"),
    _cell("1.1", "diagonals", NEAR, "no diagonal links"),
    _cell("1.1", "swapped", "width, height = height, width\n" + LINKS, "are swapped"),
    _links("rows alone", "((1, 0), (0, 1))", "((1, 0),)", "not with the rows above and below"),
    _links("columns alone", "((1, 0), (0, 1))", "((0, 1),)", "not with those beside them"),
    _cell("1.1", "out of the mesh", LINKS.replace("x + right < width and ", "")
          .replace("y + down < height", "True"), "fewer neighbours"),
    _cell("1.2", "y first", Y_FIRST, "along y first"),
    _cell("1.2", "swapped", "width, height = height, width\n" + ROUTE, "are swapped"),
    _route("without the source", "nodes = [src]", "nodes = []", "The source is missing"),
    _route("without the end", "return nodes", "return nodes[:-1]", "The destination is missing"),
    _route("backwards", "return nodes", "return nodes[::-1]", "the way back"),
    _cell("1.2", "diagonal", DIAGONAL, "never both"),
    _cell("1.2", "around the edge", AROUND, "around the edge"),
    _cell("1.2", "nobody at home", "if src == dst:\n    return []\n" + ROUTE, "this node alone"),
    _cell("1.3", "never a circle", "return []", "you found nothing"),
    _cell("1.3", "of nodes", OF_NODES, "messages that pass each other"),
    _cell("1.3", "any turn", ANY_TURN + CIRCLE, "only the turns that some route takes count"),
    _circle("waits for all that follow", "zip(links, links[1:])",
            "((a, b) for n, a in enumerate(links) for b in links[n + 2 :])",
            "not one right after the other"),
    _circle("backwards", "return path[path.index(wanted):]",
            "return path[path.index(wanted):][::-1]", "in this order", ),
    _circle("with the way to it", "return path[path.index(wanted):]", "return path", "circle"),
    _cell("1.4", "alone", ALONE, "times of messages that are alone"),
    _clock("busy until it is there", "link.busy(nbytes)", "link.hop(nbytes)", "not for link.hop"),
    _clock("two-way", "over, nbytes = (way[place], way[place + 1])",
           "over, nbytes = frozenset(way[place : place + 2])", "opposite directions"),
    _cell("1.4", "in the order of the list", IN_LIST_ORDER, "what happens next in time"),
    _clock("all at once", "(m.start, n, 0)", "(0, n, 0)", "begin with message.start"),
    _clock("forgets", "free[over] = began", "free[over] = now", "may have taken it later"),
    _clock("last come", "now, n, place = events.pop(0)",
           "now, n, place = events.pop(sum(e[0] == events[0][0] for e in events) - 1)",
           "served first"),
    _cell("1.4", "cut-through", CUT_THROUGH, "faster than a message that is alone"),
    _cell("1.5", "XY", "return [route(a, b, width, height) for a, b in pairs]", "known route"),
    _cell("1.5", "YX", "return [route(b, a, width, height)[::-1] for a, b in pairs]",
          "XY with"),
    _cell("1.5", "by turns", BY_TURNS, "wait for each other in a circle"),
    _cell("1.5", "the emptier way", EMPTIER, "wait for each other in a circle"),
    _cell("1.5", "the way back", "return [route(b, a, width, height) for a, b in pairs]",
          "begins at the first node"),
    _cell("1.5", "one jump", "return [[a, b] for a, b in pairs]", "from neighbour to neighbour"),
    _log("of whoever comes last", '"sys[0]" in line and ', "", "another system"),
    _log("every zero", '"sys[0]" in line', '"0]" in line', "not of sys[10]"),
    _log("text", "found[name] = number", "found[name] = value", "make a number of"),
    _log("as it stands", 'number *= 1024 ** "BKMGT".index(value.split()[1][0])', "pass",
         "the unit of the log"),
    _log("a billion", "1024 **", "1000 **", "not 10**9"),
    _log("a share", "            found[name] = number",
         '            found[name] = number / 100 if "%" in value else number', "divide by 100"),
    _log("another name", "found[name] = number", "found[told] = number", "names of METRICS"),
]  # fmt: skip
RIGHT: list[Cell] = [
    _cell("1.1", "two loops", LINKS),
    _cell("1.1", "every pair", EVERY_NEIGHBOUR.replace("[(n, m), (m, n)]", "[[n, m]]")),
    _cell("1.1", "a set", TORUS.replace("if (a, b) != (x, y)", "if a > x or b > y")),
    _cell("1.2", "loops", ROUTE),
    _cell("1.2", "a generator", ROUTE.replace("return nodes", "yield from nodes")),
    _cell("1.3", "deep first", CIRCLE),
    _cell("1.3", "the library", LIBRARY),
    _cell("1.4", "a sorted list", CLOCK),
    _cell("1.4", "without events", QUEUES),
    _cell("1.5", "two turns forbidden", TURN_MODEL),
    _cell("1.5", "by sums", FULL_OF_WAITING),
    _cell("1.6", "line by line", LOG),
    _cell("1.6", "expressions", EXPRESSION),
]
_ORDER = "in which order they are looked at makes no difference"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("1.1", "the other way round", "links may come in any order"),
    ("1.2", ">= ", "the loop ends before they are equal"),
    ("1.3", "the other way round", _ORDER),
    ("1.4", "the other way round", "a heap has an order of its own"),
    ("1.4", "ends = [1]", "every message writes its own time there"),
    ("1.5", "min for max", "another rule that is fast enough"),
    ("1.6", "the other way round", _ORDER),
    ("1.6", "not the first", "the first line of a log is about the network, not about a chip"),
)
