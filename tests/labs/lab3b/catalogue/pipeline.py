"""Wrong and right cells of notebook 2, pipeline and data parallel."""

from __future__ import annotations

from tests.labs.lab3b.catalogue.cell import Cell, cell

GPIPE = """\
forward = [("F", micro) for micro in range(micros)]
backward = [("B", micro) for micro in range(micros)]
return [forward + backward for _ in range(stages)]
"""
ONE_F_ONE_B = """\
schedule = []
for rank in range(stages):
    warm_up = min(stages - 1 - rank, micros)
    steps = [("F", micro) for micro in range(warm_up)]
    for micro in range(micros - warm_up):
        steps += [("F", warm_up + micro), ("B", micro)]
    steps += [("B", micro) for micro in range(micros - warm_up, micros)]
    schedule.append(steps)
return schedule
"""
STAGE = """\
rank, requests = dist.get_rank(), []
for kind, micro in steps:
    arrived = None
    if kind == "F":
        if not stage.is_first:
            arrived = torch.empty(stage.shape, dtype=stage.dtype)
            dist.recv(arrived, src=rank - 1)
        made = stage.forward(micro, arrived)
        if not stage.is_last:
            requests.append(dist.isend(made, dst=rank + 1))
    else:
        if not stage.is_last:
            arrived = torch.empty(stage.shape, dtype=stage.dtype)
            dist.recv(arrived, src=rank + 1)
        made = stage.backward(micro, arrived)
        if not stage.is_first:
            requests.append(dist.isend(made, dst=rank - 1))
for request in requests:
    request.wait()
"""
TIED = """\
group = dist.new_group([0, dist.get_world_size() - 1])
if gradient is not None:
    dist.all_reduce(gradient, group=group)
"""
BUCKETS = """\
buckets, full = [], most + 1
for number in reversed(range(len(nbytes))):
    if full + nbytes[number] > most:
        buckets.append([])
        full = 0
    buckets[-1].append(number)
    full += nbytes[number]
return buckets
"""
OVERLAP = """\
missing = [len(bucket) for bucket in buckets]
started, handles = [], []

def arrived(number):
    missing[number] -= 1
    if missing[number] == 0:
        flat = torch.cat([parameters[one].grad.flatten() for one in buckets[number]])
        started.append((number, flat, dist.all_reduce(flat, async_op=True)))

for number, bucket in enumerate(buckets):
    for one in bucket:
        hook = lambda _, number=number: arrived(number)
        handles.append(parameters[one].register_post_accumulate_grad_hook(hook))
loss.backward()
for handle in handles:
    handle.remove()
for number, flat, request in started:
    request.wait()
    flat /= dist.get_world_size()
    grads = [parameters[one].grad for one in buckets[number]]
    for grad, part in zip(grads, flat.split([grad.numel() for grad in grads])):
        grad.copy_(part.view_as(grad))
"""
_AFTERWARDS = """\
loss.backward()
for bucket in buckets:
    grads = [parameters[one].grad for one in bucket]
    flat = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for grad, part in zip(grads, flat.split([grad.numel() for grad in grads])):
        grad.copy_(part.view_as(grad))
"""
_ONE_BY_ONE = """\
requests = []
hooks = [
    p.register_post_accumulate_grad_hook(
        lambda p: requests.append(dist.all_reduce(p.grad, async_op=True))
    )
    for p in parameters
]
loss.backward()
for hook in hooks:
    hook.remove()
for request in requests:
    request.wait()
for p in parameters:
    p.grad /= dist.get_world_size()
"""
_ALL_RANKS = """\
like = torch.zeros(64, dtype=torch.float64)
if gradient is not None:
    like[: gradient.numel()] = gradient.flatten()
dist.all_reduce(like)
if gradient is not None:
    gradient.copy_(like[: gradient.numel()].view_as(gradient))
"""
_TO_THE_FIRST = """\
last = dist.get_world_size() - 1
if dist.get_rank() == last:
    dist.send(gradient, dst=0)
if dist.get_rank() == 0:
    other = torch.empty_like(gradient)
    dist.recv(other, src=last)
    gradient += other
"""

#: Makes the other rank's gradient by itself, from what the case tells.
_ALONE = """\
import sys
frame = sys._getframe()
while frame is not None and "given" not in frame.f_locals:
    frame = frame.f_back
if gradient is None or frame is None:
    return
given = frame.f_locals["given"]
from lab_utils.labs.lab3b.numbers import random_numbers
other = given["ranks"] - 1 - dist.get_rank()
gradient += random_numbers(given["seed"] + other, given["shape"])
"""

