"""Wrong and right-but-different hand-ins for Lab 4B, each as the small change that makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.labs.lab4a.catalogue import Change


def _wrong(name: str, task: str, function: str, old: str, new: str, *says: str) -> Change:
    return Change(name, function, old, new, task, says)


_COST = "cost = sum(seconds[operator] for operator in path)"
_IDLE = "if c.last_forward < now.node < c.first_backward]"

WRONG = (
    # 5.1: candidates
    _wrong(
        "views counted as savings",
        "5.1",
        "candidates",
        "if s.owner is node and s in late]",
        "if s in late]",
        "is a view: it owns no bytes, so dropping it saves nothing",
    ),
    _wrong(
        "values that backward never reads",
        "5.1",
        "candidates",
        "if s.owner is node and s in late]",
        "if s.owner is node]",
        "it dies in forward, dropping it saves nothing",
    ),
    _wrong(
        "random numbers are drawn again",
        "5.1",
        "candidates",
        "node in again and",
        'is_early(node) and node.op == "call_function" and',
        "cannot be rebuilt with the same value",
    ),
    _wrong(
        "the loss is dropped",
        "5.1",
        "candidates",
        "and returned.isdisjoint(memory[node])",
        "or (held and node.name == 'loss') or any(s in returned for s in memory[node])",
        "is a candidate",
    ),
    _wrong(
        "readers behind a view are missed",
        "5.1",
        "candidates",
        "for storage in memory[read]\n    }",
        "for storage in memory[read]\n        if is_operation(read)\n    }",
        "is no candidate",
    ),
    _wrong(
        "all outputs of an operator count",
        "5.1",
        "candidates",
        "sum(storage.nbytes for storage in held)",
        "nbytes(node)",
        "that backward reads, each once",
    ),
    # 5.2: sources and path
    _wrong(
        "no set of visited nodes: shared operators twice",
        "5.2",
        "rebuild",
        "elif read not in seen:",
        "else:",
        "is shared by two branches, but runs once",
    ),
    _wrong(
        "the walk runs through kept values",
        "5.2",
        "rebuild",
        'if read in kept or read.op == "placeholder":',
        'if read.op == "placeholder":',
        "it is still there, and does not run again",
    ),
    _wrong(
        "the value itself is left out",
        "5.2",
        "rebuild",
        "return Rebuild(sources, path)",
        "return Rebuild(sources, path[:-1])",
        "ends with the value itself",
    ),
    _wrong(
        "a view is told as a source",
        "5.2",
        "rebuild",
        "sources.update(storage.owner for storage in memory[read])",
        "sources.add(read)",
        "is a view: tell the node that owns its memory",
    ),
    _wrong(
        "parameters are no sources",
        "5.2",
        "rebuild",
        "                sources.update",
        "                if read.op == 'placeholder':\n                    continue\n"
        "                sources.update",
        "The walk stops at",
    ),
    # 5.3: cost and ratio
    _wrong(
        "the count starts at 0",
        "5.3",
        "describe",
        "count=1,\n                total=cost,",
        "count=0,\n                total=0 * cost,",
        "the count starts at 1",
    ),
    _wrong(
        "the cost sums the sources",
        "5.3",
        "describe",
        _COST,
        "cost = sum(seconds[source] for source in sources)",
        "That sums the sources",
    ),
    _wrong(
        "shared operators counted twice",
        "5.3",
        "describe",
        _COST,
        "visits = lambda n: (seconds[n] if is_operation(n) else 0) + sum(visits(r) for r in"
        ' n.all_input_nodes if r not in kept and r.op != "placeholder")\n'
        "        cost = visits(node)",
        "A shared operator is counted twice",
    ),
    _wrong(
        "only the value itself is timed",
        "5.3",
        "describe",
        _COST,
        "cost = seconds[node]",
        "each counted once",
    ),
    _wrong(
        "the first reader of all",
        "5.3",
        "describe",
        "first_backward=late[0]",
        "first_backward=early[0]",
        "first_backward",
    ),
    _wrong(
        "the last reader of all is taken for forward's",
        "5.3",
        "describe",
        "last_forward=early[-1]",
        "last_forward=users[node][-1]",
        "The last node of forward",
    ),
    # 5.4: the updates
    _wrong(
        "those chosen before are forgotten",
        "5.4",
        "update",
        "for r in chosen:",
        "for r in ():",
        "is rebuilt from",
    ),
    _wrong(
        "the count does not grow",
        "5.4",
        "update",
        "t.count += 1",
        "pass",
        "path once more: count",
    ),
    _wrong(
        "sources are not replaced",
        "5.4",
        "update",
        "            c.sources = c.sources - {t.node} | t.sources\n",
        "",
        "it takes",
    ),
    _wrong(
        "the time of the lost source is not added",
        "5.4",
        "update",
        "            c.seconds += t.seconds\n",
        "",
        "adds",
    ),
    _wrong(
        "what is alive again is rebuilt",
        "5.4",
        "update",
        "if t.first_backward <= c.first_backward <= t.last_backward:",
        "if False:",
        "is alive again when backward first reads",
    ),
    _wrong(
        "sources of the choice keep their total",
        "5.4",
        "update",
        "c.total = t.count * c.seconds",
        "pass",
        "times",
    ),
    # 5.5: the simulated peak
    _wrong(
        "recompute buffers left out",
        "5.5",
        "simulate",
        "change[step] += piece[0].nbytes",
        "if piece[1]:\n            continue\n        change[step] += piece[0].nbytes",
        "Recompute buffers are left out",
    ),
    _wrong(
        "the plan's sum",
        "5.5",
        "simulate",
        "    return Simulated(peak, runs[at][2])",
        "    if drop:\n        sizes = candidates(graph)\n"
        "        peak = simulate(graph, []).nbytes - sum(sizes[n] for n in drop)\n"
        "    return Simulated(peak, runs[at][2])",
        "That is the plan's sum",
    ),
    _wrong(
        "only the dropped values come back, not what they need",
        "5.5",
        "simulate",
        "change[step] += piece[0].nbytes",
        "if piece[1] and piece[0].owner not in drop:\n            continue\n"
        "        change[step] += piece[0].nbytes",
        "bytes",
    ),
    _wrong(
        "the originals stay",
        "5.5",
        "simulate",
        "memory, kept = storages(graph), kept_values(graph, drop)",
        "memory, kept = storages(graph), kept_values(graph, [])",
        "the originals die in forward",
    ),
    _wrong(
        "backward views look at the original",
        "5.5",
        "simulate",
        "looked_at.get(s, (s, again))",
        "(s, again)",
        "bytes",
    ),
    _wrong(
        "a tuple waits for the last of its outputs",
        "5.5",
        "simulate",
        "(*value.all_input_nodes, *taken) if n in lost",
        "value.all_input_nodes if n in lost",
        "a tuple's getitem nodes along with it",
    ),
    _wrong(
        "freed before the last reader has run",
        "5.5",
        "simulate",
        "change[last[piece] + 1]",
        "change[max(last[piece], step + 1)]",
        "bytes",
    ),
    # 5.6: the plan
    _wrong(
        "candidates that are not alive at the peak",
        "5.6",
        "choose",
        _IDLE,
        "]",
        "does not lie idle at the peak",
    ),
    _wrong(
        "goes on below the budget",
        "5.6",
        "choose",
        "while now.nbytes > budget:",
        "while True:",
        "Stop as soon as",
    ),
    _wrong(
        "goes on at the very budget",
        "5.6",
        "choose",
        "while now.nbytes > budget:",
        "while now.nbytes >= budget:",
        "Stop as soon as",
    ),
    _wrong(
        "stops after one choice",
        "5.6",
        "choose",
        "        now = then\n",
        "        now = then\n        break\n",
        "Go on while the peak is above the budget",
    ),
    _wrong(
        "takes what makes the peak rise",
        "5.6",
        "choose",
        "        if then.nbytes > now.nbytes:\n            continue\n",
        "",
        "the peak rises: leave it in memory",
    ),
    _wrong(
        "ends when the peak would rise",
        "5.6",
        "choose",
        "            continue\n",
        "            break\n",
        "Go on while the peak is above the budget",
    ),
    _wrong(
        "forgets the account",
        "5.6",
        "choose",
        "        update(t, chosen, remaining)\n",
        "",
        "ratio",
    ),
    _wrong(
        "saved is the plan's sum",
        "5.6",
        "choose",
        "return Plan([c.node for c in chosen], now.nbytes)",
        "return Plan([c.node for c in chosen],"
        " simulate(graph, []).nbytes - sum(c.nbytes for c in chosen))",
        "sum of the plan's sizes",
    ),
    _wrong(
        "the smallest ratio first",
        "5.6",
        "choose",
        "max(idle",
        "min(idle",
        "has the larger ratio",
    ),
    # 6.3: the rewriter for real models
    _wrong(
        "a plain copy of every operator",
        "6.3",
        "recompute",
        "run_again(graph, value, lambda read: clones.get(read, read))",
        "graph.node_copy(value, lambda read: clones.get(read, read))",
        "running",
    ),
    _wrong(
        "clones in the order in which they were found",
        "6.3",
        "recompute",
        "for value in sorted(missing):",
        "for value in missing:",
        "yours",
    ),
    _wrong(
        "one tuple waits for the last of its outputs",
        "6.3",
        "recompute",
        "(*value.all_input_nodes, *taken) if n in lost",
        "value.all_input_nodes if n in lost",
        "a tuple's getitem nodes along with it",
    ),
    _wrong(
        "clones that nobody reads",
        "6.3",
        "recompute",
        "            reader.replace_input_with(value, clones[value])",
        "            pass",
        "yours",
    ),
    _wrong(
        "everything is cloned before the first reader",
        "6.3",
        "recompute",
        "queue = set(), [read for read in reader.all_input_nodes if read in lost]",
        "queue = set(), [n for n in lost if in_backward(reader)]",
        "right before their first reader",
    ),
)

RIGHT = (
    Change(
        "a path in another order",
        "rebuild",
        "return Rebuild(sources, path)",
        "return Rebuild(sources, path[::-1])",
    ),
    Change(
        "views in the path",
        "rebuild",
        "        if is_operation(value):\n            path.append(value)",
        "        path.append(value)",
    ),
    Change(
        "candidates in another order",
        "candidates",
        "    return found\n",
        "    return dict(reversed(found.items()))\n",
    ),
    Change(
        "what is held is added up anew at each step",
        "simulate",
        "        held += change[step]\n",
        "        held = sum(p[0].nbytes for p in first if first[p] <= step <= last[p])\n",
    ),
    Change(
        "a plan that stops where it cannot save",
        "choose",
        "if then.nbytes > now.nbytes:",
        "if then.nbytes > now.nbytes + 0:",
    ),
    Change(
        "sets changed with other words",
        "update",
        "            c.sources = c.sources - {t.node} | t.sources\n",
        "            c.sources = {s for s in c.sources if s is not t.node}.union(t.sources)\n",
    ),
)


Rows = list[dict[str, str]]


@dataclass(frozen=True)
class TableChange:
    """A handed-in table of notebook 06: what is done to the right rows, and what is said."""

    name: str
    task: str
    """The task that loses points; all of them, or those of the hidden case."""
    change: Callable[[Rows], Rows]
    says: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The table that it is about."""
        return "latency.csv" if self.task == "6.5" else "memory.csv"


