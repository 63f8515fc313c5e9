# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4B, notebook 1: messages on a mesh
#
# **4 points, about 90 minutes.** You need Python; nothing from other labs. After this notebook you can
#
# - connect chips to a mesh and find the way that a message takes on it;
# - tell whether messages on given routes can block each other for ever;
# - say to the nanosecond when every message arrives, also where they get in each other's way;
# - beat the routing that most chips use, on traffic that does not suit it.
#
# Training a large model keeps thousands of chips busy, and between them lies a network. When a
# step takes longer than the arithmetic says, messages stand in a queue somewhere. Here you see where.
#
# ![Two meshes of 16 chips with the same 48 messages at the same moment: with XY routing queues of four messages glow red and the last arrives after 294,965 ns, with half of the messages on YX routes it takes 177,779 ns](images/traffic.svg)
#
# Both meshes carry the same messages. Only the routes differ, and the mesh on the right-hand side is
# done in 60 % of the time.

# %%
from collections import Counter
from heapq import heappop, heappush
from itertools import pairwise

from lab_utils.instruments.network.mesh import (
    LINK,
    MIB,
    Link,
    Message,
    all_to_all,
    hot_spot,
    ring,
    traffic_film,
    transpose,
)
from lab_utils.labs.lab4b import METRICS, check, public_cases

# %% [markdown]
# ## A mesh
#
# Chips (**nodes**) stand in rows. Each is connected with its neighbours to the left and right, above
# and below. Nodes are numbered row by row, beginning with 0: the node in column x and row y has number
# `y * width + x`. Row 0 is on top.
#
# ![A mesh of 4 x 3 nodes, numbered row by row from 0 to 11, with two routes on it](images/mesh.svg)
#
# A **link** goes one way. Between two neighbours there are two of them, `(a, b)` and `(b, a)`, and
# messages on the one do not disturb messages on the other.
#
# ## Task 1.1: the links of a mesh (½ point, about 8 lines)
#
# Return all links of a mesh of `width` x `height` nodes as pairs `(from, to)`, in any order, each
# once. A mesh ends at its edges: nothing goes from the last node of a row back to the first. (With
# such links it is called a *torus*.) A mesh may have a single row or column.
#
# <details><summary>Help: how do I get each pair just once?</summary>
# Look from every node to the right and down only, and add both directions there.
# </details>


# %% solution=t11
def connect(width: int, height: int) -> list[tuple[int, int]]:
    """All links of a mesh, each direction by itself."""
    ### BEGIN SOLUTION
    links = []
    for y in range(height):
        for x in range(width):
            node = y * width + x
            if x + 1 < width:
                links += [(node, node + 1), (node + 1, node)]
            if y + 1 < height:
                links += [(node, node + width), (node + width, node)]
    return links
    ### END SOLUTION


# %% test=t11_check points=0.5 check=1.1
check("1.1", connect)

# %% [markdown]
# ## Task 1.2: x first, then y (¾ point, about 10 lines)
#
# From one node to another there are many ways. A chip wants a rule without thinking: **XY routing**
# goes along the row until the column is right, and then along the column. In the picture above, from
# 1 to 11: `1 2 3 7 11`.
#
# Return the route as a list of node numbers, **both ends included**. Where source and destination are
# the same node, the route is that node alone.
#
# *Before you write:* which way does a message take from 14 to 5 on a 4 x 4 mesh? And back?
#
# <details><summary>Help: from a number to x and y?</summary>
# x is the rest of a division, src % width; y is the whole part, src // width.
# </details>
#
# <details><summary>Help: both directions without four loops?</summary>
# A step is +1 if the aim is to the right and -1 if it is to the left:
# step = 1 if to_x > x else -1. Then walk while x != to_x.
# </details>


# %% solution=t12
def route(src: int, dst: int, width: int, height: int) -> list[int]:
    """The nodes on the way from ``src`` to ``dst``: along x first, then along y."""
    ### BEGIN SOLUTION
    x, y = src % width, src // width
    to_x, to_y = dst % width, dst // width
    nodes = [src]
    while x != to_x:
        x += 1 if to_x > x else -1
        nodes.append(y * width + x)
    while y != to_y:
        y += 1 if to_y > y else -1
        nodes.append(y * width + x)
    return nodes
    ### END SOLUTION


