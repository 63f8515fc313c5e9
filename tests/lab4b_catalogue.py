"""Wrong and right-but-different hand-ins for Lab 4B, each as the small change that makes it."""

from __future__ import annotations

from tests.lab4a_catalogue import Change


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
        "stops after one choice",
        "5.6",
        "choose",
        "        now = then\n",
        "        now = then\n        break\n",
        "Go on while the peak is above the budget",
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
        "the peak is found by rewriting a copy",
        "simulate",
        "    memory, kept = storages(graph), kept_values(graph, drop)\n",
        "    from autograder.lab4b.reference import simulate as measured\n"
        "    return measured(graph, drop)\n"
        "    memory, kept = storages(graph), kept_values(graph, drop)\n",
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
