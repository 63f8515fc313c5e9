"""Cells that students might write in notebook 2 of Lab 4B."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab4b import LAB
from tests.support.catalogue import Cell
from tests.support.catalogue import cell as any_cell

cell = partial(any_cell, LAB)


def swap(
    task: str, name: str, body: str, old: str, new: str, *says: str, most: float = 0.5
) -> Cell:
    """A right body with one place changed."""
    assert old in body, (name, old)
    return cell(task, name, body.replace(old, new), *says, most=most)


_DIRECT = (
    "first, second = [], []\n"
    "for a in range(ranks):\n"
    "    for b in range(ranks):\n"
    "        if a != b:\n"
    "            first.append(Send(a, b, (b,), True))\n"
    "            second.append(Send(a, b, (a,), False))\n"
    "return [first, second]"
)
_HALVING = (
    "steps, distance = [], ranks // 2\n"
    "def block(rank, size):\n"
    "    return range(rank // size * size, rank // size * size + size)\n"
    "while distance:\n"
    "    steps.append([Send(r, r ^ distance, tuple(block(r ^ distance, distance)), True)\n"
    "                  for r in range(ranks)])\n"
    "    distance //= 2\n"
    "distance = 1\n"
    "while distance < ranks:\n"
    "    steps.append([Send(r, r ^ distance, tuple(block(r, distance)), False)\n"
    "                  for r in range(ranks)])\n"
    "    distance *= 2\n"
    "return steps"
)
#: Along each dimension a ring, not direct; responsibility by remainders, not by blocks.
_ALONG = (
    "ranks, there, inner = prod(sizes), [], 1\n"
    "mine = [set(range(ranks)) for _ in range(ranks)]\n"
    "for size in sizes:\n"
    "    def part(rank, at):\n"
    "        return tuple(c for c in sorted(mine[rank]) if c // inner % size == at)\n"
    "    for hop in range(1, size):\n"
    "        step = []\n"
    "        for rank in range(ranks):\n"
    "            at = rank // inner % size\n"
    "            to = (at + hop) % size\n"
    "            step.append(Send(rank, rank + (to - at) * inner, part(rank, to), True))\n"
    "        there.append(step)\n"
    "    mine = [set(part(rank, rank // inner % size)) for rank in range(ranks)]\n"
    "    inner *= size\n"
    "back = [[Send(m.dst, m.src, m.chunks, False) for m in s] for s in reversed(there)]\n"
    "return there + back"
)
_SECONDS = (
    "total, left = 0.0, nbytes\n"
    "for dim in dims:\n"
    "    n = dim.size\n"
    "    if n > 1:\n"
    "        if dim.kind == 'Ring':\n"
    "            total += (n - 1) * dim.latency + (n - 1) / n * left / dim.bandwidth / dim.ways\n"
    "        elif dim.kind == 'FullyConnected':\n"
    "            total += dim.latency + left / n / dim.bandwidth\n"
    "        else:\n"
    "            steps = n.bit_length() - 1\n"
    "            total += 2 * steps * dim.latency + (n - 1) / n * left / dim.bandwidth\n"
    "    left = left / n\n"
    "return total * (2 if collective == 'all_reduce' else 1)"
)
_TRAFFIC = (
    "e, s = item_bytes(job.dtype), strategy\n"
    "sequences = job.batch // (s.dp * job.micro_batches)\n"
    "x = sequences * (job.tokens // s.sp) * model.width * e\n"
    "kv = sequences * job.tokens * (model.kv_heads * model.head // s.tp) * 2 * e\n"
    "qo = model.heads * model.head + model.kv_heads * model.head\n"
    "w = 2 * model.width * qo + (2 + model.gated) * model.width * model.hidden\n"
    "out = []\n"
    "forward = ['forward'] + ['again'] * s.recompute\n"
    "if s.tp > 1:\n"
    "    for phase in forward + ['backward']:\n"
    "        out += [Traffic(phase, 'all_reduce', 'tp', x)] * 2\n"
    "if s.sp > 1:\n"
    "    for phase in forward:\n"
    "        out.append(Traffic(phase, 'all_gather', 'sp', kv))\n"
    "    if not s.recompute:\n"
    "        out.append(Traffic('backward', 'all_gather', 'sp', kv))\n"
    "    out.append(Traffic('backward', 'reduce_scatter', 'sp', kv))\n"
    "if s.sp * s.dp > 1:\n"
    "    out.append(Traffic('update', 'all_reduce', 'copies', w * e // s.tp))\n"
    "return out"
)
_MEMORY = (
    "e, t = item_bytes(job.dtype), strategy.tp\n"
    "rows = job.batch * job.tokens // (strategy.dp * strategy.sp * job.micro_batches)\n"
    "qo = (model.heads + model.kv_heads) * model.head\n"
    "layer = (2 * qo + (2 + model.gated) * model.hidden) * model.width // t\n"
    "words = (model.vocab + t - 1) // t\n"
    "inner = (2 + 2 * model.gated) * model.hidden\n"
    "one = rows // t * (e * (4 * model.width + 2 * qo + inner) + 16)\n"
    "least = rows // t * e * model.width\n"
    "kept = model.layers * one\n"
    "if strategy.recompute:\n"
    "    kept = (model.layers - 1) * least + one\n"
    "numbers = model.layers * layer + words * model.width\n"
    "return Memory(state * numbers, kept, 3 * 4 * rows * words)"
)
_STRATEGIES = (
    "found = []\n"
    "for dp in range(1, ranks + 1):\n"
    "    for tp in range(1, ranks + 1):\n"
    "        for sp in range(1, ranks + 1):\n"
    "            if dp * tp * sp == ranks:\n"
    "                found += [Strategy(dp, tp, sp), Strategy(dp, tp, sp, recompute=True)]\n"
    "return found"
)
_BEST = (
    "best = None\n"
    "for row in rows:\n"
    "    if room is not None and row.nbytes > room * 10**9:\n"
    "        continue\n"
    "    if best is None or row.seconds < best.seconds:\n"
    "        best = row\n"
    "return best.strategy if best else None"
)
_TURNING = (
    "def ahead(factor):\n"
    "    return one(factor) < other(factor)\n"
    "low, high = -10.0, 10.0\n"
    "start = ahead(2**low)\n"
    "if ahead(2**high) == start:\n"
    "    return None\n"
    "while high - low > 1e-6:\n"
    "    middle = (low + high) / 2\n"
    "    low, high = (middle, high) if ahead(2**middle) == start else (low, middle)\n"
    "return 2**low"
)
_YML = (
    "return (f'topology: {[d.kind for d in dims]}\\n'\n"
    "    f'npus_count: {[d.size for d in dims]}\\n'\n"
    "    f'bandwidth: {[d.bandwidth / 2**30 for d in dims]}\\n'\n"
    "    f'latency: {[d.latency / 1e-9 for d in dims]}\\n')"
)

_WINNER = (
    "machine = read_system('m', network, system, 1)\n"
    "rows = []\n"
    "for strategy in strategies(machine.ranks):\n"
    "    if machine:\n"
    "        how = (model, job, strategy, machine, layer_traffic, collective_seconds)\n"
    "        nbytes = device_memory(model, job, strategy, 16).total\n"
    "        rows.append(Row(strategy, simulate(*how).wall, nbytes))\n"
    "return best_strategy(rows, room)"
)
_STAGE = (
    "e, tp, pp, micros = item_bytes(job.dtype), strategy.tp, strategy.pp, job.micro_batches\n"
    "layers = model.layers // pp\n"
    "rows = job.batch // strategy.dp // micros * (job.tokens // strategy.sp)\n"
    "words = -(-model.vocab // tp)\n"
    "matrices = 2 * model.width * (model.heads + model.kv_heads) * model.head\n"
    "matrices += (3 if model.gated else 2) * model.width * model.hidden\n"
    "numbers = layers * (matrices // tp)\n"
    "numbers += words * model.width if stage in (0, pp - 1) else 0\n"
    "token = 4 * model.width + 2 * (model.heads + model.kv_heads) * model.head\n"
    "token += (4 if model.gated else 2) * model.hidden\n"
    "whole, kept = rows * (e * token + 16) // tp, rows * e * model.width // tp\n"
    "flying = min(micros, pp - stage)\n"
    "held = flying * layers * whole\n"
    "if strategy.recompute:\n"
    "    held = (flying * layers - 1) * kept + whole\n"
    "ways = (stage > 0) + (stage + 1 < pp)\n"
    "logits = 12 * rows * words if stage == pp - 1 else 0\n"
    "return StageLoad(ways * micros * rows * model.width * e, state * numbers, held, logits)"
)

WRONG: list[Cell] = [
    # 2.1
    swap("2.1", "sums are added", _DIRECT, "(a,), False", "(a,), True", "Numbers are added twice"),
    swap("2.1", "parts replace", _DIRECT, "(b,), True", "(b,), False",
         "Something does not get there"),
    swap("2.1", "nobody hands out", _DIRECT, "[first, second]", "[first]",
         "Something does not get there"),
    cell("2.1", "a ring", "return ring_all_reduce(ranks)", "one step to add up"),
    swap("2.1", "all chunks at once", _DIRECT, "Send(a, b, (b,), True)",
         "Send(a, b, tuple(range(ranks)), True)", "you send more than needed"),
    cell("2.1", "chunks as numbers", "return [[Send(0, 1, 0, True)]]",
         "A message carries a collection of chunks"),
    # 2.2
    cell("2.2", "a ring", "return ring_all_reduce(ranks)", "Halving needs as many steps"),
    cell("2.2", "direct", _DIRECT, "it sends to one other rank in a step"),
    swap("2.2", "doubling adds", _HALVING, "block(r, distance)), False",
         "block(r, distance)), True", "Numbers are added twice"),
    swap("2.2", "no doubling", _HALVING, "distance = 1\n", "distance = ranks\n",
         "Something does not get there"),
    swap("2.2", "the own half", _HALVING, "tuple(block(r ^ distance, distance)), True",
         "tuple(block(r, distance)), True", ""),
    cell("2.2", "everything to the partner",
         "steps, distance = [], ranks // 2\n"
         "while distance:\n"
         "    steps.append([Send(r, r ^ distance, tuple(range(ranks)), True)"
         " for r in range(ranks)])\n"
         "    distance //= 2\n"
         "return steps", "as many steps as there are halvings"),
    # 2.3
    cell("2.3", "no dimensions", "ranks = prod(sizes)\n" + _DIRECT,
         "A message travels along one dimension"),
    cell("2.3", "all chunks along each dimension",
         "ranks, steps, inner = prod(sizes), [], 1\n"
         "for size in sizes:\n"
         "    step = []\n"
         "    for rank in range(ranks):\n"
         "        at = rank // inner % size\n"
         "        step += [Send(rank, rank + (o - at) * inner, tuple(range(ranks)), True)\n"
         "                 for o in range(size) if o != at]\n"
         "    steps.append(step)\n"
         "    inner *= size\n"
         "return steps", "a dimension carries too much"),
    swap("2.3", "handed out in the same order", _ALONG, "in reversed(there)", "in there",
         "Something does not get there"),
    swap("2.3", "the first dimension twice", _ALONG, "    inner *= size\n", "",
         ""),
    swap("2.3", "no way back", _ALONG, "there + back", "there", "Something does not get there"),
    # 2.4
    swap("2.4", "half an all-reduce", _SECONDS, "(2 if collective == 'all_reduce' else 1)", "1",
         "twice: to add up, and to hand out"),
    swap("2.4", "always an all-reduce", _SECONDS, "(2 if collective == 'all_reduce' else 1)", "2",
         "Only an all-reduce goes both ways"),
    swap("2.4", "all bytes everywhere", _SECONDS, "left = left / n", "left = nbytes",
         "only those go on to the next dimension"),
    swap("2.4", "one latency a ring", _SECONDS, "(n - 1) * dim.latency", "dim.latency",
         "Every step of the ring pays the latency"),
    swap("2.4", "a switch is a link", _SECONDS, "2 * steps * dim.latency", "steps * dim.latency",
         "to the switch, and from it"),
    swap("2.4", "one way only", _SECONDS, " / dim.ways", "", "half the bytes a link"),
    swap("2.4", "no latency", _SECONDS, "dim.latency", "0", "The latency is missing"),
    swap("2.4", "one link for all", _SECONDS, "left / n / dim.bandwidth\n    ",
         "left * (n - 1) / n / dim.bandwidth\n    ", "a link of its own"),
    # 2.5
    swap("2.5", "backward is free", _TRAFFIC, "forward + ['backward']", "forward",
         "Backward has as many meetings"),
    swap("2.5", "one meeting", _TRAFFIC, "'tp', x)] * 2", "'tp', x)]", "Exactly half"),
    swap("2.5", "nothing again", _TRAFFIC, "['again'] * s.recompute", "[]",
         "forward runs again"),
    swap("2.5", "keys are kept", _TRAFFIC, "if not s.recompute:", "if False:",
         "nobody kept them"),
    swap("2.5", "keys whole", _TRAFFIC, "(model.kv_heads * model.head // s.tp)",
         "(model.kv_heads * model.head)", "tp ranks share this"),
    swap("2.5", "own keys alone", _TRAFFIC, "kv = sequences * job.tokens *",
         "kv = sequences * (job.tokens // s.sp) *", "You cut this by sp"),
    swap("2.5", "only dp updates", _TRAFFIC, "if s.sp * s.dp > 1", "if s.dp > 1",
         "All ranks with the same weights"),
    swap("2.5", "weights whole", _TRAFFIC, "w * e // s.tp", "w * e", "tp ranks share this"),
    swap("2.5", "no micro-batches", _TRAFFIC, "(s.dp * job.micro_batches)", "s.dp",
         "One micro-batch at a time"),
    swap("2.5", "as many key heads", _TRAFFIC, "model.kv_heads * model.head // s.tp",
         "model.heads * model.head // s.tp", "keys and values"),
    cell("2.5", "tuples", "return [('forward', 'all_reduce', 'tp', 1)]", "Return Traffic"),
    # 2.6
    swap("2.6", "no words", _MEMORY, " + words * model.width", "", "table of words is missing"),
    swap("2.6", "nothing in work", _MEMORY, "(model.layers - 1) * least + one",
         "model.layers * least", "The layer in work is whole"),
    swap("2.6", "in work twice", _MEMORY, "(model.layers - 1) * least + one",
         "model.layers * least + one", "counts once"),
    swap("2.6", "no recomputation", _MEMORY, "if strategy.recompute:", "if False:",
         "a layer keeps its input alone"),
    swap("2.6", "one buffer", _MEMORY, "3 * 4 * rows", "4 * rows", "Three buffers are alive"),
    swap("2.6", "no statistics", _MEMORY, ") + 16)", "))", "deviations of the norms are missing"),
    swap("2.6", "state of all ranks", _MEMORY, "* model.width // t\n", "* model.width\n",
         "State"),
    swap("2.6", "sp forgotten", _MEMORY, "(strategy.dp * strategy.sp * job", "(strategy.dp * job",
         "sp ranks share the tokens"),
    # 2.7
    swap("2.7", "never again", _STRATEGIES, ", Strategy(dp, tp, sp, recompute=True)", "",
         "without recomputation and with it"),
    swap("2.7", "not all ranks", _STRATEGIES, "== ranks:", "<= ranks:",
         "is the number of ranks"),
    swap("2.7", "starts with two", _STRATEGIES, "for tp in range(1,", "for tp in range(2,",
         "Every degree may be 1"),
    swap("2.7", "pipelines", _STRATEGIES, "Strategy(dp, tp, sp)", "Strategy(dp, tp, 1, sp)",
         ""),
    swap("2.7", "twice", _STRATEGIES, "return found", "return found + found[:1]",
         "Each strategy comes once"),
    # 2.8
    swap("2.8", "no look at the memory", _BEST, "room is not None and row.nbytes > room * 10**9",
         "False", "look at the memory before the time"),
    swap("2.8", "GiB", _BEST, "room * 10**9", "room * 2**30", "a GB is 10⁹ bytes"),
    swap("2.8", "least memory", _BEST, "row.seconds < best.seconds", "row.nbytes < best.nbytes",
         "take the fastest"),
    swap("2.8", "the slowest", _BEST, "row.seconds < best", "row.seconds > best", ""),
    cell("2.8", "always the same", "return Strategy(4, 16, 1, 1, True)", ""),
    swap("2.8", "not to the last byte", _BEST, "row.nbytes >", "row.nbytes >=",
         "to the last byte"),
    cell("2.8", "the largest dp that fits",
         "fits = [r for r in rows if room is None or r.nbytes <= room * 1e9]\n"
         "most = max(fits, key=lambda r: (r.strategy.dp, not r.strategy.recompute), default=None)\n"
         "return most and most.strategy", "Another row that fits is faster"),
    # 2.9
    swap("2.9", "upside down", _TURNING, "return 2**low", "return 2**-low", "Upside down"),
    swap("2.9", "never none", _TURNING, "    return None\n", "    pass\n", "return None"),
    cell("2.9", "always none", "return None", "They do cross"),
    swap("2.9", "a few tries", _TURNING, "> 1e-6", "> 0.5", "do not take equally long"),
    cell("2.9", "at once", "return one(1) / other(1)", "do not take equally long"),
    # 2.10
    swap("2.10", "GB of ten", _YML, "/ 2**30", "/ 1e9", "AstraSim's GB is 2³⁰"),
    swap("2.10", "seconds", _YML, "/ 1e-9", "", "latency is in nanoseconds"),
    swap("2.10", "a missing key", _YML, "npus_count", "npus", "npus_count is a list"),
    swap("2.10", "turned round", _YML, "[d.size for d in dims]", "[d.size for d in dims[::-1]]",
         "in their order"),
    cell("2.10", "no text", "return dims", "Return the text of the file"),
    # 2.11
    swap("2.11", "no look at the memory", _WINNER, "best_strategy(rows, room)",
         "best_strategy(rows, None)", "look at the memory before the time"),
    swap("2.11", "the machine of the course", _WINNER, "read_system('m', network, system, 1)",
         "SYSTEM_1", "does not use all devices"),
    swap("2.11", "least memory", _WINNER, "best_strategy(rows, room)",
         "min(rows, key=lambda row: row.nbytes).strategy", "takes the least memory"),
    swap("2.11", "no sequence or tensor parallel", _WINNER, "in strategies(machine.ranks)",
         "in [Strategy(machine.ranks, recompute=r) for r in (False, True)]", "does fit here"),
    swap("2.11", "free messages", _WINNER, "collective_seconds)", "lambda *_: 0.0)",
         "Another one that fits is faster"),
    swap("2.11", "never recomputes", _WINNER, "if machine:", "if not strategy.recompute:",
         "does fit here"),
    swap("2.11", "the job of the course", _WINNER, "(model, job, strategy, machine",
         "(model, JOB, strategy, machine", "Another one that fits is faster"),
    cell("2.11", "the largest dp that fits",
         "machine = read_system('m', network, system, 1)\n"
         "fits = [s for s in strategies(machine.ranks) if room is None\n"
         "        or device_memory(model, job, s, 16).total <= room * 1e9]\n"
         "return max(fits, key=lambda s: (s.dp, not s.recompute), default=None)",
         "What wins elsewhere need not win"),
    cell("2.11", "tp is as large as a box",
         "machine = read_system('m', network, system, 1)\n"
         "tp = machine.dims[0].size\n"
         "return Strategy(machine.ranks // tp, tp, recompute=room is not None)",
         "What wins elsewhere need not win"),
    cell("2.11", "always the same", "return Strategy(8, 4)", ""),
    cell("2.11", "a name", "return '8_4_1_1_0'", "Return a Strategy"),
    # 2.12
    swap("2.12", "every stage both ways", _STAGE, "(stage > 0) + (stage + 1 < pp)", "2",
         "they send one way"),
    swap("2.12", "one way", _STAGE, "(stage > 0) + (stage + 1 < pp)", "1 if pp > 1 else 0",
         "Two ways: activations go"),
    swap("2.12", "one micro-batch sent", _STAGE, "ways * micros * rows", "ways * rows",
         "does not depend on them"),
    swap("2.12", "shared by tp", _STAGE, "ways * micros * rows * model.width * e",
         "ways * micros * rows * model.width * e // tp", "Every tp rank has all"),
    swap("2.12", "all layers", _STAGE, "layers = model.layers // pp", "layers = model.layers",
         "share of the layers"),
    swap("2.12", "the table everywhere", _STAGE, "if stage in (0, pp - 1)", "if True",
         "in the first stage and in the last"),
    swap("2.12", "no head", _STAGE, "if stage in (0, pp - 1)", "if stage == 0",
         "The table of words is missing"),
    swap("2.12", "all at once", _STAGE, "min(micros, pp - stage)", "micros", "All micro-batches"),
    swap("2.12", "one at a time", _STAGE, "min(micros, pp - stage)", "1", "One micro-batch alone"),
    swap("2.12", "the wrong end", _STAGE, "min(micros, pp - stage)", "min(micros, stage + 1)",
         "nearest to the end"),
    swap("2.12", "itself left out", _STAGE, "min(micros, pp - stage)",
         "max(min(micros, pp - stage - 1), 0)", "Itself included"),
    swap("2.12", "logits everywhere", _STAGE, "if stage == pp - 1", "if True",
         "Only the last stage"),
    swap("2.12", "whole for each", _STAGE, "(flying * layers - 1) * kept + whole",
         "flying * ((layers - 1) * kept + whole)", "one is worked on at a time"),
]  # fmt: skip

RIGHT: list[Cell] = [
    cell("2.1", "two loops", _DIRECT),
    cell("2.1", "generators, messages in another order",
         "def step(add):\n"
         "    for b in reversed(range(ranks)):\n"
         "        yield from (Send(a, b, [b if add else a], add) for a in range(ranks) if a != b)\n"
         "return (step(True), step(False))"),
    cell("2.2", "blocks", _HALVING),
    cell("2.2", "nearest partner first",
         "steps, distance = [], 1\n"
         "mine = [set(range(ranks)) for _ in range(ranks)]\n"
         "while distance < ranks:\n"
         "    step = []\n"
         "    for r in range(ranks):\n"
         "        away = {c for c in mine[r] if (c ^ r) & distance}\n"
         "        step.append(Send(r, r ^ distance, tuple(away), True))\n"
         "        mine[r] -= away\n"
         "    steps.append(step)\n"
         "    distance *= 2\n"
         "return steps + [[Send(m.dst, m.src, m.chunks, False) for m in s] for s in steps[::-1]]"),
    cell("2.3", "hop by hop, by remainders", _ALONG),
    cell("2.4", "closed form", _SECONDS),
    cell("2.4", "message by message",
         "total = 0.0\n"
         "for dim in dims:\n"
         "    if dim.size > 1:\n"
         "        known = {'Ring': ring_all_reduce, 'Switch': halving_doubling}\n"
         "        make = known.get(dim.kind, direct)\n"
         "        total += schedule_seconds(nbytes / dim.ways, dim.size, make(dim.size), dim)\n"
         "    nbytes /= dim.size\n"
         "return total if collective == 'all_reduce' else total / 2"),
    cell("2.5", "another order", _TRAFFIC),
    swap("2.5", "halves of all-reduces", _TRAFFIC,
         "        out += [Traffic(phase, 'all_reduce', 'tp', x)] * 2\n",
         "        out += [Traffic(phase, 'reduce_scatter', 'tp', x)] * 2\n"
         "        out += [Traffic(phase, 'all_gather', 'tp', x)] * 2\n"),
    swap("2.5", "keys and values apart", _TRAFFIC,
         "        out.append(Traffic(phase, 'all_gather', 'sp', kv))\n",
         "        out += [Traffic(phase, 'all_gather', 'sp', kv / 2)] * 2\n"),
    cell("2.6", "another order", _MEMORY),
    cell("2.7", "three loops", _STRATEGIES),
    cell("2.8", "a loop", _BEST),
    cell("2.8", "sorted",
         "inf = float('inf')\n"
         "left = sorted((r.seconds, r.strategy) for r in rows if r.nbytes <= (room or inf) * 1e9)\n"
         "return left[0][1] if left else None"),
    cell("2.9", "in logarithms", _TURNING),
    cell("2.11", "as above", _WINNER),
    cell("2.11", "what does not fit is not tried",
         "machine = read_system('m', network, system, 1)\n"
         "fits = [s for s in strategies(machine.ranks) if room is None\n"
         "        or device_memory(model, job, s, 16).total <= room * 1e9]\n"
         "def seconds(strategy):\n"
         "    how = (strategy, machine, layer_traffic, collective_seconds)\n"
         "    return simulate(model, job, *how).wall\n"
         "return min(fits, key=seconds, default=None)"),
    cell("2.12", "counted from the tables", _STAGE),
    cell("2.10", "JSON is YAML", _YML),
    cell("2.10", "with quotes and comments",
         "rows = zip(*((d.kind, d.size, d.bandwidth / 2**30, d.latency * 1e9) for d in dims))\n"
         "keys = ('topology', 'npus_count', 'bandwidth', 'latency')\n"
         "text = '# made by hand\\n'\n"
         "for key, values in zip(keys, rows):\n"
         "    text += key + ':\\n' + ''.join(f'  - {value}\\n' for value in values)\n"
         "return text"),
]  # fmt: skip

_ORDER = "in which order they are looked at makes no difference"
_EVEN = "what is divided is divided evenly, so that the fraction is none"
_ONE = "a dimension of one takes 0 steps by this formula, too"
#: Mutants of the solution that are right as well: the task, part of the line, and why.
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("2.2", "reversed(", _ORDER),
    ("2.2", "without list", "a range can be read as often as a list"),
    ("2.2", "without tuple", "chunks may be in any collection"),
    ("2.3", "reversed(", _ORDER),
    ("2.3", "without list", "a range can be cut as a list can"),
    ("2.3", "without tuple", "chunks may be in any collection"),
    ("2.4", "if dim.kind == 'Ring':", _ONE),
    ("2.4", "if n >= 1 and dim.kind == 'Ring':", _ONE),
    ("2.4", "if n > 0 and dim.kind == 'Ring':", _ONE),
    ("2.4", "elif True:", _ONE),
    ("2.4", "elif n >= 1:", _ONE),
    ("2.4", "elif n > 0:", _ONE),
    ("2.4", "n, part = (n / 2, part / 2)", _EVEN),
    ("2.5", "reversed(", _ORDER),
    ("2.5", "another operation", _EVEN),
    ("2.6", "another operation", _EVEN),
    ("2.7", "ranks / (dp * tp)", _EVEN),
    ("2.7", "range(1, ranks + 2)", "no number is divided by its successor"),
    ("2.8", "1000000001.0", "a byte more in a GB, and no strategy lies that near"),
    ("2.9", "for _ in", "a step more or less, or another name for it, changes nothing to be seen"),
    ("2.9", "<=", "they are nowhere exactly equal where they are compared"),
    ("2.10", "1000000001.0", "a billionth more, and AstraSim reads the same"),
    ("2.10", "999999999.0", "a billionth less, and AstraSim reads the same"),
    ("2.11", "reversed(", _ORDER),
    ("2.11", "[1:]", "sp alone without recomputation wins nowhere"),
    ("2.11", "[:-1]", "dp alone with recomputation takes longer than without, and both fit"),
    ("2.11", "memory=", "bytes of a device are a name here: the search looks at room"),
    ("2.12", "another operation", _EVEN),
)  # fmt: skip
