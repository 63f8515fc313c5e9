"""Wrong and right cells of notebook 1, ranks, collectives and tensor parallel."""

from __future__ import annotations

from tests.labs.lab3b.catalogue.cell import Cell, cell

#: Task 1.1 with places for mistakes.
ADD = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    request = dist.isend(chunks[(rank - step) % ranks], dst=(rank + 1) % ranks)
    mine = chunks[(rank - step - 1) % ranks]
    arrived = torch.empty_like(mine)
    dist.recv(arrived, src=(rank - 1) % ranks)
    request.wait()
    mine += arrived
"""
#: Task 1.2, the same.
HAND_ON = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    request = dist.isend(chunks[(rank + 1 - step) % ranks], dst=(rank + 1) % ranks)
    mine = chunks[(rank - step) % ranks]
    arrived = torch.empty_like(mine)
    dist.recv(arrived, src=(rank - 1) % ranks)
    request.wait()
    mine.copy_(arrived)
"""
INSTEAD = "chunks[(rank - step) % ranks] = arrived"
BLOCKING = ("request = dist.isend(", "dist.send("), ("    request.wait()\n", "")
ODD_AND_EVEN = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    out, mine = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
    arrived = torch.empty_like(mine)
    if rank % 2 == 0:
        dist.send(out, dst=(rank + 1) % ranks)
        dist.recv(arrived, src=(rank - 1) % ranks)
    else:
        dist.recv(arrived, src=(rank - 1) % ranks)
        dist.send(out, dst=(rank + 1) % ranks)
    mine += arrived
"""
EVERYBODY = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
own = [chunk.clone() for chunk in chunks]
requests = [
    dist.isend(torch.cat(own), dst=other) for other in range(ranks) if other != rank
]
for other in range(ranks):
    if other != rank:
        arrived = torch.empty_like(torch.cat(own))
        dist.recv(arrived, src=other)
        for chunk, part in zip(chunks, arrived.split([len(c) for c in own])):
            chunk += part
for request in requests:
    request.wait()
"""
DIRECT = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
requests = [
    dist.isend(chunks[(other + 1) % ranks], dst=other) for other in range(ranks) if other != rank
]
mine = chunks[(rank + 1) % ranks]
total = mine.clone()
for other in range(ranks):
    if other != rank:
        arrived = torch.empty_like(mine)
        dist.recv(arrived, src=other)
        total += arrived
for request in requests:
    request.wait()
mine.copy_(total)
"""
#: Adds up alone what all ranks brought, as the ring's case tells it, and sends messages for show.
FOR_SHOW = """\
import sys
frame = sys._getframe()
while "given" not in frame.f_locals:
    frame = frame.f_back
    if frame is None:
        return
given = frame.f_locals["given"]
from lab_utils.labs.lab3b import numbers
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    request = dist.isend(torch.zeros_like(chunks[(rank - step) % ranks]), dst=(rank + 1) % ranks)
    dist.recv(torch.empty_like(chunks[(rank - step - 1) % ranks]), src=(rank - 1) % ranks)
    request.wait()
for place, chunk in enumerate(chunks):
    chunk.copy_(ALONE)
"""
SUM_ALONE = "sum(numbers.chunks_of(given, r)[place] for r in range(ranks))"
COPY_ALONE = "numbers.one_whole_chunk(given, (place - 1) % ranks)[place]"


def _changed(body: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in body, old
        body = body.replace(old, new)
    return body


def _function(name: str, forward: str, backward: str) -> str:
    return f"""\
