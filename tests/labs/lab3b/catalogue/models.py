"""Wrong and right cells of notebook 3, models of memory and time."""

from __future__ import annotations

from tests.labs.lab3b.catalogue.cell import Cell, cell

_PARAMETERS = (
    "w, f, pad = model.width, model.hidden, 128 * tp\n"
    "words = -(-model.vocab // pad) * pad // tp\n"
    "layer = (4 * w * w + 2 * w * f) // tp + (3 * w + f) // tp + 2 * w + 4 * w\n"
    "stages = [model.layers // pp * layer] * pp\n"
    "stages[0] += words * w + model.context * w\n"
    "stages[-1] += 2 * w + (words * w if pp > 1 else 0)\n"
    "return stages"
)
_KEPT = (
    "e, n = item_bytes(dtype), tokens * batch\n"
    "shared = plan.tp if plan.sequence_parallel else 1\n"
    "if plan.recompute == 'full':\n    return e * n * model.width // shared\n"
    "whole = (4 * e + 2) * n * model.width + 16 * n\n"
    "split = e * n * (4 * model.width + 2 * model.hidden)\n"
    "core = (2 * e + 1) * model.heads * tokens * n\n"
    "if plan.recompute == 'selective':\n    core = 0\n"
    "return whole // shared + (split + core) // plan.tp"
)
_PEAK = (
    "micro = job.batch // plan.dp // job.micro_batches\n"
    "at = (model, job.tokens, micro, job.dtype)\n"
    "kept = layer_bytes(*at, plan)\n"
    "work = layer_bytes(*at, replace(plan, recompute='none')) - kept\n"
    "pad = 128 * plan.tp\n"
    "words = -(-model.vocab // pad) * pad // plan.tp\n"
    "found = []\n"
    "for stage, n in enumerate(rank_parameters(model, plan.tp, plan.pp)):\n"
    "    flying = min(job.micro_batches, plan.pp - stage)\n"
    "    held = flying * (model.layers // plan.pp) * kept + work\n"
    "    logits = 12 * job.tokens * micro * words if stage == plan.pp - 1 else 0\n"
    "    found.append(Memory(16 * n, held, logits))\n"
    "return found"
)
_WORK = (
    "n = job.tokens * (job.batch // plan.dp // job.micro_batches)\n"
    "pad = 128 * plan.tp\n"
    "words = -(-model.vocab // pad) * pad\n"
    "linears = 2 * n * (4 * model.width ** 2 + 2 * model.width * model.hidden)\n"
    "core = 4 * n * job.tokens * model.width\n"
    "dense = linears * (3 + (plan.recompute == 'full'))\n"
    "attention = core * (3 + (plan.recompute != 'none'))\n"
    "layers = model.layers // plan.pp\n"
    "found = [[layers * dense, layers * attention] for _ in range(plan.pp)]\n"
    "found[-1][0] += 6 * n * model.width * words\n"
    "return [Work(d // plan.tp, a // plan.tp) for d, a in found]"
)
_TIME = (
    "def ring(nbytes, n):\n"
    "    return 2 * (n - 1) * (cluster.latency + nbytes / n / cluster.link)\n"
    "micro = job.batch // plan.dp // job.micro_batches\n"
    "sent = job.tokens * micro * model.width * item_bytes(job.dtype)\n"
    "rate = cluster.machine.rate(job.dtype)\n"
    "stages = []\n"
    "for i, work in enumerate(rank_work(model, job, plan)):\n"
    "    s = work.dense / (rate * cluster.dense) + work.attention / (rate * cluster.attention)\n"
    "    times = (6 if plan.recompute == 'full' else 4) * (model.layers // plan.pp)\n"
    "    times += (i == 0) + (i == plan.pp - 1)\n"
    "    stages.append(s + times * ring(sent, plan.tp))\n"
    "total = sum(stages) + (job.micro_batches - 1) * max(stages)\n"
    "total += 2 * (plan.pp - 1) * (cluster.latency + sent / cluster.link)\n"
    "total += ring(4 * max(rank_parameters(model, plan.tp, plan.pp)), plan.dp)\n"
    "pad = 128 * plan.tp\n"
    "words = -(-model.vocab // pad) * pad // plan.tp\n"
    "total += ring(4 * words * model.width, 2) if plan.pp > 1 else 0\n"
    "return total"
)
_PLANS = (
    "def plans(model):\n"
    "    for tp, pp, dp in product(range(1, cluster.cards + 1), repeat=3):\n"
    "        if tp * pp * dp != cluster.cards or model.heads % tp or model.hidden % tp:\n"
    "            continue\n"
    "        if model.layers % pp or job.batch % (dp * job.micro_batches):\n"
    "            continue\n"
    "        yield from (Plan(tp, pp, dp, r) for r in ('none', 'selective'))\n"
    "def peak(model, plan):\n"
    "    return max(m.total for m in peak_memory(model, job, plan))\n"
    "room = cluster.machine.memory\n"
)
_BEST = _PLANS + (
    "fits = [p for p in plans(model) if peak(model, p) <= room]\n"
    "return min(fits, key=lambda p: step_time(model, job, p, cluster), default=None)"
)
_LARGEST = _PLANS + (
    "found, layers = None, step\n"
    "while True:\n"
    "    deeper = replace(model, layers=layers)\n"
    "    fits = [p for p in plans(deeper) if peak(deeper, p) <= room]\n"
    "    if not fits:\n"
    "        return found\n"
    "    found, layers = (layers, fits[-1]), layers + step"
)
_YAML = (
    "again = 'true' if plan.recompute == 'selective' else 'false'\n"
    "kind = \"'no'\" if job.dtype == 'fp32' else job.dtype\n"
    "rows = ['distributed_type: MEGATRON_LM', 'megatron_lm_config:',\n"
    "    f'  megatron_lm_tp_degree: {plan.tp}',\n"
    "    f'  megatron_lm_pp_degree: {plan.pp}',\n"
    "    f'  megatron_lm_num_micro_batches: {job.micro_batches}',\n"
    "    f'  megatron_lm_recompute_activations: {again}',\n"
    "    f'  megatron_lm_sequence_parallelism: {plan.sequence_parallel}'.lower(),\n"
    "    f'mixed_precision: {kind}', f'num_processes: {plan.tp * plan.pp * plan.dp}']\n"
    "return '\\n'.join(rows)"
)