# %% test=t12_check points=0.75 check=1.2
check("1.2", route)

# %% [markdown]
# Now **YX routing**, along the column first, needs no new function. The way *back* by XY, walked
# backwards, is just that. Convince yourself:


# %%
def yx_route(src, dst, width, height):
    """Along y first, then along x."""
    return route(dst, src, width, height)[::-1]


print("XY from 14 to 5:", route(14, 5, 4, 4))
print("YX from 14 to 5:", yx_route(14, 5, 4, 4))

# %% [markdown]
# <details><summary>For those who go on to ASTRA-sim: the same two functions in C++ (not graded)</summary>
#
# ASTRA-sim is the simulator behind many papers on training networks, and it is written in C++. A
# topology is a class with two duties: its constructor calls <code>connect</code>, and
# <code>route</code> returns the way. There <code>connect</code> makes both directions in one call, and
# it stops the program if two nodes are connected twice. So look right and down only.
#
# <pre>
# Mesh2D::Mesh2D(int width, int height, Bandwidth bandwidth, Latency latency)
#     : BasicTopology(width * height, width * height, bandwidth, latency),
#       width(width) {
#   for (int y = 0; y &lt; height; ++y) {
#     for (int x = 0; x &lt; width; ++x) {
#       const int node = y * width + x;
#       if (x + 1 &lt; width) connect(node, node + 1, bandwidth, latency);
#       if (y + 1 &lt; height) connect(node, node + width, bandwidth, latency);
#     }
#   }
# }
#
# Route Mesh2D::route(DeviceId src, DeviceId dst) const noexcept {
#   Route way;
#   int node = src;
#   way.push_back(devices[node]);
#   while (node % width != dst % width) {
#     node += dst % width &gt; node % width ? 1 : -1;
#     way.push_back(devices[node]);
#   }
#   while (node != dst) {
#     node += dst &gt; node ? width : -width;
#     way.push_back(devices[node]);
#   }
#   return way;
# }
# </pre>
# </details>
#
# ## Who waits for whom
#
# A node has little room. Think of a message that *holds* the link it came on until the next link
# of its route takes it. Four messages that all turn the same way around a square can then be stuck
# for ever: each holds what the next one wants. This is a **deadlock**.
#
# ![Four links around a square, each held by a message that waits for the next](images/circle.svg)
#
# Draw an arrow from one link to another if some message goes from the first **straight on to** the
# second. If these arrows nowhere run in a circle, nobody can ever be stuck, whatever the timing. If
# they do, it is a matter of time. (This is a theorem of Dally and Seitz, 1987.)
#
# ## Task 1.3: who waits for whom (¾ point, about 15 lines)
#
# Given routes of messages (on any network, not only on a mesh), return **a circle of links**: a list
# of pairs in which each link waits for the next one, and the last for the first. There may be several
# circles; any will do. Return an empty list if there is none.
#
# `[[0, 1, 4], [1, 4, 3], [4, 3, 0], [3, 0, 1]]` are the four messages of the picture. A right answer is
# `[(0, 1), (1, 4), (4, 3), (3, 0)]`. A route of two nodes uses a link, but waits for no other.
#
# <details><summary>Help: how do I get from routes to arrows?</summary>
# pairwise(route) gives the links of a route, and pairwise of those gives who waits for whom. Keep a
# dict: for each link the set of links that some message on it waits for.
# </details>
#
# <details><summary>Help: how do I find a circle?</summary>
# Take away links that wait for nobody (or only for links that are gone), again and again. If nothing
# is left there is no circle. Else start at any link that is left and follow a wait to another one
# that is left, until you meet a link for the second time: what lies between is a circle.
# </details>


# %% solution=t13
def waiting_cycle(routes: list[list[int]]) -> list[tuple[int, int]]:
    """Links in a circle, each waiting for the next one; empty if there is none."""
    ### BEGIN SOLUTION
    waits = {}
    for nodes in routes:
        for held, wanted in pairwise(pairwise(nodes)):
            waits.setdefault(held, set()).add(wanted)
    while True:
        free = [link for link in waits if not waits[link] & waits.keys()]
        if not free:
            break
        for link in free:
            del waits[link]
    if not waits:
        return []
    way = [next(iter(waits))]
    while True:
        link = next(other for other in waits[way[-1]] if other in waits)
        if link in way:
            return way[way.index(link) :]
        way.append(link)
    ### END SOLUTION


