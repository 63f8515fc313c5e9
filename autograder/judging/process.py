"""The process that judges: it reads what sandboxes answered, and never runs student code.

``python -m autograder.judging.process`` takes requests, one JSON object on each line, and
answers each with a line. It is not trusted to survive a malicious answer: whoever asks
keeps a deadline, and starts another one.
"""

from __future__ import annotations

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
from typing import Any

from autograder.executor.inside.usage import mapped
from lab_utils.checks import Case, Finding, attempt, outcome
from lab_utils.graph import LabError

_MEMORY = 3_000_000_000  # bytes of address space, beyond that of the libraries
_FILE = 64_000_000
_LONGEST = 300  # characters of what a student's code says
_LONG_WORD = re.compile(r"\S{80,}")  # nobody's name or number; it could hold anything
_SUFFIX = re.compile(r"(_recomp|_\d+)$")
_EXCEPTION = re.compile(r"([A-Z]\w{0,60}): ")
_UNREADABLE = Finding(
    "an answer that is none of this task's", "an answer of the form asked for", "See the task."
)


class Judge:
    """The cases of one lab, hidden ones too."""

    def __init__(self, lab: str) -> None:
        self._tasks = importlib.import_module(f"lab_utils.{lab}")
        self._lab = importlib.import_module(f"autograder.{lab}.grade")

    def judge(self, task: str, case: int, reply: Mapping[str, Any]) -> dict[str, Any]:
        """What is wrong with a reply, in words that may be shown to the student.

        ``forged``: honest code of the sandbox does not give such an answer.
        """
        subject = self._cases(task)[case]
        is_hidden = case >= len(self._tasks.public_cases(task))
        forged = False
        try:
            findings = outcome(self._tasks.task_called(task), subject, reply)
        except (Exception, RecursionError):
            findings, forged = (_UNREADABLE,), True
        told = [{**asdict(one), "yours": _cut(one.yours)} for one in findings]
        if is_hidden:
            if "error" in reply and (known := _EXCEPTION.match(told[0]["yours"])):
                told[0]["yours"] = known[1]  # its text may be the graph itself
            told = [{part: self._veiled(task, x) for part, x in one.items()} for one in told]
        return {"findings": told, "forged": forged}

    def name(self, task: str, case: int) -> dict[str, Any]:
        """What a case is called, and whether it is hidden."""
        name, public = self._cases(task)[case].name, len(self._tasks.public_cases(task))
        if case < public:
            return {"name": name, "hidden": False}
        return {"name": f"hidden: {self._veiled(task, name)}", "hidden": True}

    def memory(self, task: str, reply: Mapping[str, Any]) -> dict[str, Any] | None:
        """The memory lines of the first public case, if there are any."""
        case = self._cases(task)[0]
        try:
            lines = self._lab.memory_lines(case, reply["answer"])
        except Exception:  # what cannot run cannot be drawn, and not every lab draws
            return None
        return lines and {"title": case.name, **lines}

    def lend(self, task: str, case: int, name: str, arguments: Any) -> Any:
        """The answer of a right version of ``name``; None where there is none."""
        try:
            return self._lab.lend(task, name, self._cases(task)[case], arguments)
        except Exception:  # arguments that are none
            return None

    def hand_in(self, task: str, file: str, content: str) -> dict[str, Any]:
        """The reply that a handed-in file gives, as if the notebooks had made it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / Path(file).name
            path.write_text(content, encoding="utf-8", errors="replace")
            return attempt(self._tasks.task_called(task), path, self._cases(task)[0].given)

    def difference(self, made: Any, handed_in: Any) -> str:
        """How two files differ, in words; empty if they do not."""
        try:
            return self._lab.difference(made, handed_in)
        except (Exception, RecursionError) as error:
            words = str(error) if isinstance(error, LabError) else "one of them cannot be read"
            return words.partition("\n")[0]

    @cache  # noqa: B019  (one judge in a process)
    def _cases(self, task: str) -> list[Case]:
        return self._lab.graded_cases(task)

    def _veiled(self, task: str, text: str) -> str:
        """``text`` without the names of nodes that are in hidden graphs only, and not too long."""
        secret = self._secrets(task)

        def veil(found: re.Match[str]) -> str:
            return found[0] if secret.isdisjoint(_stems(found[0])) else "‹node›"

        return _LONG_WORD.sub("‹…›", re.sub(r"[A-Za-z_]\w*", veil, _cut(text)))

    @cache  # noqa: B019
    def _secrets(self, task: str) -> frozenset[str]:
        public = len(self._tasks.public_cases(task))
        shown, hidden = (
            set(re.findall(r"[A-Za-z_]\w*", json.dumps([dict(case.given) for case in cases])))
            for cases in (self._cases(task)[:public], self._cases(task)[public:])
        )
        return frozenset(name for name in hidden - shown if re.search(r"[\d_]", name))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


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
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever prints must not come between two answers
    judge_of = cache(Judge)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        judge = judge_of(request.pop("lab"))
        answer = getattr(judge, request.pop("do"))(**request)
        print(json.dumps({"answer": answer}), file=answers, flush=True)


if __name__ == "__main__":
    main()
