"""Cells as students might write them: wrong ones with the words they must hear, and right ones."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab1a import LAB
from tests.support.catalogue import Cell, cell

_cell = partial(cell, LAB)

_PLAIN = (
    'if operator == "softmax":\n    B, L = dims\n    return B * L, 0, B * L\n'
    'if operator == "layernorm":\n    B, X, Y = dims\n    return B * X * Y, 0, B * X * Y\n'
)
_ELEMENTS = _PLAIN + "B, M, N, K = dims\n"
_THREE = '(3 if operator == "attention" else 1)'

_TIMES = (
    "nbytes = elements * item_bytes(dtype)\n"
    "compute = operations / (machine.rate(dtype) * compute_eff)\n"
    "memory = nbytes / (machine.bandwidth * memory_eff)\n"
    "execution = max(compute, memory)\n"
    "intensity = operations / nbytes\n"
    'bound = "compute" if compute > memory else "memory"\n'
    "return Times(compute, memory, execution, intensity, bound)"
)

_NETWORK = (
    "return [\n"
    '    ("layernorm", (batch, tokens, d_in)),\n'
    '    ("attention", (batch, tokens, d_model, d_in)),\n'
    '    ("gemm", (batch, tokens, d_ff, d_model)),\n'
    '    ("gemm", (batch, tokens, d_model, d_ff)),\n'
    '    ("layernorm", (batch, tokens, d_model)),\n'
    '    ("softmax", (batch * tokens, d_model)),\n'
    "]"
)

_ROW = (
    "total = sum(moved)\n"
    "def mega(n):\n"
    "    return n / 2**20\n"
    "values = ['C' if took.bound == 'compute' else 'M', took.compute / took.memory,\n"
    "          operations / total, took.execution * 1000, took.execution * clock,\n"
    "          operations / 1e6, *map(mega, moved), mega(total),\n"
    "          operations / took.execution / 1e12, took.compute * clock, took.memory * clock]\n"
    "return dict(zip(ROW, values))"
)

_FLOPS = (
    "d, t, every = model.width, batch * new, past + new\n"
    "inside, shared = model.heads * model.head, model.kv_heads * model.head\n"
    "inner = 2 * batch * model.heads * new * every * model.head\n"
    'made = {"q": 2 * t * d * inside, "o": 2 * t * d * inside, "scores": inner, "mix": inner}\n'
    'made |= dict.fromkeys(["k", "v"], 2 * t * d * shared)\n'
    'feed = ["gate", "up", "down"] if model.gated else ["up", "down"]\n'
    "return made | dict.fromkeys(feed, 2 * t * d * model.hidden)"
)

_MOVED = (
    "d, t, every = model.width, batch * new, past + new\n"
    "inside, shared = model.heads * model.head, model.kv_heads * model.head\n"
    "def gemm(a, b):\n    return t * a + a * b + t * b\n"
    "inner = t * inside + batch * every * shared + batch * model.heads * new * every\n"
    'made = {"q": gemm(d, inside), "o": gemm(inside, d), "scores": inner, "mix": inner}\n'
    'made |= {"k": gemm(d, shared), "v": gemm(d, shared)}\n'
    'feed = ["gate", "up", "down"] if model.gated else ["up", "down"]\n'
    "return made | dict.fromkeys(feed, gemm(d, model.hidden))"
)

_MEMORY = (
    "d, item = model.width, item_bytes(dtype)\n"
    "inside, shared = model.heads * model.head, model.kv_heads * model.head\n"
    "matrices = 3 if model.gated else 2\n"
    "layer = 2 * d * inside + 2 * d * shared + matrices * d * model.hidden + 2 * d\n"
    "weights = 2 * model.vocab * d + model.layers * layer + d\n"
    "cache = 2 * model.layers * batch * context * shared\n"
    "return weights * item, cache * item"
)

_RIDGE = (
    "need = machine.ridge(dtype) * item_bytes(dtype)\n"
    "gain = 2 * K * N - need * (K + N)\n"
    "return math.ceil(need * K * N / gain) if gain > 0 else None"
)


def _swap(
    task: str, name: str, body: str, old: str, new: str, *says: str, most: float = 0.5
) -> Cell:
    assert old in body, (name, old)
    return _cell(task, name, body.replace(old, new), *says, most=most)


WRONG = (
    # 1.1
    _cell(
        "1.1",
        "a weight for each item",
        _ELEMENTS + f"return B * M * K, B * {_THREE} * K * N, B * M * N",
        "One weight serves the whole batch",
    ),
    _cell(
        "1.1",
        "dims as B, M, K, N",
        _PLAIN + f"B, M, K, N = dims\nreturn B * M * K, {_THREE} * K * N, B * M * N",
        "the length that is summed over is last",
    ),
    _cell(
        "1.1",
        "one projection",
        _ELEMENTS + "return B * M * K, K * N, B * M * N",
        "three weights of K times N",
    ),
    _cell(
        "1.1",
        "bytes",
        _ELEMENTS + f"return 4 * B * M * K, 4 * {_THREE} * K * N, 4 * B * M * N",
        "These are bytes",
    ),
    _cell(
        "1.1",
        "queries, keys and values leave",
        _ELEMENTS + f"out = 4 if {_THREE} == 3 else 1\n"
        f"return B * M * K, {_THREE} * K * N, out * B * M * N",
        "stay on the chip",
    ),
    _cell("1.1", "two numbers", "return 1, 2", "Return 3 numbers: input, weight, output"),
    # 1.2
    _cell("1.2", "2K", "return 2 * B * M * N * K", "K products have only K - 1 additions"),
    _cell("1.2", "products alone", "return B * M * N * K", "the additions are operations too"),
    _cell("1.2", "N summed over", "return B * M * K * (2 * N - 1)", "summed over comes last"),
    _cell("1.2", "no batch", "return M * N * (2 * K - 1)", "the batch is missing"),
    _cell("1.2", "nothing comes back", "print(B)", "is None"),
    # 1.3
    _cell("1.3", "exp twice", "return B * (L - 1 + 3 * w * L)", "exponentials twice"),
    _cell("1.3", "L additions", "return B * (L + 2 * w * L)", "L numbers have L - 1 between"),
    _cell("1.3", "no additions", "return B * 2 * w * L", "You count no additions"),
    _cell("1.3", "a safe softmax", "return B * (2 * L - 1 + 2 * w * L)", "without a maximum"),
    _cell("1.3", "one sum for all", "return B * 2 * w * L + L - 1", "look"),
    _cell("1.3", "one division", "return B * (2 * L - 1 + w * L + w)", "divides every element"),
    _cell("1.3", "no batch", "return L - 1 + 2 * w * L", "the batch is missing"),
    _cell("1.3", "w is not used", "return B * (3 * L - 1)", "weigh w each"),
    _cell("1.3", "all weigh w", "return w * B * (3 * L - 1)", "Additions weigh 1, not w"),
    # 1.4
    _cell(
        "1.4",
        "the solution that goes round",
        "return B * X * (4 * Y - 1 + 3 * w + w * Y)",
        "Y additions for the sum of the squares",
    ),
    _cell(
        "1.4",
        "differences twice",
        "return B * X * (5 * Y - 2 + 3 * w + w * Y)",
        "the differences are kept",
    ),
    _cell(
        "1.4",
        "squares are not added",
        "return B * X * (3 * Y - 1 + 3 * w + w * Y)",
        "add up the squares",
    ),
    _cell("1.4", "both sums one more", "return B * X * (4 * Y + 3 * w + w * Y)", "for each sum"),
    _cell("1.4", "no root", "return B * X * (4 * Y - 2 + 2 * w + w * Y)", "a square root"),
    _cell(
        "1.4", "a root each", "return B * X * (4 * Y - 2 + 2 * w + 2 * w * Y)", "a root for each"
    ),
    _cell(
        "1.4",
        "scale and shift",
        "return B * X * (6 * Y - 2 + 3 * w + w * Y)",
        "no scale and shift",
    ),
    _cell(
        "1.4", "vectors forgotten", "return X * (4 * Y - 2 + 3 * w + w * Y)", "B times X vectors"
    ),
    # 1.5
    _cell(
        "1.5",
        "no division of the scores",
        "return (3 * gemm_ops(B, M, N, K) + gemm_ops(B, M, M, N) + w"
        " + softmax_ops(B * M, M, w) + gemm_ops(B, M, N, M))",
        "You forget to divide the scores",
    ),
    _cell(
        "1.5",
        "softmax of one item",
        "return (3 * gemm_ops(B, M, N, K) + gemm_ops(B, M, M, N) + w + w * B * M * M"
        " + softmax_ops(M, M, w) + gemm_ops(B, M, N, M))",
        "SoftMax for one item",
    ),
    _cell(
        "1.5",
        "a root for each score",
        "return (3 * gemm_ops(B, M, N, K) + gemm_ops(B, M, M, N) + 2 * w * B * M * M"
        " + softmax_ops(B * M, M, w) + gemm_ops(B, M, N, M))",
        "a root for every score",
    ),
    _cell(
        "1.5",
        "one projection",
        "return (gemm_ops(B, M, N, K) + gemm_ops(B, M, M, N) + w + w * B * M * M"
        " + softmax_ops(B * M, M, w) + gemm_ops(B, M, N, M))",
        "You count one projection",
    ),
    _cell(
        "1.5",
        "2K everywhere",
        "return (6 * B * M * N * K + 2 * B * M * M * N + w + w * B * M * M"
        " + softmax_ops(B * M, M, w) + 2 * B * M * N * M)",
        "as many additions as products",
    ),
    _cell(
        "1.5",
        "N and K exchanged",
        "N, K = K, N\nreturn (3 * gemm_ops(B, M, N, K) + gemm_ops(B, M, M, N) + w + w * B * M * M"
        " + softmax_ops(B * M, M, w) + gemm_ops(B, M, N, M))",
        "the input has K numbers a token",
    ),
    # 2.1
    _swap(
        "2.1",
        "efficiency multiplied",
        _TIMES.replace("(machine.rate(dtype) * compute_eff)", "machine.rate(dtype) * compute_eff"),
        "(machine.bandwidth * memory_eff)",
        "machine.bandwidth * memory_eff",
        "it belongs to the divisor",
    ),
    _swap(
        "2.1", "sum", _TIMES, "max(compute, memory)", "compute + memory", "You add the two times"
    ),
    _swap("2.1", "the shorter", _TIMES, "max(", "min(", "You take the shorter time"),
    _swap("2.1", "elements", _TIMES, " * item_bytes(dtype)", "", "These are elements"),
    _swap("2.1", "always 4", _TIMES, "item_bytes(dtype)", "4", "4 bytes for every element"),
    _swap(
        "2.1", "half the rate", _TIMES, "machine.rate(dtype)", "machine.rate(dtype) / 2", "halve"
    ),
    _swap(
        "2.1",
        "a GB of 2 to the 30th",
        _TIMES,
        "machine.bandwidth *",
        "machine.bandwidth / 1e9 * 2**30 *",
        "plain bytes a second",
    ),
    _swap(
        "2.1",
        "operations for each element",
        _TIMES,
        "operations / nbytes",
        "operations / elements",
        "not for each element",
    ),
    _swap("2.1", "letters", _TIMES, '"compute" if', '"C" if', "bound: 'C'"),
    _cell("2.1", "a tuple", "return 1, 2, 3, 4, 'memory'", "Return Times(compute, memory"),
    _swap(
        "2.1",
        "efficiencies forgotten",
        _TIMES.replace(" * compute_eff", ""),
        " * memory_eff",
        "",
        "does not reach its best",
    ),
    # 2.2
    _swap(
        "2.2",
        "the hand-in that goes round",
        _NETWORK,
        '"gemm", (batch, tokens, d_model, d_ff)',
        '"gemm", (batch, tokens, d_model, d_model)',
        "The second GEMM sums over d_ff",
    ),
    _swap(
        "2.2",
        "the input's width three times",
        _NETWORK.replace("d_ff, d_model)", "d_ff, d_in)"),
        "d_model, d_ff)",
        "d_model, d_in)",
        "not d_in",
    ),
    _swap(
        "2.2",
        "N and K exchanged",
        _NETWORK.replace("d_ff, d_model)", "X)").replace("d_model, d_ff)", "d_ff, d_model)"),
        "X)",
        "d_model, d_ff)",
        "N is made, K is summed over",
    ),
    _swap(
        "2.2",
        "softmax with three lengths",
        _NETWORK,
        "batch * tokens, d_model",
        "batch, tokens, d_model",
        "batch and tokens together",
    ),
    _swap("2.2", "five", _NETWORK, '    ("layernorm", (batch, tokens, d_model)),\n', "", "Six"),
    # 2.3
    _swap("2.3", "bytes", _ROW, "n / 2**20", "4 * n / 2**20", "These are bytes", most=0.5),
    _swap("2.3", "a million", _ROW, "n / 2**20", "n / 1e6", "MB is 2 to the 20th"),
    _swap("2.3", "seconds", _ROW, "took.execution * 1000", "took.execution", "These are seconds"),
    _swap("2.3", "word", _ROW, "'C' if took.bound == 'compute' else 'M'", "took.bound", "a letter"),
    _swap(
        "2.3", "upside down", _ROW, "compute / took.memory", "memory / took.compute", "the other"
    ),
    _swap("2.3", "input", _ROW, "operations / total", "operations / moved[0]", "All that travels"),
    _swap(
        "2.3",
        "cycles of ms",
        _ROW,
        "took.execution * clock",
        "took.execution * 1e3 * clock",
        "seco",
    ),
    _swap("2.3", "giga", _ROW, "took.execution / 1e12", "took.execution / 1e9", "thousands of"),
    _cell("2.3", "a list", "return [1, 2, 3]", "A dict is wanted"),
    _cell("2.3", "half", "return {'Bound': 'C'}", "Each name of ROW"),
    # 2.4
    _swap("2.4", "every head has keys", _FLOPS, "model.kv_heads", "model.heads", "kv_heads only"),
    _swap(
        "2.4",
        "scores of shared heads",
        _FLOPS,
        "batch * model.heads * new",
        "batch * model.kv_heads * new",
        "Every query head has scores of its own",
    ),
    _swap("2.4", "no past", _FLOPS, "past + new", "new", "look at the cache too"),
    _swap(
        "2.4",
        "no cache",
        _FLOPS.replace("d, t,", "new, past = new + past, 0\nd, t,"),
        "new, past = new + past, 0",
        "new, past = new + past, 0",
        "You project the past again",
    ),
    _cell(
        "2.4",
        "MACs",
        "def inner():\n"
        + "\n".join(f"    {line}" for line in _FLOPS.splitlines())
        + "\nreturn {name: n // 2 for name, n in inner().items()}",
        "FLOPs count them as two",
    ),
    _swap("2.4", "the mask saves half", _FLOPS, "inner = 2 *", "inner =", "You count half"),
    _cell("2.4", "no gate", 'return dict.fromkeys(["q", "k", "v", "scores", "mix", "o"], 1)', "up"),
    # 2.5
    _swap(
        "2.5", "a weight each", _MOVED, "a * b + t * b", "batch * a * b + t * b", "it is read once"
    ),
    _swap("2.5", "one cache", _MOVED, "batch * every", "every", "never shared"),
    _swap(
        "2.5",
        "a cache of all heads",
        _MOVED,
        "batch * every * shared",
        "batch * every * inside",
        "The cache holds kv_heads only",
    ),
    _swap("2.5", "no past", _MOVED, "past + new", "new", "past + new tokens"),
    _swap("2.5", "nothing written", _MOVED, " + t * b", "", "What is written counts"),
    # 2.6
    _swap("2.6", "elements", _MEMORY, "item_bytes(dtype)", "1", "These are elements"),
    _swap("2.6", "keys alone", _MEMORY, "cache = 2 *", "cache =", "twice as much"),
    _swap(
        "2.6",
        "a cache of all heads",
        _MEMORY,
        "context * shared",
        "context * inside",
        "kv_heads heads",
    ),
    _swap("2.6", "one table", _MEMORY, "2 * model.vocab", "model.vocab", "and at the exit"),
    _swap("2.6", "one layer", _MEMORY, "model.layers *", "", "the layers are missing"),
    _swap(
        "2.6", "no norms", _MEMORY.replace(" + 2 * d\n", "\n"), "layer + d", "layer", "two a layer"
    ),
    # 2.7
    _cell(
        "2.7",
        "the weight alone",
        "return math.ceil(machine.ridge(dtype) * item_bytes(dtype) / 2)",
        "the bytes of the weight alone",
    ),
    _swap("2.7", "down", _RIDGE, "math.ceil(", "int(", "You round down"),
    _swap("2.7", "never is forgotten", _RIDGE, " if gain > 0 else None", "", "It never"),
    _swap("2.7", "MACs", _RIDGE, "2 * K * N", "K * N", "2 b K N operations"),
    _swap("2.7", "elements", _RIDGE, " * item_bytes(dtype)", "", "several bytes"),
    _cell("2.7", "a batch that is no number", 'return "large"', "A number is wanted"),
)

RIGHT = (
    _cell(
        "1.1",
        "by prod",
        "import math\nif len(dims) < 4:\n    n = math.prod(dims)\n    return [n, 0, n]\n"
        'B, M, N, K = dims\nweights = 3 if operator == "attention" else 1\n'
        "return [B * M * K, K * N * weights, B * M * N]",
    ),
    _cell(
        "1.2",
        "numpy's numbers",
        "import numpy as np\nreturn np.prod([B, M, N, 2 * K - 1], dtype=np.int64)",
    ),
    _cell("1.2", "a whole float", "return float(B * M * N) * (K + K - 1)"),
    _cell("1.3", "all at once", "return B * (L * (1 + 2 * w) - 1)"),
    _cell(
        "1.3",
        "counted for small ones, and drawn out",
        "from lab_utils.instruments.counting import exp\n"
        "def one(n):\n    tally = Tally()\n    p = [exp(x) for x in tally.array('x', n)]\n"
        "    s = added_up(p)\n    [x / s for x in p]\n    return tally.operations(w)\n"
        "return B * (one(2) + (L - 2) * (one(3) - one(2)))",
    ),
    _cell("1.4", "all at once", "return B * X * (4 * Y - 2 + (3 + Y) * w)"),
    _cell(
        "1.5",
        "without helpers",
        "return (3 * (2 * K - 1) * B * M * N + (2 * N - 1) * B * M * M + w * B * M * M + w"
        " + B * M * (M - 1 + 2 * w * M) + (2 * M - 1) * B * M * N)",
    ),
    _cell(
        "2.1",
        "the roof turned over",
        _TIMES.replace(
            "max(compute, memory)",
            (
                "operations / min(machine.rate(dtype) * compute_eff,"
                " intensity * machine.bandwidth * memory_eff) if operations else memory"
            ),
        ).replace("execution = ", "intensity = operations / nbytes\nexecution = "),
    ),
    _cell("2.2", "lists", _NETWORK.replace("(batch", "[batch").replace(")),", "]),")),
    _cell(
        "2.2",
        "one after the other",
        (
            "x = [batch, tokens, d_in]\nmade = [('layernorm', x)]\n"
            "for name, n in (('attention', d_model), ('gemm', d_ff), ('gemm', d_model)):\n"
            "    made.append((name, [*x[:2], n, x[2]]))\n    x = [*x[:2], n]\n"
            "return [*made, ('layernorm', x), ('softmax', [x[0] * x[1], x[2]])]"
        ),
    ),
    _cell("2.3", "one list", _ROW),
    _cell(
        "2.3",
        "pandas",
        "import pandas as pd\n"
        + _ROW.replace("return dict(zip(ROW, values))", "return pd.Series(values, ROW).to_dict()"),
    ),
    _cell("2.4", "plainly", _FLOPS),
    _cell(
        "2.4",
        "PyTorch counts",
        "import torch\nfrom torch.utils.flop_counter import FlopCounterMode\n"
        "def flops(b, m, k, n):\n"
        "    with FlopCounterMode(display=False) as c:\n"
        "        torch.empty(b, m, k, device='meta').bmm(torch.empty(b, k, n, device='meta'))\n"
        "    return c.get_total_flops()\n"
        "t, d = batch * new, model.width\n"
        "inside, shared = model.heads * model.head, model.kv_heads * model.head\n"
        "made = {'q': flops(1, t, d, inside), 'o': flops(1, t, inside, d)}\n"
        "for n in 'kv':\n    made[n] = flops(1, t, d, shared)\n"
        "made['scores'] = flops(batch * model.heads, new, model.head, past + new)\n"
        "made['mix'] = flops(batch * model.heads, new, past + new, model.head)\n"
        "for n in layer_names(model)[6:]:\n    made[n] = flops(1, t, d, model.hidden)\n"
        "return made",
    ),
    _cell("2.5", "plainly", _MOVED),
    _cell(
        "2.6",
        "a list",
        _MEMORY.replace(
            "return weights * item, cache * item", "return [item * weights, item * cache]"
        ),
    ),
    _cell(
        "2.7",
        "in whole numbers",
        "rate, item = int(machine.rate(dtype)), item_bytes(dtype)\n"
        "gain = 2 * K * N * int(machine.bandwidth) - rate * item * (K + N)\n"
        "return -(-rate * item * K * N // gain) if gain > 0 else None",
    ),
    _cell(
        "2.7",
        "a search",
        "def across(b):\n"
        "    nbytes = item_bytes(dtype) * (b * K + K * N + b * N)\n"
        "    return 2 * b * K * N >= machine.ridge(dtype) * nbytes\n"
        "if not across(10**15):\n    return None\n"
        "low, high = 0, 10**15\n"
        "while high - low > 1:\n    middle = (low + high) // 2\n"
        "    low, high = (low, middle) if across(middle) else (middle, high)\n"
        "return high",
    ),
)

#: Mutants that are right as well: part of the changed line, and why.
EQUIVALENT = (
    ("2.3", "/ 1000000000001.0", "a millionth of a millionth is no difference"),
    ("2.3", "/ 999999999999.0", "a millionth of a millionth is no difference"),
    (
        "2.4",
        "layer_names(model)",
        "an order of names means nothing, and the first is not one of these",
    ),
    (
        "2.5",
        "layer_names(model)",
        "an order of names means nothing, and the first is not one of these",
    ),
    ("2.7", "gain > 1", "sizes are whole: a gain of at most one FLOP would be a batch of billions"),
)