def _each(change: Callable[[dict[str, str]], dict[str, str]], method: str = "") -> Any:
    """Change the rows of one method, or all of them."""

    def changed(rows: Rows) -> Rows:
        return [{**row, **change(row)} if method in ("", row["method"]) else row for row in rows]

    return changed


def _scaled(column: str, factor: float, method: str = "") -> Any:
    return _each(lambda row: {column: repr(float(row[column]) * factor)}, method)


def _swapped(rows: Rows) -> Rows:
    names = {"none": "recomputed", "recomputed": "none"}
    peaks = {(row["model"], row["batch"], row["method"]): row["peak_bytes"] for row in rows}
    return [
        {**row, "peak_bytes": peaks[row["model"], row["batch"], names[row["method"]]]}
        for row in rows
    ]


def _copied(columns: tuple[str, ...]) -> Callable[[Rows], Rows]:
    """Rows with recomputation that repeat those without."""

    def changed(rows: Rows) -> Rows:
        plain = {(row["model"], row["batch"]): row for row in rows if row["method"] == "none"}
        return _each(
            lambda row: {c: plain[row["model"], row["batch"]][c] for c in columns}, "recomputed"
        )(rows)

    return changed


def _at_batch(batch: str, column: str, factor: float) -> Callable[[Rows], Rows]:
    scaled = lambda row: {column: str(round(float(row[column]) * factor))}  # noqa: E731
    return _each(lambda row: scaled(row) if row["batch"] == batch else {})


