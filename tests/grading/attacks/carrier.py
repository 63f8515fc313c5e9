"""A hand-in that carries what it is given in a hidden case out through every channel it knows.

What is carried is a *canary*: a number that a test plants in each hidden case, where whoever
walks the callers' frames finds it. Each call of an asked function takes the next channel.
"""

from __future__ import annotations

from collections.abc import Iterable

CANARY = "canary"
"""The key that a canary has in a case."""

CELL = '''
import builtins, ctypes, gc, logging, os, signal, sys, types, warnings

_calls, _seen = [0], []


def _planted():
    """The canary of the case that is asked about; None in a public one."""
    frame = sys._getframe(1)
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if isinstance(value, dict) and "canary" in value:
                return value["canary"]
        frame = frame.f_back
    for value in gc.get_objects():
        if isinstance(value, dict) and type(value.get("canary")) is str:
            return value["canary"]
    return None


def _prints(text):
    print(text); print(text, file=sys.stderr); os.write(1, text.encode())
    os.system(f"echo {{text}}; touch {{text}}; mkdir -p {{text}}.d; echo {{text}} > my_work.py")
    warnings.warn(text); logging.error(text); sys.__stdout__ and sys.__stdout__.write(text)
    from IPython.display import display
    display(text, display_id=text); display({{"text/plain": text}}, raw=True)
    sys.stdout.write(text); sys.stdout.flush()
    raise ValueError


def _words(text):
    raise ValueError(text)


def _class(text):
    raise type("E" + text, (Exception,), {{"__doc__": text, "__module__": text}})(text)


def _builtin_class(text):
    errors = [e for e in vars(builtins).values() if isinstance(e, type) and issubclass(e, Exception)
              and e is not NotImplementedError]
    for kind in errors[int(text) % len(errors):]:
        raise kind("x")


def _line(text):
    exec(compile("\\n" * (int(text) % 9973) + "1 / 0", text + ".py", "exec"), {{}})


def _function_name(text):
    space = {{}}
    exec(f"def f{{text}}():\\n    raise KeyError('{{text}}')", space)
    space["f" + text]()


def _cause(text):
    error = ValueError(text); error.add_note(text)
    raise RuntimeError(text) from error


def _answer(text):
    return text


def _number(text):
    return int(text)


def _table(text):
    return {{text: [int(text), text, float(text)]}}


def _list(text):
    return [int(text)] * (int(text) % 7 + 1)


def _long(text):
    return [0] * (int(text) % 997)


def _nested(text):
    value = text
    for _ in range(int(text) % 50):
        value = [value]
    return value


def _object(text):
    class Odd(dict):
        def __repr__(self): return text
        __str__ = __repr__
    return Odd({{text: text}})


def _odd_floats(text):
    return [float("nan"), float("inf"), text]


def _exits(text):
    os._exit(1 + int(text) % 200)


def _leaves(text):
    raise SystemExit(text)


def _dies(text):
    quiet = (signal.SIGKILL, signal.SIGABRT, signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR2)
    os.kill(os.getpid(), quiet[int(text) % len(quiet)])


def _forks(text):
    for _ in range(int(text) % 40):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    raise ValueError


def _keeps(text):
    """For code that is asked later, or shown."""
    _seen.append(text); os.environ["SEEN"] = text; sys.modules["seen"] = types.ModuleType(text)
    open("/tmp/seen", "w").write(text); open("llm_mlp.dot", "w").write(text)
    raise ValueError


def _forges_reply(text):
    import inside.answers
    inside.answers.attempt = lambda *_: dict.fromkeys(("error", "look", "kind", "wanted"), text)
    raise ValueError


def _chooses_our_words(text):
    """Words of our own judges, as they are published: which of them is told would be chosen."""
    words = ["each node after all that it reads", "x is gone", "nothing for x", "an entry for x",
             "no new node", "There is no such file.", "a clone of x", "x draws new numbers"]
    chosen = words[int(text) % len(words)]
    import inside.answers
    inside.answers.attempt = lambda *_: {{"answer": {{
        "problem": chosen, "node": chosen, "nodes": [chosen], "file": chosen, "text": chosen,
        "kind": chosen, "bound": chosen, "sources": [chosen], "path": [chosen], chosen: chosen}}}}
    raise ValueError


def _forges_frame(text):
    for thing in gc.get_objects():
        if type(thing).__name__ == "Channel":
            shown = {{"output_type": "stream", "name": "stdout", "text": text}}
            for message in ({{"output": shown}},
                            {{"judge": {{"lab": text, "task": text, "reply": {{"error": text}}}}}},
                            {{"borrow": text, "arguments": text}}, {{"reply": {{"error": text}}}}):
                thing.send(message)
    raise ValueError


def _renames(text):
    raise type("V", (ValueError,), {{"__name__": text, "__qualname__": text}})(text)


def _recurses(text):
    sys.setrecursionlimit(2000 + int(text) % 1000)
    def down(n): return down(n + 1)
    down(0)


CHANNELS = [
    _words, _class, _builtin_class, _line, _function_name, _cause, _answer, _number, _table, _list,
    _long, _nested, _object, _odd_floats, _prints, _leaves, _forks, _keeps, _renames, _recurses,
    _chooses_our_words, _forges_reply, _exits, _dies, _forges_frame,
]


def _shaped(arguments, text):
    """An answer with names of ours, where one is given something that can be grown."""
    for value in arguments:
        graph = getattr(value, "graph", value)
        if hasattr(graph, "placeholder") and hasattr(graph, "nodes"):
            first = next(iter(graph.nodes))
            with graph.inserting_before(first):
                node = graph.placeholder("n" + text)
            return [[node], {{node: int(text)}}, node, graph, None][_calls[0] % 5]
    return None


def _carry(*arguments, **named):
    if _seen and _planted() is None:
        raise ValueError(_seen[0])
    text = _planted()
    if text is None:
        return None
    _calls[0] += 1
    if _calls[0] % 3 == 0:
        made = _shaped(arguments, text)
        if made is not None:
            return made
    return CHANNELS[(_calls[0] + START) % len(CHANNELS)](text)


START = {start}
for _name in {names!r}:
    globals()[_name] = _carry
'''


CHANNELS = CELL.partition("CHANNELS = [")[2].partition("]")[0].split(",")[:-1]
"""What they are called."""


def cell(names: Iterable[str], start: int = 0) -> str:
    """The carrier's cell; ``names`` are what its tasks ask for, ``start`` is the first channel."""
    return CELL.format(names=list(names), start=start)