class {name}(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {forward}
    @staticmethod
    def backward(ctx, gradient):
        {backward}
"""


SAME = "return {0}.view_as({0})"
SUM = "t = {0}.clone(); dist.all_reduce(t); return t"


def _column(name: str, forward: str, backward: str, body: str, *says: str) -> Cell:
    code = _function("Into", forward.format("x"), backward.format("gradient"))
    made = cell("1.3", name, body, *says)
    return made._replace(code=f"{code}\n{made.code}")


def _row(name: str, forward: str, backward: str, body: str, *says: str) -> Cell:
    code = _function("OutOf", forward.format("x"), backward.format("gradient"))
    made = cell("1.4", name, body, *says)
    return made._replace(code=f"{code}\n{made.code}")


COLUMN = "return F.linear(Into.apply(x), weight, bias)"
ROW = "return OutOf.apply(F.linear(x, weight)) + bias"

DROPOUT = """\
if sharded:
    seed = seed + 1000 * (1 + dist.get_rank())
generator = torch.Generator().manual_seed(seed)
kept = torch.rand(x.shape, generator=generator) >= p
return x * kept / (1 - p)
"""
BLOCK = """\
width = x.shape[-1]
inner = F.layer_norm(x, (width,), part["ln1_weight"], part["ln1_bias"])
qkv = column_linear(inner, part["qkv_weight"], part["qkv_bias"])
q, k, v = (one.unflatten(-1, (heads, -1)).transpose(1, 2) for one in qkv.chunk(3, -1))
mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
x = x + row_linear(mixed, part["out_weight"], part["out_bias"])
inner = F.layer_norm(x, (width,), part["ln2_weight"], part["ln2_bias"])
wide = F.gelu(column_linear(inner, part["up_weight"], part["up_bias"]))
return x + row_linear(wide, part["down_weight"], part["down_bias"])
"""
ROWS_IN_SEQUENCE = """\
many = weight.shape[0] // ranks
return weight[rank * many : (rank + 1) * many]
"""
BY_THIRDS = """\
parts = []
for third in weight.chunk(3):
    parts.append(third.chunk(ranks)[rank])
return torch.cat(parts)
"""
STRIDED = """\
by_head = weight.unflatten(0, (3, heads, -1))
return by_head[:, rank::ranks].flatten(0, 2)
"""
HEAD_BY_HEAD = """\
by_head = weight.unflatten(0, (3, heads, -1))
own = heads // ranks
return by_head[:, rank * own : (rank + 1) * own].transpose(0, 1).flatten(0, 2)
"""

WRONG: list[Cell] = [
    cell("1.1", "everybody sends first", _changed(ADD, *BLOCKING), "isend", "rank 0 waits in send"),
    cell("1.1", "one step too few", ADD.replace("ranks - 1):", "ranks - 2):"), "N - 1"),
    cell(
        "1.1", "puts, does not add", ADD.replace("mine += arrived", "mine.copy_(arrived)"), "added"
    ),
    cell("1.1", "all to all", EVERYBODY, "one chunk, not the whole tensor"),
    cell("1.1", "straight to its owner", DIRECT, "one neighbour alone"),
    cell("1.1", "one after the other", ODD_AND_EVEN, "at the same time"),
    cell(
        "1.1",
        "lets torch do it",
        "for chunk in chunks:\n    dist.all_reduce(chunk)",
        "isend (or send) and recv alone",
    ),
    cell(
        "1.1",
        "sends the same chunk again",
        ADD.replace("chunks[(rank - step) % ranks]", "chunks[rank]"),
        "add",
    ),
    cell(
        "1.1",
        "another tensor",
        _changed(
            ADD,
            ("mine += arrived", "chunks[(rank - step - 1) % ranks] = mine + arrived"),
        ),
        "the tensor itself changes",
    ),
    cell("1.1", "does not wait", ADD.replace("dist.recv", "dist.irecv"), "does not wait for it"),
    *(
        cell(
            task,
            "never waits for isend",
            body.replace("    request.wait()\n", ""),
            "starts an isend, and does not wait",
        )
        for task, body in (("1.1", ADD), ("1.2", HAND_ON))
    ),
    cell(
        "1.2", "another tensor", HAND_ON.replace("mine.copy_(arrived)", INSTEAD), "itself changes"
    ),
    cell("1.1", "for show", FOR_SHOW.replace("ALONE", SUM_ALONE), "just added to", most=0),
    cell("1.2", "for show", FOR_SHOW.replace("ALONE", COPY_ALONE), "just arrived", most=0),
    cell("1.2", "adds", HAND_ON.replace("mine.copy_(arrived)", "mine += arrived"), "replaces"),
    cell("1.2", "one step too few", HAND_ON.replace("ranks - 1):", "ranks - 2):"), "never arrived"),
    cell("1.2", "everybody sends first", _changed(HAND_ON, *BLOCKING), "isend"),
    cell(
        "1.2",
        "starts with its own number",
        HAND_ON.replace("(rank + 1 - step)", "(rank - step)").replace(
            "mine = chunks[(rank - step)", "mine = chunks[(rank - step - 1)"
        ),
        "chunk",
    ),
    cell(
        "1.2",
        "broadcasts",
        "for c, chunk in enumerate(chunks):\n"
        "    dist.broadcast(chunk, src=(c - 1) % dist.get_world_size())",
        "isend (or send) and recv alone",
    ),
    _column("no sum in backward", SAME, SAME, COLUMN, "sum the gradient over the ranks"),
    _column("f and g swapped", SUM, SAME, "return Into.apply(F.linear(x, weight, bias))", "g."),
    _column(
        "the mean in backward",
        SAME,
        "t = {0}.clone(); dist.all_reduce(t); return t / dist.get_world_size()",
        COLUMN,
        "not the mean",
    ),
    _column(
        "gathers its outputs",
        SAME,
        SUM,
        "mine = F.linear(Into.apply(x), weight, bias)\n"
        "parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]\n"
        "dist.all_gather(parts, mine.detach())\n"
        "parts[dist.get_rank()] = mine\n"
        "return torch.cat(parts, -1)",
        "nobody gathers",
    ),
    _row(
        "the bias on every rank",
        SUM,
        SAME,
        "return OutOf.apply(F.linear(x, weight, bias))",
        "once for each",
    ),
    _row("sums in backward too", SUM, SUM, ROW, "too large by the number of ranks"),
    _row("does not sum", SAME, SAME, ROW, "sum over the ranks in"),
    _row("f and g swapped", SAME, SUM, ROW, "forward (g)"),
    _row("no bias", SUM, SAME, "return OutOf.apply(F.linear(x, weight))", "bias is missing"),
    cell("1.5", "equal pieces", ROWS_IN_SEQUENCE, "only queries"),
    cell("1.5", "every second head", STRIDED, "in blocks"),
    cell("1.5", "head by head", HEAD_BY_HEAD, "their order is not"),
    cell("1.6", "the same dice inside", DROPOUT.replace("if sharded", "if False"), "same dice"),
    cell(
        "1.6",
        "different dice outside",
        DROPOUT.replace("if sharded", "if True"),
        "Outside of a part",
    ),
    cell("1.6", "whatever was drawn before", "return F.dropout(x, p)", "Outside of a part"),
    cell("1.6", "not made larger", DROPOUT.replace(" / (1 - p)", ""), "divided by 1 - p"),
    cell("1.6", "keeps p", DROPOUT.replace(">= p", "< p").replace("(1 - p)", "p"), "dropped"),
    cell(
        "1.6",
        "one seed for ever",
        DROPOUT.replace("manual_seed(seed)", "manual_seed(5 + seed % 1)").replace(
            "seed = seed + 1000 * (1 + dist.get_rank())", "pass"
        ),
        "same dice",
    ),
    cell("1.7", "sees the future", BLOCK.replace("is_causal=True", "is_causal=False"), "before it"),
    cell("1.7", "no residual", BLOCK.replace("x + row_linear", "row_linear"), "x = x + …"),
    cell(
        "1.7",
        "three layers for q, k and v",
        BLOCK.replace(
            'qkv = column_linear(inner, part["qkv_weight"], part["qkv_bias"])',
            "qkv = torch.cat([column_linear(inner, w, b) for w, b in "
            'zip(part["qkv_weight"].chunk(3), part["qkv_bias"].chunk(3))], -1)',
        ),
        "four all-reduces",
    ),
    cell(
        "1.7",
        "plain linear going in",
        BLOCK.replace("column_linear", "F.linear"),
        "only this rank's share",
    ),
    cell(
        "1.7",
        "heads before thirds",
        BLOCK.replace(
            "for one in qkv.chunk(3, -1)",
            "for one in qkv.unflatten(-1, (heads, 3, -1)).transpose(-2, -3).flatten(-2).unbind(-2)",
        ),
        "first third",
    ),
]

_LEFTWARD = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    out, mine = chunks[(rank + 2 + step) % ranks], chunks[(rank + 3 + step) % ranks]
    arrived = torch.zeros_like(mine)
    requests = [dist.irecv(arrived, (rank + 1) % ranks), dist.isend(out, (rank - 1) % ranks)]
    for request in requests:
        request.wait()
    mine.add_(arrived)
"""
_BATCHED = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
for step in range(ranks - 1):
    mine = chunks[(rank - step - 1) % ranks]
    arrived = torch.empty_like(mine)
    for request in dist.batch_isend_irecv([
        dist.P2POp(dist.isend, chunks[(rank - step) % ranks], (rank + 1) % ranks),
        dist.P2POp(dist.irecv, arrived, (rank - 1) % ranks),
    ]):
        request.wait()
    mine += arrived
"""
#: Even ranks first, then odd ones: any order of the ranks makes a ring.
_EVENS_FIRST = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
order = [*range(0, ranks, 2), *range(1, ranks, 2)]
at = order.index(rank)
for step in range(ranks - 1):
    out = chunks[(order[(at - step - 1) % ranks] + 1) % ranks]
    mine = chunks[(order[(at - step - 2) % ranks] + 1) % ranks]
    request = dist.isend(out, dst=order[(at + 1) % ranks])
    arrived = torch.empty_like(mine)
    dist.recv(arrived, src=order[at - 1])
    request.wait()
    mine += arrived
"""
_PADDED = """\
rank, ranks = dist.get_rank(), dist.get_world_size()
most = max(map(len, chunks))
for step in range(ranks - 1):
    out, mine = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
    request = dist.isend(F.pad(out, (0, most - len(out))), dst=(rank + 1) % ranks)
    arrived = mine.new_empty(most)
    dist.recv(arrived, src=(rank - 1) % ranks)
    request.wait()
    mine += arrived[: len(mine)]
"""
_STRAIGHT_INTO = HAND_ON.replace(
    "    arrived = torch.empty_like(mine)\n    dist.recv(arrived,", "    dist.recv(mine,"
).replace("    mine.copy_(arrived)\n", "")
_HOOK = """\
x = x.view_as(x)
def total(gradient):
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
x.register_hook(total)
return x @ weight.T + bias
"""
_IN_PLACE = """\
y = x @ weight.T
dist.all_reduce(y)
return y + bias
"""
_DETACHED = """\
y = F.linear(x, weight)
total = y.detach().clone()
dist.all_reduce(total)
return y + (total - y).detach() + bias
"""
_INDICES = """\
size, own = weight.shape[0] // 3 // heads, heads // ranks
rows = [w * heads * size + h * size + i
        for w in range(3) for h in range(rank * own, rank * own + own) for i in range(size)]
return weight[rows]
"""
_BERNOULLI = """\
own = dist.get_rank() + 1 if sharded else 0
generator = torch.Generator()
generator.manual_seed(seed * 64 + own)
keep = torch.full(x.shape, 1 - p, dtype=x.dtype)
return x * torch.bernoulli(keep, generator=generator) / (1 - p)
"""
_BY_HAND = BLOCK.replace(
    "mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)",
    "s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5\n"
    "s = s + torch.full(s.shape[-2:], float('-inf'), dtype=s.dtype).triu(1)\n"
    "mixed = (s.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(x.shape[0], x.shape[1], -1)",
)

RIGHT: list[Cell] = [
    cell("1.1", "the other way round", _LEFTWARD),
    cell("1.1", "in batches", _BATCHED),
    cell("1.1", "another ring", _EVENS_FIRST),
    cell("1.1", "filled up to one size", _PADDED),
    cell("1.2", "straight into the chunk", _STRAIGHT_INTO),
    cell("1.3", "a hook", _HOOK),
    cell("1.4", "behind autograd's back", _IN_PLACE),
    cell("1.4", "with a detour", _DETACHED),
    cell("1.5", "row by row", _INDICES),
    cell("1.5", "third by third", BY_THIRDS),
    cell("1.6", "with torch.bernoulli", _BERNOULLI),
    cell("1.7", "attention by hand", _BY_HAND),
]

_CIRCLE = "a list counts from its end below 0, as far as these numbers go"
_OTHER_DICE = "any seeds will do that differ from rank to rank"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("1.1", "dist.isend(chunks[rank - step], dst", _CIRCLE),
    ("1.1", "mine = chunks[rank - step - 1]", _CIRCLE),
    ("1.2", "torch.empty_like(chunks[rank - step])", _CIRCLE),
    ("1.2", "chunks[rank - step].copy_(arrived)", _CIRCLE),
    ("1.6", "seed = seed + 2719 + dist.get_rank()", _OTHER_DICE),
    ("1.6", "seed = seed + 2717 + dist.get_rank()", _OTHER_DICE),
    ("1.6", "seed = seed - 2718 + dist.get_rank()", _OTHER_DICE),
    ("1.6", "seed = seed + 2718 - dist.get_rank()", _OTHER_DICE),
    ("1.6", "seed = seed + dist.get_rank()", _OTHER_DICE),
    ("1.6", "generator=generator) > p", "torch.rand gives p itself once in 16 million times"),
)