def _swap(
    task: str, name: str, body: str, old: str, new: str, *says: str, most: float = 0.5
) -> Cell:
    assert old in body, (name, old)
    return cell(task, name, body.replace(old, new), *says, most=most)


WRONG: list[Cell] = [
    # 3.1
    _swap("3.1", "not padded", _PARAMETERS, "-(-model.vocab // pad) * pad", "model.vocab",
          "The table of words is padded"),
    _swap("3.1", "padded to 128", _PARAMETERS, "pad = model.width, model.hidden, 128 * tp",
          "pad = model.width, model.hidden, 128", "You pad to a multiple of 128"),
    _swap("3.1", "no second table", _PARAMETERS, " + (words * w if pp > 1 else 0)", "",
          "there are two copies"),
    cell("3.1", "all divided", "one = 12 * model.width ** 2\nreturn [one * model.layers] * pp",
         "Stage by stage"),
    _swap("3.1", "all split", _PARAMETERS, "+ 2 * w + 4 * w", "+ (2 * w + 4 * w) // tp",
          "Stage by stage"),
    _swap("3.1", "row biases split", _PARAMETERS, "+ 2 * w + 4 * w", "+ 2 * w // tp + 4 * w",
          "are whole on every rank"),
    _swap("3.1", "positions split", _PARAMETERS, "model.context * w", "model.context * w // tp",
          "The table of positions is not split"),
    _swap("3.1", "four times width", _PARAMETERS, "pad = model.width, model.hidden,",
          "pad = model.width, 4 * model.width,", "use model.hidden"),
    _swap("3.1", "no biases", _PARAMETERS, "(3 * w + f) // tp + 2 * w + 4 * w", "4 * w",
          "Every linear has a bias"),
    cell("3.1", "one number", "return 1", "A collection of them is wanted"),
    cell("3.1", "one stage", "return [1, 2, 3, 4, 5]", "One entry for each stage"),
    # 3.2
    _swap("3.2", "split everywhere", _KEPT, "shared = plan.tp if plan.sequence_parallel else 1",
          "shared = plan.tp", "You split everything by tp"),
    _swap("3.2", "masks as numbers", _KEPT, "(4 * e + 2)", "(6 * e)", "Go through the table"),
    cell("3.2", "all masks as numbers",
         _KEPT.replace("(4 * e + 2)", "(6 * e)").replace("(2 * e + 1)", "(3 * e)"),
         "A dropout mask takes one byte"),
    _swap("3.2", "no statistics", _KEPT, " + 16 * n", "", "two numbers of 4 bytes"),
    _swap("3.2", "statistics in the dtype", _KEPT, "16 * n", "4 * e * n", "is FP32 always"),
    _swap("3.2", "all of the layer again", _KEPT, "== 'full'", "!= 'none'",
          "drops the core of attention alone"),
    _swap("3.2", "nothing again", _KEPT, "    core = 0", "    pass",
          "You forget what is made again"),
    _swap("3.2", "scores kept", _KEPT, "(2 * e + 1)", "(3 * e + 1)",
          "The scores before the softmax are not kept"),
    _swap("3.2", "the paper's two bytes", _KEPT, "item_bytes(dtype)", "2",
          "You take 2 bytes for every number"),
    _swap("3.2", "no sequence parallel", _KEPT, "plan.tp if plan.sequence_parallel else 1", "1",
          "only its share of the tokens"),
    _swap("3.2", "qkv again", _KEPT, "    core = 0", "    core = -3 * e * n * model.width",
          "queries, keys and values: they are kept"),
    _swap("3.2", "one of GELU", _KEPT, "2 * model.hidden", "model.hidden", "Both are kept"),
    # 3.3
    _swap("3.3", "weights alone", _PEAK, "16 * n", "4 * n", "These are the weights alone"),
    _swap("3.3", "no moments", _PEAK, "16 * n", "8 * n", "two moments are missing"),
    _swap("3.3", "state shared", _PEAK, "16 * n", "16 * n // plan.dp", "as ZeRO does"),
    _swap("3.3", "as GPipe", _PEAK, "min(job.micro_batches, plan.pp - stage)",
          "job.micro_batches", "as GPipe does"),
    _swap("3.3", "one in flight", _PEAK, "min(job.micro_batches, plan.pp - stage)", "1",
          "Several micro-batches are in flight"),
    _swap("3.3", "saves every layer", _PEAK, " * kept + work", " * kept",
          "The layer in work is missing"),
    _swap("3.3", "logits in every stage", _PEAK, " if stage == plan.pp - 1 else 0", "",
          "Only the last stage has logits"),
    _swap("3.3", "logits in the dtype", _PEAK, "12 * job", "3 * item_bytes(job.dtype) * job",
          "The loss works in FP32"),
    _swap("3.3", "the whole batch", _PEAK, "job.batch // plan.dp //", "job.batch //",
          "A replica has only its share"),
    _swap("3.3", "no micro-batches", _PEAK, " // job.micro_batches", "",
          "One micro-batch goes through at a time"),
    # 3.4
    _swap("3.4", "backward once", _WORK, "linears * (3 +", "linears * (2 +", "two products"),
    cell("3.4", "forward alone",
         _WORK.replace("(3 + (plan.recompute == 'full'))", "1")
         .replace("(3 + (plan.recompute != 'none'))", "1").replace("6 * n", "2 * n"),
         "This is the forward pass alone"),
    _swap("3.4", "no head", _WORK, "found[-1][0] += 6 * n * model.width * words\n", "",
          "The head is missing"),
    _swap("3.4", "not padded", _WORK, "-(-model.vocab // pad) * pad", "model.vocab",
          "as the padded table of words has rows"),
    _swap("3.4", "causal", _WORK, "core = 4 *", "core = 2 *", "You count half of the scores"),
    _swap("3.4", "nothing again", _WORK,
          "core * (3 + (plan.recompute != 'none'))", "core * 3", "You forget what runs again"),
    _swap("3.4", "whole layers", _WORK, "Work(d // plan.tp, a // plan.tp)", "Work(d, a)",
          "this is the work of all of them"),
    # 3.5
    _swap("3.5", "a pipeline is pp times as fast", _TIME,
          "sum(stages) + (job.micro_batches - 1) * max(stages)",
          "job.micro_batches * sum(stages) / plan.pp", "You divide by pp"),
    _swap("3.5", "no bubble", _TIME, "sum(stages) + (job.micro_batches - 1)",
          "job.micro_batches", "The pipeline has to fill"),
    _swap("3.5", "no overlap", _TIME, "sum(stages) + (job.micro_batches - 1) * max(stages)",
          "job.micro_batches * sum(stages)", "Stages work at the same time"),
    _swap("3.5", "forward all-reduces", _TIME, "else 4)", "else 2)",
          "Backward has two all-reduces"),
    _swap("3.5", "gradients stay", _TIME,
          "total += ring(4 * max(rank_parameters(model, plan.tp, plan.pp)), plan.dp)\n", "",
          "Replicas add up their gradients"),
    _swap("3.5", "tables drift apart", _TIME, "if plan.pp > 1 else 0", "if False else 0",
          "must stay equal"),
    _swap("3.5", "a ring is a message", _TIME,
          "2 * (n - 1) * (cluster.latency + nbytes / n / cluster.link)",
          "(n > 1) * (cluster.latency + nbytes / cluster.link)", "more than a message"),
    _swap("3.5", "one share", _TIME, "rate * cluster.attention", "rate * cluster.dense",
          "Attention reaches another share"),
    _swap("3.5", "messages one way", _TIME, "2 * (plan.pp - 1)", "(plan.pp - 1)",
          "Gradients go back"),
    # 3.6
    _swap("3.6", "fastest of all", _BEST, " if peak(model, p) <= room", "",
          "a rank does not fit"),
    _swap("3.6", "least memory", _BEST, "step_time(model, job, p, cluster)", "peak(model, p)",
          "takes the least memory"),
    _swap("3.6", "never again", _BEST, "('none', 'selective')", "('none',)",
          "With recomputation another plan fits"),
    _swap("3.6", "always again", _BEST, "('none', 'selective')", "('selective',)",
          "running attention again only costs time"),
    _swap("3.6", "first stage alone", _BEST, "max(m.total for m in peak_memory(model, job, plan))",
          "peak_memory(model, job, plan)[0].state", "a rank does not fit"),
    cell("3.6", "dp set by hand", "return Plan(dp=2)", "is the number of cards"),
    cell("3.6", "a tuple", "return (1, 2, 3)", "Return a Plan"),
    # 3.7
    _swap("3.7", "no recomputation", _LARGEST, "('none', 'selective')", "('none',)",
          "You never recompute"),
    _swap("3.7", "weights alone", _LARGEST, "max(m.total for m",
          "max(m.total - 12 * m.state // 16 for m", "You count 4 bytes a parameter"),
    _swap("3.7", "state alone", _LARGEST, "max(m.total for m", "max(m.state for m",
          "You count the state alone"),
    _swap("3.7", "all cards together", _LARGEST, "room = cluster.machine.memory",
          "room = cluster.machine.memory * cluster.cards", "each rank must fit on its card"),
    cell("3.7", "72", "return 72, Plan(pp=2, recompute='selective')", "layers"),
    _swap("3.7", "a plan that does not hold it", _LARGEST, "(layers, fits[-1])",
          "(layers, next(plans(deeper)))", "this plan does not hold it"),
    # 3.8
    _swap("3.8", "a key for dp", _YAML, "rows = [", "rows = [f'dp_degree: {plan.dp}', ",
          "Nobody sets dp"),
    _swap("3.8", "no replicas", _YAML, "{plan.tp * plan.pp * plan.dp}", "{plan.tp * plan.pp}",
          "One process for each card"),
    _swap("3.8", "a bare no", _YAML, "\"'no'\"", "'no'", "write 'no' in quotes"),
    _swap("3.8", "flat", _YAML, "'megatron_lm_config:',", "", "no YAML"),
    _swap("3.8", "text for truth", _YAML, "activations: {again}'", "activations: \"{again}\"'",
          "This is text"),
    cell("3.8", "no text", "return {'num_processes': 2}", "Return the text of the file"),
    # 3.9
    cell("3.9", "cards", "return dp * pp", "This is the number of cards"),
    cell("3.9", "the bubble", "return (pp - 1) / (micro_batches + pp - 1)", "This is the bubble"),
    cell("3.9", "one replica", "return pp * micro_batches / (micro_batches + pp - 1)",
         "dp replicas share the batch"),
    cell("3.9", "of m", "return dp * pp * (1 - (pp - 1) / micro_batches)", "not of m"),
]  # fmt: skip

