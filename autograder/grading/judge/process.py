"""The process that judges: it reads what sandboxes answered, and never runs student code.

``python -m autograder.grading.judge.process`` takes requests, one JSON object on each line, and
answers each with a line. It is not trusted to survive a malicious answer: whoever asks
keeps a deadline, and starts another one.
"""

from __future__ import annotations

import gc
import importlib
import json
import resource
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from autograder.grading.code import code_files
from autograder.grading.hidden import hidden_of
from autograder.grading.judge.sentences import Brought, Sentences
from autograder.grading.sandbox.inside.usage import mapped
from lab_utils.kit.ask import UNWRITTEN, attempt
from lab_utils.kit.errors import LabError
from lab_utils.kit.judge import outcome
from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Case, Finding, cut

_MEMORY = 3_000_000_000  # bytes of address space, beyond that of the libraries
_FILE = 64_000_000
_FULL = 1_000_000_000  # bytes beyond that: what one answer left behind is not kept for the next
_LONGEST = 300  # characters of what a student's code says
_REMARK = 2000  # characters about what differs from the reference
_MOST = 20  # findings on one case
_SHOWN_OF_HIDDEN = 3  # different sentences about one hidden case
_ERRORS = {
    "unwritten": (UNWRITTEN, "The part marked for you is still to be written."),
    "form": (
        "an answer of another form than asked for",
        "It had the right form elsewhere? Think of what is empty, single or missing here.",
    ),
}
_ERRORS["absent"] = ("there is no such thing in the notebook", "Its cell is missing, or failed.")
_RAISED = ("your code ended with an error", "Try it on inputs of your own: other sizes and forms.")
_WRONG = ("another answer", "It is right for some, and not for all: what is special here?")
_UNREADABLE = Finding(
    "an answer that is none of this task's", "an answer of the form asked for", "See the task."
)


class Judge:
    """The cases of one lab, hidden ones too."""

    def __init__(self, lab: str) -> None:
        self._lab, self._hidden = lab_called(lab), hidden_of(lab)
        self._judge = importlib.import_module(f"{self._lab.home}.judge").JUDGE

    def prepare(self) -> None:
        """Load what the first verdicts would wait for."""
        _ = self._sentences
        for task in self._lab.tasks:
            self._cases(task.id)
        for name in self._hidden.warm_up:
            module, _, function = name.partition(":")
            getattr(importlib.import_module(module), function)()
        gc.collect()
        gc.freeze()  # what was loaded stays: nobody looks through it again

    def judge(
        self, task: str, case: int, reply: Mapping[str, Any], met_hidden: bool = False
    ) -> dict[str, Any]:
        """What is wrong with a reply, in words that may be shown to the student.

        ``met_hidden``: whoever gave it had met hidden cases before.
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
        if is_hidden or met_hidden:
            told = self._told_of_hidden(task, findings, reply)
        else:
            told = [one.cut(_LONGEST) for one in findings[:_MOST]]
        return {"findings": [asdict(one) for one in told], "forged": forged}

    def _told_of_hidden(
        self, task: str, findings: Sequence[Finding], reply: Mapping[str, Any]
    ) -> list[Finding]:
        """Sentences of ours alone: what sort of mistake it is, and nothing of the case."""
        returns = self._lab.task_called(task).returns
        if "error" in reply and findings:
            yours, look = _ERRORS.get(str(reply.get("kind")), _RAISED)
            return [Finding(yours, returns, look)]
        brought = Brought(list(reply.values()))
        told = [
            Finding(
                self._sentences.told(one.yours, _WRONG[0], brought),
                self._sentences.told(one.wanted, returns, brought),
                self._sentences.told(one.look, _WRONG[1], brought),
            )
            for one in findings[:_MOST]
        ]
        return list(dict.fromkeys(told))[:_SHOWN_OF_HIDDEN]

    @cached_property
    def _sentences(self) -> Sentences:
        """The texts of the code that judges this lab, and of what makes its cases.

        What instruments say while they run is part of answers; what they judge by is in ``show``.
        """
        rooms = ("lab_utils/labs/", "lab_utils/kit/", "autograder/labs/")
        judging = "lab_utils/instruments/*/show/*.py"
        paths = {file: file.relative_to(ROOT) for file in code_files([self._lab.id])}
        return Sentences(
            file
            for file, path in paths.items()
            if path.as_posix().startswith(rooms) or path.match(judging)
        )

    def name(self, task: str, case: int) -> dict[str, Any]:
        """What a case is called, and whether it is hidden."""
        name, public = self._cases(task)[case].name, len(self._lab.public_cases(task))
        if case < public:
            return {"name": name, "hidden": False}
        return {"name": f"hidden: {name}", "hidden": True}

    def chart(self, task: str, case: int, reply: Mapping[str, Any]) -> dict[str, Any] | None:
        """What feedback draws of an answer on a public case, if anything."""
        try:
            subject = self._lab.public_cases(task)[case]
            chart = self._hidden.chart(task, subject, reply["answer"])
        except Exception:  # what cannot be used cannot be drawn
            return None
        return asdict(chart) if chart else None

    def compared(self, task: str, reply: Mapping[str, Any]) -> str:
        """How an answer on the first public case differs from the reference, in words."""
        try:
            return cut(self._hidden.compared(task, reply["answer"]), _REMARK)
        except Exception:  # what cannot be read has been told of
            return ""

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


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether this process had no memory left, which may be another answer's doing."""
    return isinstance(error, MemoryError) or "can't allocate memory" in str(error)


def main() -> None:
    """Answer requests until there are no more."""
    for kind, most in ((resource.RLIMIT_AS, mapped() + _MEMORY), (resource.RLIMIT_FSIZE, _FILE)):
        resource.setrlimit(kind, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    full = mapped() + _FULL
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever prints must not come between two answers
    gc.set_threshold(10_000, 20, 20)  # a graph is thousands of objects that live on
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