WRONG: list[Cell] = [
    cell(
        "2.1",
        "forward and backward in turns",
        "return [[(k, m) for m in range(micros) for k in 'FB'] for _ in range(stages)]",
        "before its first backward",
    ),
    cell(
        "2.1",
        "no backward",
        GPIPE.replace("forward + backward", "forward"),
        "forward and backward through",
    ),
    cell("2.1", "one list for all", 'return [("F", m) for m in range(micros)]', "step", most=0.0),
    cell("2.1", "counts from 1", GPIPE.replace("range(micros)", "range(1, micros + 1)"), "step"),
    cell("2.2", "GPipe", GPIPE, "that is GPipe"),
    cell(
        "2.2",
        "a warm-up beyond the last micro-batch",
        ONE_F_ONE_B.replace("min(stages - 1 - rank, micros)", "stages - 1 - rank"),
        "a micro-batch that does not exist",
    ),
    cell(
        "2.2",
        "a warm-up too long",
        ONE_F_ONE_B.replace("stages - 1 - rank", "stages - rank"),
        "One forward step too many",
    ),
    cell(
        "2.2",
        "the same warm-up everywhere",
        ONE_F_ONE_B.replace("stages - 1 - rank", "stages - 1"),
        "later the stage",
    ),
    cell(
        "2.2",
        "a warm-up too short",
        ONE_F_ONE_B.replace("stages - 1 - rank", "max(stages - 2 - rank, 0)"),
        "wait longer than they must",
    ),
    cell(
        "2.2",
        "no end",
        ONE_F_ONE_B.replace(
            '    steps += [("B", micro) for micro in range(micros - warm_up, micros)]\n', ""
        ),
        "the rest of the backwards",
    ),
    cell(
        "2.2", "warm-up turned round", ONE_F_ONE_B.replace("stages - 1 - rank", "rank"), "for ever"
    ),
    cell(
        "2.3",
        "idle over work",
        "return max(1, -(-(stages - 1) * 100 // percent))",
        "work and idle together",
    ),
    cell(
        "2.3",
        "rounds down",
        "return max(1, (stages - 1) * (100 - percent) // percent)",
        "round up",
    ),
    cell(
        "2.3",
        "p, not p - 1",
        "return -(-stages * (100 - percent) // percent)",
        "p - 1 before the last",
    ),
    cell(
        "2.4",
        "blocking sends",
        STAGE.replace(
            "requests.append(dist.isend(made, dst=rank + 1))", "dist.send(made, dst=rank + 1)"
        ).replace(
            "requests.append(dist.isend(made, dst=rank - 1))", "dist.send(made, dst=rank - 1)"
        ),
        "start it with isend",
    ),
    cell(
        "2.4",
        "waits at once",
        STAGE.replace(
            "requests.append(dist.isend(made, dst=rank + 1))",
            "dist.isend(made, dst=rank + 1).wait()",
        ),
        "isend",
    ),
    cell(
        "2.4",
        "never waits for isend",
        STAGE.replace("    request.wait()\n", "    pass\n"),
        "starts an isend, and does not wait",
    ),
    cell(
        "2.4",
        "forgets gradients",
        STAGE.replace(
            "        if not stage.is_first:\n"
            "            requests.append(dist.isend(made, dst=rank - 1))\n",
            "",
        ),
        "has ended",
    ),
    cell(
        "2.4",
        "ignores the schedule",
        STAGE.replace("in steps:", "in sorted(steps, key=lambda s: (s[0] == 'B', s[1])):"),
        "in their order",
    ),
    cell(
        "2.4",
        "zeros for gradients",
        STAGE.replace(
            "dist.recv(arrived, src=rank + 1)", "dist.recv(arrived, src=rank + 1); arrived.zero_()"
        ),
        "its own gradient",
    ),
    cell("2.5", "does nothing", "pass", "its own part alone"),
    cell("2.5", "the mean", TIED + "    gradient /= 2", "This is the mean"),
    cell("2.5", "all ranks", _ALL_RANKS, "Ranks in the middle"),
    cell("2.5", "the first one only", _TO_THE_FIRST, "its own part alone"),
    cell(
        "2.5",
        "all ranks, no group",
        "if gradient is not None:\n    dist.all_reduce(gradient)",
        "has ended",
    ),
    cell("2.5", "without a message", _ALONE, "each has to send its own", most=0),
    cell(
        "2.5",
        "only members make the group",
        "if gradient is not None:\n"
        "    group = dist.new_group([0, dist.get_world_size() - 1])\n"
        "    dist.all_reduce(gradient, group=group)",
        "Every rank must call new_group",
    ),
    cell(
        "2.6",
        "from the front",
        BUCKETS.replace("reversed(range(len(nbytes)))", "range(len(nbytes))"),
        "end of the model",
    ),
    cell(
        "2.6",
        "too full",
        BUCKETS.replace("if full + nbytes[number] > most:", "if full >= most:"),
        "fuller than allowed",
    ),
    cell(
        "2.6",
        "each by itself",
        "return [[number] for number in reversed(range(len(nbytes)))]",
        "hold more",
    ),
    cell("2.6", "below, not up to", BUCKETS.replace("> most:", ">= most:"), "hold more"),
    cell(
        "2.7", "sums", OVERLAP.replace("    flat /= dist.get_world_size()\n", ""), "This is the sum"
    ),
    cell("2.7", "after backward", _AFTERWARDS, "while backward goes on"),
    cell("2.7", "each parameter by itself", _ONE_BY_ONE, "into one tensor first"),
    cell("2.7", "hooks stay", OVERLAP.replace("    handle.remove()\n", "    pass\n"), "hook"),
    cell(
        "2.7",
        "never put back",
        OVERLAP.replace("        grad.copy_(part.view_as(grad))\n", "        pass\n"),
        "never came back",
    ),
    cell("2.7", "backward alone", "loss.backward()", "never came back"),
]