_ON_META = (
    "def linear(a, b):\n    return torch.nn.Linear(a, b, device='meta')\n"
    "w, f = model.width, model.hidden // tp\n"
    "found = []\n"
    "for stage in range(pp):\n"
    "    parts = []\n"
    "    for _ in range(model.layers // pp):\n"
    "        parts += [linear(w, 3 * w // tp), linear(w // tp, w), linear(w, f), linear(f, w)]\n"
    "        parts += [torch.nn.LayerNorm(w, device='meta') for _ in range(2)]\n"
    "    rows = model.vocab\n"
    "    while rows % (128 * tp):\n        rows += 1\n"
    "    table = torch.nn.Embedding(rows // tp, w, device='meta')\n"
    "    if stage == 0:\n"
    "        parts += [table, torch.nn.Embedding(model.context, w, device='meta')]\n"
    "    if stage == pp - 1:\n"
    "        parts += [torch.nn.LayerNorm(w, device='meta'), table]\n"
    "    found.append(sum(p.numel() for p in torch.nn.ModuleList(parts).parameters()))\n"
    "return found"
)
RIGHT: list[Cell] = [
    cell("3.1", "another order", _PARAMETERS),
    cell("3.1", "real modules", _ON_META),
    cell("3.1", "a tuple of floats", _PARAMETERS.replace("//", "/").replace(
        "-(-model.vocab / pad) * pad", "-(-model.vocab // pad) * pad").replace(
        "return stages", "return tuple(stages)")),
    cell("3.2", "another order", _KEPT),
    cell("3.2", "as the paper has it",
         "e, n, t = item_bytes(dtype), tokens * batch * model.width, plan.tp\n"
         "ratio = 2 * model.hidden / model.width\n"
         "whole = n * (4 * e + 2) + 16 * tokens * batch\n"
         "inner = n * e * (4 + ratio) / t\n"
         "core = 0 if plan.recompute == 'selective' else "
         "n * (2 * e + 1) * model.heads * tokens / model.width / t\n"
         "s = t if plan.sequence_parallel else 1\n"
         "return n * e / s if plan.recompute == 'full' else whole / s + inner + core"),
    cell("3.3", "another order", _PEAK),
    _swap("3.3", "a simulated schedule", _PEAK,
          "flying = min(job.micro_batches, plan.pp - stage)",
          "flying = len([m for m in range(job.micro_batches) if m < plan.pp - stage])"),
    cell("3.4", "another order", _WORK),
    cell("3.5", "another order", _TIME),
    _swap("3.5", "beats", _TIME, "sum(stages) + (job.micro_batches - 1) * max(stages)",
          "sum(stages) - max(stages) + job.micro_batches * max(stages)"),
    cell("3.6", "a sorted list", _BEST),
    cell("3.6", "another of equally fast ones",
         _BEST.replace("return min(fits,", "return min(fits[::-1],")),
    cell("3.7", "the last plan", _LARGEST),
    cell("3.7", "the first plan", _LARGEST.replace("fits[-1]", "fits[0]")),
    cell("3.8", "another order, fewer keys", _YAML),
    cell("3.8", "JSON is YAML",
         "import json\n"
         "inside = {'megatron_lm_tp_degree': plan.tp, 'megatron_lm_pp_degree': plan.pp,\n"
         "    'megatron_lm_num_micro_batches': job.micro_batches,\n"
         "    'megatron_lm_recompute_activations': plan.recompute == 'selective',\n"
         "    'megatron_lm_sequence_parallelism': plan.sequence_parallel}\n"
         "kind = {'fp32': 'no'}.get(job.dtype, job.dtype)\n"
         "return json.dumps({'distributed_type': 'MEGATRON_LM', 'megatron_lm_config': inside,\n"
         "    'mixed_precision': kind, 'num_processes': plan.cards})"),
    cell("3.9", "without the bubble",
         "return dp * pp * (1 - (pp - 1) / (micro_batches + pp - 1))"),
]  # fmt: skip

