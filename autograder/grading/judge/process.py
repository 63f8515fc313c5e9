"""The process that judges: it reads what sandboxes answered, and never runs student code.

``python -m autograder.grading.judge.process`` takes requests, one JSON object on each line, and
answers each with a line. It is not trusted to survive a malicious answer: whoever asks
keeps a deadline, and starts another one.
"""

from __future__ import annotations

import builtins
import importlib
import json
import re
import resource
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import lab_utils
from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox import inside
from autograder.grading.sandbox.inside.usage import mapped
from lab_utils.kit.ask import OWN_LINE, UNWRITTEN, attempt
from lab_utils.kit.errors import LabError
from lab_utils.kit.judge import outcome
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case, Finding, cut

_MEMORY = 3_000_000_000  # bytes of address space, beyond that of the libraries
_FILE = 64_000_000
_FULL = 1_000_000_000  # bytes beyond that: what one answer left behind is not kept for the next
_LONGEST = 300  # characters of what a student's code says
_MOST = 20  # findings on one case
_LONG_WORD = re.compile(r"\S{80,}")  # nobody's name or number; it could hold anything
_NODE = "‹node›"
_SUFFIX = re.compile(r"(_recomp|_\d+)$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_RUN = re.compile(r"\w+")
_NUMBER = re.compile(r"\d{1,15}|\d{1,3}e\d{0,3}")
_UNUSUAL = re.compile(r"[^\x20-\x7e…×–‹›]")  # characters that no message of ours has
_EXCEPTIONS = {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_OWN_WORDS = "an error in words that are not told here: it is a hidden case"
_UNREADABLE = Finding(
    "an answer that is none of this task's", "an answer of the form asked for", "See the task."
)


class Judge:
    """The cases of one lab, hidden ones too."""

    def __init__(self, lab: str) -> None:
        self._lab, self._hidden = lab_called(lab), hidden_of(lab)
        self._judge = importlib.import_module(f"{self._lab.home}.judge").JUDGE

    def judge(
        self, task: str, case: int, reply: Mapping[str, Any], is_known: bool = False
    ) -> dict[str, Any]:
        """What is wrong with a reply, in words that may be shown to the student.

        ``is_known``: it is an error that came on a public graph too, word for word.
        ``forged``: honest code of the sandbox does not give such an answer.
        """
        subject = self._cases(task)[case]
        is_hidden = case >= len(self._lab.public_cases(task))
        forged = False
        try:
            findings = outcome(self._lab.task_called(task), self._judge[task], subject, reply)
        except (Exception, RecursionError) as error:
            if _is_out_of_memory(error):
                raise
            findings, forged = (_UNREADABLE,), True
        if is_hidden and not is_known:
            told = [self._told_of_hidden(task, one, "error" in reply) for one in findings[:_MOST]]
        else:
            told = [one.cut(_LONGEST) for one in findings[:_MOST]]
        return {"findings": [asdict(one) for one in told], "forged": forged}

    def _told_of_hidden(self, task: str, finding: Finding, is_error: bool) -> Finding:
        """Nothing that student code chose, but for what everybody knows."""
        yours = finding.yours
        if is_error and yours != UNWRITTEN:  # its text may be the graph itself
            kind = yours.partition(":")[0]
            yours = kind if kind in _EXCEPTIONS else _OWN_WORDS
        look = finding.look  # a line of the student's own: the grader has seen that it is one
        look = self._veiled(task, look) if OWN_LINE.match(look) else self._known_words(task, look)
        wanted = self._known_words(task, finding.wanted)
        return Finding(yours if is_error else self._known_words(task, yours), wanted, look)

    def name(self, task: str, case: int) -> dict[str, Any]:
        """What a case is called, and whether it is hidden."""
        name, public = self._cases(task)[case].name, len(self._lab.public_cases(task))
        if case < public:
            return {"name": name, "hidden": False}
        return {"name": f"hidden: {self._veiled(task, name)}", "hidden": True}

    def chart(self, task: str, reply: Mapping[str, Any]) -> dict[str, Any] | None:
        """What feedback draws of an answer on the first public case, if anything."""
        try:
            chart = self._hidden.chart(task, self._cases(task)[0], reply["answer"])
        except Exception:  # what cannot be used cannot be drawn
            return None
        return asdict(chart) if chart else None

    def lend(self, task: str, case: int, name: str, arguments: Any) -> Any:
        """The answer of a right version of ``name``; None where there is none."""
        try:
            return self._hidden.lend(name, self._cases(task)[case], arguments)
        except MemoryError:
            raise
        except Exception:  # arguments that are none
            return None

    def hand_in(self, task: str, file: str, content: str) -> dict[str, Any]:
        """The reply that a handed-in file gives, as if the notebooks had made it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(file).name
            path.write_text(content, encoding="utf-8", errors="replace")
            given = self._cases(task)[0].given
            reply = attempt(self._lab.task_called(task), self._lab.ask(task), path, given)
            if reply.get("kind") == MemoryError.__name__:
                raise MemoryError
            return reply

    def difference(self, file: str, made: Any, handed_in: Any) -> str:
        """How two files differ, in words; empty if they do not."""
        try:
            (kind,) = (kind for kind in self._lab.files if kind.name == file)
            return kind.difference(made["text"].encode(), handed_in["text"].encode())
        except (Exception, RecursionError) as error:
            if _is_out_of_memory(error):
                raise
            words = str(error) if isinstance(error, LabError) else "one of them cannot be read"
            return cut(words.partition("\n")[0], _LONGEST)

    @cache  # noqa: B019  (one judge in a process)
    def _cases(self, task: str) -> list[Case]:
        return self._hidden.graded_cases(task)

    def _veiled(self, task: str, text: str) -> str:
        """``text`` without the names of nodes that are in hidden graphs only, and not too long."""
        secret = self._secrets(task)

        def veil(found: re.Match[str]) -> str:
            return found[0] if secret.isdisjoint(_stems(found[0])) else _NODE

        return _LONG_WORD.sub("‹…›", _WORD.sub(veil, cut(text, _LONGEST)))

    def _known_words(self, task: str, text: str) -> str:
        """``text`` with words of ours and names of public graphs alone."""
        known = self._known(task)

        def veil(found: re.Match[str]) -> str:
            is_known = _NUMBER.fullmatch(found[0]) or not known.isdisjoint(_stems(found[0]))
            return found[0] if is_known else _NODE

        plain = _UNUSUAL.sub("", _RUN.sub(veil, cut(text, _LONGEST)))
        return _LONG_WORD.sub("‹…›", plain)

    @cache  # noqa: B019
    def _known(self, task: str) -> frozenset[str]:
        ours = _words_in(
            lab_utils,
            inside,
            sys.modules[type(self._hidden).__module__],
            importlib.import_module(f"autograder.labs.{self._lab.id}.hidden"),
        )
        return (self._words(task)[0] | ours) - self._secrets(task)

    @cache  # noqa: B019
    def _words(self, task: str) -> tuple[frozenset[str], frozenset[str]]:
        """The words of the public cases, and of the hidden ones."""
        public = len(self._lab.public_cases(task))
        shown, hidden = (
            frozenset(_WORD.findall(json.dumps([dict(case.given) for case in cases])))
            for cases in (self._cases(task)[:public], self._cases(task)[public:])
        )
        return shown, hidden

    @cache  # noqa: B019
    def _secrets(self, task: str) -> frozenset[str]:
        shown, hidden = self._words(task)
        return frozenset(name for name in hidden - shown if re.search(r"[\d_]", name))


@cache
def _words_in(*modules: ModuleType) -> frozenset[str]:
    """All words in the code around ``modules``; messages are among them."""
    folders = (Path(module.__file__ or "").parent for module in modules)
    texts = (path.read_text(encoding="utf-8") for f in folders for path in f.rglob("*.py"))
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether this process had no memory left, which may be another answer's doing."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def _stems(name: str) -> Iterator[str]:
    """``name``, and what it was before clones were told apart: a_1_recomp, a_1, a."""
    yield name
    while match := _SUFFIX.search(name):
        name = name[: match.start()]
        yield name


def main() -> None:
    """Answer requests until there are no more."""
    for kind, most in ((resource.RLIMIT_AS, mapped() + _MEMORY), (resource.RLIMIT_FSIZE, _FILE)):
        resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    full = mapped() + _FULL
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever prints must not come between two answers
    judge_of = cache(Judge)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        judge = judge_of(request.pop("lab"))
        answer = getattr(judge, request.pop("do"))(**request)
        print(json.dumps({"answer": answer}), file=answers, flush=True)
        if mapped() > full:
            break  # whoever asks next starts another one


if __name__ == "__main__":
    main()