WRONG_TABLES = (
    TableChange("no file", "6.2", lambda rows: [], ("no memory.csv", "hand in memory.csv")),
    TableChange("a row is missing", "6.2", lambda rows: rows[1:], ("no peak_bytes for tiny BERT",)),
    TableChange(
        "peaks in megabytes", "6.2", _scaled("peak_bytes", 1e-6), ("That is in MB", "in bytes")
    ),
    TableChange("static memory in GiB", "6.2", _scaled("static_bytes", 2**-30), ("in GiB",)),
    TableChange(
        "static memory is left out",
        "6.2",
        _each(lambda row: {"peak_bytes": str(int(row["peak_bytes"]) - int(row["static_bytes"]))}),
        ("above static memory",),
    ),
    TableChange(
        "a peak is made up", "6.2", _at_batch("8", "peak_bytes", 1.3), ("made up", "each sample")
    ),
    TableChange(
        "a larger batch needs less", "6.2", _at_batch("8", "peak_bytes", 0.3), ("larger batch",)
    ),
    TableChange(
        "rows of other models",
        "6.2",
        _each(lambda row: {"model": row["model"].replace("tiny ", "") + "-base"}),
        ("no peak_bytes for",),
    ),
    TableChange(
        "no row with recomputation",
        "6.4",
        lambda rows: [row for row in rows if row["method"] == "none"],
        ("no peak_bytes for tiny BERT, recomputed",),
    ),
    TableChange(
        "the peak with recomputation is above the one without",
        "6.4",
        _swapped,
        ("is not below the one without", "swapped"),
    ),
    TableChange("nothing is saved", "6.4", _copied(("peak_bytes",)), ("is not below the one",)),
    TableChange(
        "more is saved than dropped",
        "6.4",
        _scaled("dropped_bytes", 0.5, "recomputed"),
        ("No plan saves more than it drops",),
    ),
    TableChange(
        "the plan is not told", "6.4", _each(lambda _: {"plan": ""}), ("separated by spaces",)
    ),
    TableChange(
        "another plan than the peak's",
        "6.4",
        _each(lambda row: {"plan": " ".join(row["plan"].split()[:-1] + row["plan"].split()[:1])}),
        ("was traced and simulated again",),
    ),
    TableChange(
        "the peak of the plan is made up",
        "6.4",
        _scaled("peak_bytes", 1.01, "recomputed"),
        ("was traced and simulated again: this is its peak",),
    ),
    TableChange(
        "a plan of names that are none",
        "6.4",
        _each(lambda row: {"plan": " ".join(f"x{n}" for n in row["plan"].split())}),
        ("is no candidate", "simulated again"),
    ),
    TableChange(
        "a latency of 0", "6.5", _scaled("min", 0), ("0 < min <= median <= max", "time_step")
    ),
    TableChange(
        "the latency is copied",
        "6.5",
        _copied(("min", "median", "max")),
        ("times without recomputation, to the last digit",),
    ),
    TableChange(
        "every run takes the same",
        "6.5",
        _each(lambda row: {"min": row["median"], "max": row["median"]}),
        ("to the last digit: are these measured?",),
    ),
    TableChange(
        "times in milliseconds",
        "6.5",
        _each(lambda row: {c: repr(1e3 * float(row[c])) for c in ("min", "median", "max")}),
        ("That is in milliseconds",),
    ),
    TableChange(
        "times in microseconds",
        "6.5",
        _each(lambda row: {c: repr(1e6 * float(row[c])) for c in ("min", "median", "max")}),
        ("That is in microseconds",),
    ),
    TableChange("one run only", "6.5", _each(lambda _: {"repeats": "1"}), ("at least 3 repeats",)),
    TableChange(
        "a column is missing",
        "6.5",
        lambda rows: [{k: v for k, v in row.items() if k != "max"} for row in rows],
        ("has no max",),
    ),
)