# %% test=t13_check points=0.75 check=1.3
check("1.3", waiting_cycle)

# %% [markdown]
# *Predict:* all nodes send to all others. Can they get stuck with XY? With YX? What if every second
# message takes the one and the others take the other?

# %%
everybody = all_to_all(16)
by_xy = [route(a, b, 4, 4) for a, b in everybody]
by_yx = [yx_route(a, b, 4, 4) for a, b in everybody]
mixed = [(by_xy, by_yx)[n % 2][n] for n in range(len(everybody))]
for title, ways in (("XY", by_xy), ("YX", by_yx), ("mixed", mixed)):
    print(f"{title:6}", waiting_cycle(ways) or "nobody can be stuck")

# %% [markdown]
# A message that goes x first turns from x to y and never back, so no circle can close. Mixed with
# YX, all turns are there. That is why chips stay with one of them, though it may be slow.
#
# ## Time
#
# Now a clock, in whole nanoseconds. `Link(latency=500, bandwidth=50)` has a latency of 500 ns and
# carries 50 GB/s, where a GB has 2³⁰ bytes. For a message of `nbytes` bytes
#
# - the link is **busy** for `link.busy(nbytes)`: no other message can start on it meanwhile;
# - the message is at the other end `link.hop(nbytes)` after it started: the latency comes on top.
#
# Networks here **store and forward**: all of a message must be at a node before the next link takes
# it. A link serves **first come, first served**. Of two messages that come to it in the same nanosecond
# the one with the lower number (its place in the list) goes first. Nodes have room for all who wait.

# %%
print("1 MiB keeps the link busy for", LINK.busy(MIB), "ns, and arrives after", LINK.hop(MIB), "ns")

# %% [markdown]
# *Predict:* a message of 1 MiB from 1 to 7 on a 4 x 4 mesh, all alone: when does it arrive? And a
# second one, of the same size, over the same links?
#
# ## Task 1.4: messages on a clock (1 point, about 15 lines)
#
# `messages` is a list of `Message(start, nbytes, route)`: at `start` (ns) the message is at the first
# node of its route. Return for each message, in the order of the list, the time at which it is at
# the last node. Who is there already arrives at `start`.
#
# <details><summary>Help: in which order do I send messages?</summary>
# In the order of time, hop by hop. Keep all that is going to happen in a heap: (time, number of the
# message, place on its route). Take the earliest with heappop. This message is now at a node: if it
# is the last one, note the time; else send it over its next link, and put its arrival there back with
# heappush.
# </details>
#
# <details><summary>Help: when does a link take a message?</summary>
# Now, or when the link is free again, whichever is later: began = max(now, free[link]). Then it is
# free at began + busy, and the message arrives at began + hop.
# </details>


# %% solution=t14
def arrivals(messages: list[Message], link: Link) -> list[int]:
    """When each message is at the end of its route, in ns."""
    ### BEGIN SOLUTION
    free = Counter()
    ends = [0] * len(messages)
    events = []
    for number, message in enumerate(messages):
        heappush(events, (message.start, number, 0))
    while events:
        now, number, place = heappop(events)
        message = messages[number]
        if place == len(message.route) - 1:
            ends[number] = now
            continue
        way = message.route[place], message.route[place + 1]
        began = max(now, free[way])
        free[way] = began + link.busy(message.nbytes)
        heappush(events, (began + link.hop(message.nbytes), number, place + 1))
    return ends
    ### END SOLUTION


# %% test=t14_check points=1 check=1.4
check("1.4", arrivals)

# %% [markdown]
# > **A story about testing.** A well-known course has this task too, in C++, and tests it with four
# > messages on a 4 x 4 mesh: 1 to 7, 5 to 14, 11 to 5, 15 to 4. They arrive after 60,093, 60,093,
# > 60,093 and 100,155 ns, and yours do too. But count: no two of these four routes share a link. A
# > program that knows nothing of queues passes this test.

