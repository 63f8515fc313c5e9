"""Wrong and right cells of notebook 3, large batches and what the ranks must agree on."""

from __future__ import annotations

from tests.support.catalogue import Cell, Written

RATE = Written(
    "hw5",
    "3.1",
    """\
k = batch / base
if step < warmup:
    return rate + (k * rate - rate) * step / warmup
return k * rate""",
)
SHARD = Written(
    "hw5",
    "3.4",
    """\
g = torch.Generator()
g.manual_seed(seed + epoch)
order = torch.randperm(images, generator=g).tolist()
if drop_last:
    order = order[:images // ranks * ranks]
else:
    while len(order) % ranks:
        order += order[:ranks - len(order) % ranks]
return order[rank::ranks]""",
)
TRAFFIC = Written(
    "hw5",
    "3.6",
    """\
told = {"parameters": model.parameters, "buffers": -model.parameters, "gradients": 0, "metadata": 0}
for place, m in enumerate(log):
    if place < 2 or m.dtype == "int32":
        told["metadata"] += m.nbytes
    elif m.phase == "backward":
        told["gradients"] += m.nbytes
    else:
        told["buffers"] += m.nbytes
return told""",
)
NORM = Written(
    "hw5",
    "3.8",
    """\
dims = [d for d in range(x.dim()) if d != 1]
wide = x.double()
count = torch.full((x.shape[1],), x.numel() / x.shape[1], dtype=torch.float64)
sums = torch.stack([wide.sum(dims), (wide ** 2).sum(dims), count])
dist.all_reduce(sums)
mean, var = sums[0] / sums[2], sums[1] / sums[2] - (sums[0] / sums[2]) ** 2
view = [1, -1] + [1] * (x.dim() - 2)
return ((wide - mean.view(view)) / (var.view(view) + eps).sqrt()).to(x.dtype)""",
)
WRONG: list[Cell] = [
    RATE.with_("from 0", ("rate + (k * rate - rate) * step", "k * rate * step"), says="not from 0"),
    RATE.with_("the root", ("k = batch / base", "k = (batch / base) ** 0.5"), says=""),
    RATE.with_(
        "one step ahead", ("* step / warmup", "* (step + 1) / warmup"), says="Step 0 has the rate"
    ),
    RATE.with_(
        "it stands still", ("rate + (k * rate - rate) * step / warmup", "rate"), says="stands still"
    ),
    RATE.with_(
        "back to the small rate", ("return k * rate", "return rate"), says="After the warm-up"
    ),
    RATE.with_("for ever", ("if step < warmup", "if warmup"), says="goes on growing"),
    SHARD.with_("no epoch", ("seed + epoch", "seed"), says="does not use the epoch"),
    SHARD.with_(
        "cut",
        ("if drop_last:", "if True:"),
        says="pad the order",
    ),
    SHARD.with_(
        "blocks",
        (
            "return order[rank::ranks]",
            "n = len(order) // ranks\nreturn order[rank * n:(rank + 1) * n]",
        ),
        says="every N-th image",
    ),
    SHARD.with_(
        "nothing is shuffled",
        ("torch.randperm(images, generator=g)", "torch.arange(images)"),
        says="Nothing is shuffled",
    ),
    SHARD.with_("a seed for each rank", ("seed + epoch", "seed + epoch + rank"), says=""),
    SHARD.with_("always padded", ("if drop_last:", "if False:"), says="nothing is padded"),
    SHARD.body(
        "PyTorch's own",
        "from torch.utils.data import DistributedSampler\n"
        "s = DistributedSampler(range(images), ranks, rank, seed=seed, drop_last=drop_last)\n"
        "s.set_epoch(epoch)\nreturn list(s)",
        "torch.randperm",
        most=0,
    ),
    TRAFFIC.with_(
        "all is parameters",
        (
            '"parameters": model.parameters, "buffers": -model.parameters',
            '"parameters": 0, "buffers": 0',
        ),
        (
            "    else:\n",
            '    elif m.phase == "construct":\n        told["parameters"] += m.nbytes\n    else:\n',
        ),
        says="travel together",
    ),
    TRAFFIC.with_("notes are buffers", ('or m.dtype == "int32"', ""), says="notes", most=0.3),
    TRAFFIC.with_(
        "counters are notes",
        ('m.dtype == "int32"', '"int" in m.dtype'),
        says="a buffer too",
    ),
    TRAFFIC.with_("what is trained", ("model.parameters", "model.trained"), says="Frozen"),
    TRAFFIC.with_("no notes", ('told["metadata"] += m.nbytes', "pass"), says="", most=0),
    NORM.with_(
        "own statistics",
        ("dist.all_reduce(sums)\n", "dist.all_reduce(sums * 0)\n"),
        says="own images",
    ),
    NORM.body(
        "the mean of means",
        "dims = [d for d in range(x.dim()) if d != 1]\nwide = x.double()\n"
        "if not len(x):\n    return x\n"
        "sums = torch.stack([wide.mean(dims), (wide ** 2).mean(dims)])\ndist.all_reduce(sums)\n"
        "mean, square = sums / dist.get_world_size()\nview = [1, -1] + [1] * (x.dim() - 2)\n"
        "var = (square - mean ** 2).view(view)\n"
        "return ((wide - mean.view(view)) / (var + eps).sqrt()).to(x.dtype)",
        "sum numbers and counts",
    ),
    NORM.with_(
        "float32",
        (".double()", ".float()"),
        ("dtype=torch.float64", "dtype=torch.float32"),
        says="loses its digits",
    ),
    NORM.with_(
        "one less",
        (
            "sums[1] / sums[2] - (sums[0] / sums[2]) ** 2",
            "(sums[1] - sums[0] ** 2 / sums[2]) / (sums[2] - 1)",
        ),
        says="not by one less",
    ),
    NORM.with_(
        "two messages",
        (
            "dist.all_reduce(sums)",
            "a, b = sums[:2].clone(), sums[2].clone(); dist.all_reduce(a); dist.all_reduce(b)\n"
            "sums = torch.cat([a, b[None]])",
        ),
        says="One all-reduce is enough",
    ),
]
RIGHT: list[Cell] = [
    RATE.body(
        "between two rates",
        "large = rate * batch / base\nshare = min(step / warmup, 1) if warmup else 1\n"
        "return (1 - share) * rate + share * large",
    ),
    SHARD.body(
        "with tensors",
        "g = torch.Generator().manual_seed(epoch + seed)\n"
        "order = torch.randperm(images, generator=g)\n"
        "each = images // ranks if drop_last else (images + ranks - 1) // ranks\n"
        "order = order.repeat(-(-each * ranks // images))[:each * ranks]\n"
        "return order.view(each, ranks)[:, rank]",
    ),
    TRAFFIC.body(
        "by what is left",
        "total = sum(m.nbytes for m in log)\n"
        "notes = sum(m.nbytes for m in log if m.dtype == 'int32') + log[0].nbytes + log[1].nbytes\n"
        "summed = sum(m.nbytes for m in log if m.what == 'all_reduce' and m.dtype != 'int32')\n"
        "return dict(parameters=model.parameters, gradients=summed, metadata=notes,\n"
        "            buffers=total - notes - summed - model.parameters)",
    ),
    NORM.body(
        "merged as Chan does",
        "dims = [d for d in range(x.dim()) if d != 1]\nn = x.numel() // x.shape[1]\n"
        "wide = x.double()\nmean = wide.sum(dims) / max(n, 1)\n"
        "view = [1, -1] + [1] * (x.dim() - 2)\n"
        "m2 = ((wide - mean.view(view)) ** 2).sum(dims)\n"
        "own = torch.stack([mean, m2, torch.full_like(mean, n)])\n"
        "every = [torch.empty_like(own) for _ in range(dist.get_world_size())]\n"
        "dist.all_gather(every, own)\nmeans, squares, counts = torch.stack(every, 1)\n"
        "whole = (means * counts).sum(0) / counts.sum(0)\n"
        "var = (squares + counts * (means - whole) ** 2).sum(0) / counts.sum(0)\n"
        "return ((wide - whole.view(view)) / (var.view(view) + eps).sqrt()).to(x.dtype)",
    ),
]