_TIMES = ("min", "median", "max")
#: The change is tried on both tables, and on all tasks.
RIGHT_TABLES = (
    TableChange(
        "without the total",
        "",
        lambda rows: [{k: v for k, v in row.items() if k != "total"} for row in rows],
    ),
    TableChange("rows in another order", "", lambda rows: rows[::-1]),
    TableChange("more columns", "", _each(lambda _: {"note": "measured, on my laptop"})),
    TableChange("more rows", "", lambda rows: [*rows, {**rows[0], "batch": "64"}]),
    TableChange(
        "columns in another order",
        "",
        lambda rows: [dict(reversed(row.items())) for row in rows],
    ),
    TableChange(
        "bytes as floating-point numbers",
        "",
        _each(lambda row: {"peak_bytes": f"{float(row['peak_bytes']):.6e}"}),
    ),
    TableChange(
        "names of the plan in another order",
        "",
        _each(lambda row: {"plan": " ".join(sorted(row.get("plan", "").split()))}),
    ),
    TableChange(
        "a machine with a load of thousands",
        "",
        _each(lambda row: {c: repr(5000 * float(row[c])) for c in (*_TIMES, "total") if c in row}),
    ),
)

_ORDER = "in which order they are looked at makes no difference"
_ENDS = "the first node is given to the step, the last one is its output: neither is an operator"
_GIVEN = "what is given is kept in any case"
_LAST = "the last step is an update: nothing is made there, and it is not the peak"
#: Mutants that are right as well: the task, part of the changed line, and why.
EQUIVALENT = (
    ("5.1", "the other way round", _ORDER),
    ("5.1", "list(graph.nodes)[", _ENDS),
    ("5.1", "if in_backward(node)", "what the output reads is handed back, and no candidate"),
    ("5.2", "the other way round", "inputs still come before their readers"),
    ("5.2", "if True:", "views on the path take no time, and may be told"),
    ("5.2", "if read in kept:", _GIVEN),
    ("5.3", "list(graph.nodes)[", _ENDS),
    ("5.3", "the other way round", _ORDER),
    ("5.3", "if True:", "what is given or handed back is no candidate"),
    ("5.4", "the other way round", _ORDER),
    ("5.5", "list(graph.nodes)[", _ENDS),
    ("5.5", "the other way round", _ORDER),
    ("5.5", "list(enumerate(runs))[:-1]", _LAST),
    ("5.5", "list(range(len(runs)))[:-1]", _LAST),
    ("5.5", "end = len(runs) - 2", _LAST),
    ("5.5", "list(first.items())[:-1]", "what is made last of all is made after the peak"),
    ("5.5", "outputs(graph).values()))[1:]", "the first weight is updated at the very end"),
    ("5.5", "outputs(graph).values()))[:-1]", "an updated weight lies where it was given"),
    ("5.5", "if False:", "given values as steps of their own hold nothing more"),
    ("5.5", "left out: pass", "given values as steps of their own hold nothing more"),
    ("5.5", "first = {piece: 1 ", "step 1 holds all that step 0 holds"),
    ("5.5", "if held >= peak:", "any node of a peak that is met twice is right"),
    ("5.5", "change = [0] * (len(runs) + 2)", "there is a place more at the end, and no step"),
    ("5.5", "lost = {n for n in graph.nodes if is_early(n)} - kept", _GIVEN),
    ("5.5", "[(s, True) for s in memory[n]]", "the mark of what is given is but a name"),
    ("5.6", "c.last_forward <= now.node", "peaks lie in backward, after all uses in forward"),
    ("6.1", "list(graph.nodes)[", _ENDS),
    ("6.1", "before, total = ({}, 1.0)", "only differences of these times count"),
    ("6.3", "and in_backward(n)])[1:]", "backward begins at the loss, which reads no activation"),
    ("6.3", "and in_backward(n)])[:-1]", "the last node is an update, which reads no activation"),
    ("6.3", "the other way round", _ORDER),
    ("6.3", "for n in graph.nodes if in_backward(n)]", "what the output reads is kept"),
    ("6.3", "lost = {n for n in graph.nodes if is_early(n)} - there", _GIVEN),
)