# %%
four = [(1, 7), (5, 14), (11, 5), (15, 4)]
routes = [route(a, b, 4, 4) for a, b in four]
print("arrivals:", arrivals([Message(0, MIB, way) for way in routes], LINK))
load = Counter(link for way in routes for link in pairwise(way))
print("messages on the fullest link:", max(load.values()))

# %% [markdown]
# ## Watch it
#
# **Transpose**: node (x, y) sends to (y, x), as when a matrix that is spread over the chips is
# transposed. Each node sends four chunks of 1 MiB.
#
# *Predict before you run:* which links glow, and where is the longest queue? Then click a
# link and read who waited for it, and how long. (The list beside the slider does the same.)

# %%
pairs = [pair for pair in transpose(4) for chunk in range(4)]


def messages_on(ways):
    """A message of 1 MiB for each route, all ready at 0 ns."""
    return [Message(0, MIB, way) for way in ways]


runs = {
    "XY": messages_on([route(a, b, 4, 4) for a, b in pairs]),
    "YX": messages_on([yx_route(a, b, 4, 4) for a, b in pairs]),
}
for title, run in runs.items():
    print(title, f"is done after {max(arrivals(run, LINK)):,} ns")
traffic_film(4, 4, runs)

# %% [markdown]
# ## Task 1.5: better than XY (½ point, about 10 lines)
#
# Choose routes yourself. `pairs` are messages `(from, to)`; a pair may be there several times, and
# each of its messages may go another way. Each is of 1 MiB, is ready at 0 ns, and has its place in the
# list as its number; links are `LINK`. Return a route for each pair, so that
#
# - every route goes from neighbour to neighbour, from its source to its destination (it need not be
#   the shortest);
# - nobody can be stuck: all routes together have no circle of waiting;
# - the last message arrives **earlier than with XY, and earlier than with YX**.
#
# It is tried on transposes, alone and with other messages across them, on nodes that each send to one
# other by chance, and on hot spots (all send to one, or one to all). On all of these a simple rule is
# a good deal faster than XY. You may use your functions of the tasks above.
#
# <details><summary>Help: where do I start?</summary>
# Go through the messages and count what already goes over each link. For the next message look at its
# XY and its YX route: which one has the less full fullest link? Take that.
# </details>
#
# <details><summary>Help: and the circles?</summary>
# Ask waiting_cycle for the routes so far with the new one added. If there is a circle, take the other
# route. (Or think: which turns may all messages take without ever closing a circle? Glass and Ni found
# in 1992 that forbidding two of the eight turns is enough. Try which two suit the traffic best.)
# </details>


# %% solution=t15
def my_routes(pairs: list[tuple[int, int]], width: int, height: int) -> list[list[int]]:
    """A route for each pair: without a circle, and done before XY and YX are."""
    ### BEGIN SOLUTION
    load, chosen = Counter(), []
    for src, dst in pairs:
        along_x = route(src, dst, width, height)
        along_y = route(dst, src, width, height)[::-1]
        ways = sorted((along_x, along_y), key=lambda way: max(load[at] for at in pairwise(way)))
        way = next((way for way in ways if not waiting_cycle([*chosen, way])), along_x)
        chosen.append(way)
        load.update(pairwise(way))
    return chosen
    ### END SOLUTION


# %% test=t15_check points=0.5 check=1.5
check("1.5", my_routes)

# %% [markdown]
# Three ways, one beside the other:

# %%
runs["mine"] = messages_on(my_routes(pairs, 4, 4))
traffic_film(4, 4, runs)

# %% [markdown]
# *Predict:* can you beat XY when all send to all? And in a ring, where each node sends to the next
# number (so the last node of a row sends far back)? Try it, and change the mesh.

# %%
for title, some in (
    ("all to all", all_to_all(16)),
    ("ring", ring(16) * 4),
    ("hot spot", hot_spot(16, 5) * 4),
):
    ways = {
        "XY": [route(a, b, 4, 4) for a, b in some],
        "YX": [yx_route(a, b, 4, 4) for a, b in some],
        "mine": my_routes(some, 4, 4),
    }
    for name, way in ways.items():
        stuck = "  (can be stuck)" if waiting_cycle(way) else ""
        print(f"{title:10}  {name:4}  {max(arrivals(messages_on(way), LINK)):>9,} ns{stuck}")