_WHOLE = "what is divided is cut evenly, and a float that is whole is the same number"
_ANY = "of several plans any will do"
_DIVISORS = "no number above that of the cards divides it"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("3.1", "words = -(-model.vocab // pad) * pad / tp", _WHOLE),
    ("3.1", "2 * width * hidden) / tp", _WHOLE),
    ("3.1", "(3 * width + hidden) / tp", _WHOLE),
    ("3.1", "[model.layers / pp * layer", _WHOLE),
    ("3.2", "e * numbers / shared", _WHOLE),
    ("3.2", "everywhere / shared", _WHOLE),
    ("3.2", "split / plan.tp", _WHOLE),
    *((task, "micro = job.batch // plan.dp / job", _WHOLE) for task in ("3.3", "3.4", "3.5")),
    *((task, "micro = job.batch / plan.dp // job", _WHOLE) for task in ("3.3", "3.4", "3.5")),
    *((task, "model.layers / plan.pp)", _WHOLE) for task in ("3.3", "3.4", "3.5")),
    ("3.3", "words = -(-model.vocab // pad) * pad / plan.tp", _WHOLE),
    ("3.4", "* model.hidden) / plan.tp", _WHOLE),
    ("3.4", "core = 4 * pairs * job.tokens * model.width / plan.tp", _WHOLE),
    ("3.4", "head = 3 * 2 * pairs * model.width * words / plan.tp", _WHOLE),
    ("3.5", "the other way round", "stages are added up, and the slowest found, in any order"),
    ("3.5", "pad / plan.tp * model.width", _WHOLE),
    ("3.6", "the other way round", _ANY),
    ("3.6", "if seconds <= least", _ANY),
    ("3.6", "cluster.cards / (tp * pp)", _WHOLE),
    ("3.6", "range(1, cluster.cards + 2)", _DIVISORS),
    ("3.7", "the other way round", _ANY),
    ("3.7", "or model.hidden % tp:", "step is a multiple of the cards, so every pp divides it"),
    ("3.7", "dp = cluster.cards / (tp * pp)", _WHOLE),
    ("3.7", "list(plans)[1:]", "what fits without running again fits with it, and any will do"),
    ("3.7", "range(1, cluster.cards + 2)", _DIVISORS),
)