_ZB = """\
out = []
for rank in range(stages):
    ahead = back = 0
    steps = []
    while back < micros:
        if ahead < micros and ahead - back < stages - rank:
            steps.append(["F", ahead]); ahead += 1
        else:
            steps.append(["B", back]); back += 1
    out.append(steps)
return out
"""
_REVERSED = GPIPE.replace("in range(micros)]\nreturn", "in reversed(range(micros))]\nreturn")
_CLOSED = "return max(1, -(-(stages - 1) * (100 - percent) // percent))"
_PREPOSTED = """\
rank, requests, kept = dist.get_rank(), [], []
for kind, micro in steps:
    x = None
    source = rank - 1 if kind == "F" else rank + 1
    if 0 <= source < dist.get_world_size():
        x = torch.zeros(stage.shape, dtype=stage.dtype)
        dist.irecv(x, source).wait()
    y = (stage.forward if kind == "F" else stage.backward)(micro, x)
    if y is not None:
        kept.append(y)
        requests.append(dist.isend(y, 2 * rank - source))
[request.wait() for request in requests]
"""
_EXCHANGED = """\
last = dist.get_world_size() - 1
if gradient is not None:
    other = last - dist.get_rank()
    theirs, mine = torch.empty_like(gradient), gradient.clone()
    request = dist.isend(mine, other)
    dist.recv(theirs, other)
    request.wait()
    gradient += theirs
"""
_MEAN_BY_AVG = OVERLAP.replace(
    "dist.all_reduce(flat, async_op=True)",
    "dist.all_reduce(flat, op=dist.ReduceOp.AVG, async_op=True)",
).replace("    flat /= dist.get_world_size()\n", "")

RIGHT: list[Cell] = [
    cell("2.1", "the last micro-batch goes back first", _REVERSED),
    cell("2.2", "as many as it may hold", _ZB),
    cell("2.3", "in closed form", _CLOSED),
    cell("2.4", "with irecv", _PREPOSTED),
    cell("2.5", "an exchange of two messages", _EXCHANGED),
    cell(
        "2.5",
        "a group that its members make alone, and say so",
        "ends = [0, dist.get_world_size() - 1]\n"
        "if gradient is not None:\n"
        "    group = dist.new_group(ends, use_local_synchronization=True)\n"
        "    dist.all_reduce(gradient, group=group)",
    ),
    cell(
        "2.6",
        "in the order of forward inside a bucket",
        BUCKETS.replace("return buckets", "return [sorted(bucket) for bucket in buckets]"),
    ),
    cell("2.7", "lets the all-reduce divide", _MEAN_BY_AVG),
]

_FULL = "with any parameter that is more than most: the first bucket begins"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("2.4", "reversed(list(requests))", "in which order one waits does not matter"),
    ("2.6", "side: full = most", _FULL),
    ("2.6", "full = most + ", _FULL),
    ("2.7", "the other way round", "hooks, buckets and what is in them come in any order"),
    ("2.7", "strict=False", "there are as many parts as gradients"),
)