# %% [markdown]
# All to all is the traffic that XY was made for: every link is about equally full already. (Where
# yours can be stuck, both routes of some message close a circle; task 1.5 has no such traffic.) In the
# ring no route helps, since the message from 15 to 0 has six links to go, whichever way it takes.
# There another *order* helps: a snake goes along the first row, back along the second, and so on.

# %%
snake = [y * 4 + (x if y % 2 == 0 else 3 - x) for y in range(4) for x in range(4)]
along = [(snake[a], snake[b]) for a, b in ring(16)] * 4
times = arrivals(messages_on([route(a, b, 4, 4) for a, b in along]), LINK)
print("a ring along the snake:", f"{max(times):,} ns")

# %% [markdown]
# This is how a ring all-reduce (Lab 3B) is laid on a mesh of chips. Its last step still has three
# links. Can you find an order in which *every* step is one link? On a mesh of 3 x 3, too?
#
# ## Task 1.6: the simulator's log (½ point, about 12 lines)
#
# In notebook 2 the network is a part of a whole training step. ASTRA-sim prints what came of such a
# step, a dozen lines for each chip (it says `sys[0]`, `sys[1]`, …), and the chips' lines come in any
# order:

# %%
print(public_cases("1.6")[1].given["text"])

# %% [markdown]
# Return eight numbers of **sys[0]** alone, by the names of `METRICS`:
#
# | name | what the line says | unit |
# |---|---|---|
# | `wall_time` | Wall time | cycles |
# | `gpu_time` | GPU time | cycles |
# | `comm_time` | Comm time | cycles |
# | `per_comp_bound` | Compute bound percentage | percent, as it stands there |
# | `comp_util` | Average compute utilization | percent |
# | `mem_util` | Average memory utilization | percent |
# | `op_intensity` | Average operation intensity | operations a byte |
# | `peak_memory_usage` | peak memory usage | **bytes** |
#
# All are numbers, not text. The log tells memory in B, KB, MB, GB or TB, each 1024 times the one before,
# with two digits after the point: multiply, and do not round.
#
# <details><summary>Help: how do I get the number out of a line?</summary>
# line.split(": ")[-1] is what stands behind the colon, as in "97.3%" or "16.35 GB". strip("%") takes
# the % away, and split() cuts number and unit apart.
# </details>


# %% solution=t16
def read_log(text: str) -> dict[str, float]:
    """The eight metrics of sys[0]."""
    ### BEGIN SOLUTION
    words = {
        "Wall time": "wall_time",
        "GPU time": "gpu_time",
        "Comm time": "comm_time",
        "Compute bound percentage": "per_comp_bound",
        "Average compute utilization": "comp_util",
        "Average memory utilization": "mem_util",
        "Average operation intensity": "op_intensity",
        "peak memory usage": "peak_memory_usage",
    }
    found = {}
    for line in text.splitlines():
        for told, name in words.items():
            if "sys[0]" not in line or f"{told}: " not in line:
                continue
            number, *unit = line.split(": ")[-1].strip("%").split()
            scale = 1024 ** ["B", "KB", "MB", "GB", "TB"].index(unit[0]) if unit else 1
            found[name] = float(number) * scale
    return found
    ### END SOLUTION


# %% test=t16_check points=0.5 check=1.6
check("1.6", read_log)

# %%
for name, value in read_log(public_cases("1.6")[0].given["text"]).items():
    print(f"{name:18} {value:>18,.6g}")

# %% [markdown]
# The three times and the peak are those of a real run: a step of a 16-layer Llama on two DGX boxes
# (the percentages and the intensity are made up). Wall time is less than GPU and communication time
# together: some messages travel while the chips compute. What is left over, the *exposed*
# communication, is what a better network could save.
#
# ## What you built
#
# Meshes and tori with XY-like routing are the inside of most AI chips (Cerebras' wafer, Tenstorrent,
# Groq), and in three dimensions Google's TPU pods. The circle test is how every such network is shown to
# be free of deadlocks, and forbidding two turns is the *turn model* (Glass and Ni, 1992). Your clock is the
# congestion-aware model of ASTRA-sim, to the nanosecond. Real chips mostly send on the first bytes of a
# message before the last have arrived (*cut-through*), so that hops cost latency alone; queues are as
# long as yours.
#
# In notebook 2 such links carry a whole training job.
