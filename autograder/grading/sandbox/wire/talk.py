"""The talk with the process of one notebook: run these cells, answer these questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autograder.grading.sandbox.clean.hostile import Spoiled, clean_count, clean_reply
from autograder.grading.sandbox.clean.markup import SAFE, TooMuch
from autograder.grading.sandbox.clean.shown import LAST_WORDS, Display, Full, Quota, Shown
from autograder.grading.sandbox.host.job import (
    CellResult,
    Code,
    Job,
    Output,
    Question,
    Reply,
    Trouble,
)
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.inside.outlet import RESERVE
from autograder.grading.sandbox.wire.line import Closed, Late, Line
from autograder.grading.sandbox.wire.orders import Over, Supervisor

_SMALL = 100_000  # bytes of messages that hold no output
_MOST_LOANS = 1000  # calls of lent functions for one answer


class Talk:
    """One notebook's process. Everything it says is taken for what a student may have forged."""

    def __init__(
        self,
        line: Line,
        supervisor: Supervisor,
        limits: Limits,
        job: Job | None = None,
        quota: Quota | None = None,
    ) -> None:
        self.work = 0.0
        """Seconds of the processor that the grader has spent on reading what cells showed."""
        self._line, self._supervisor, self._limits = line, supervisor, limits
        self._quota = quota or Quota(limits.notebook_output)
        self._lender = job.lender if job else None
        self._judge = job.judge if job else None
        self._judged = 0
        self._by_display: dict[str, Display] = {}
        self._states = 0
        self._state: int | None = None

    def run(self, cell: Code, result: CellResult, seconds: float) -> list[Trouble]:
        """Run a cell that has so many seconds; ``result`` takes what it shows meanwhile.

        Raises:
            Over: the process did not survive it.
        """
        shown = Shown(result.outputs, self._by_display, self._quota)
        started, busy = time.monotonic(), time.thread_time()
        deadline = self._deadline(seconds)
        most = min(self._limits.output_bytes, self._quota.left)
        last_words = RESERVE if most else LAST_WORDS
        allowed = 2 * self._limits.output_bytes + RESERVE + _SMALL
        cut = full = ""
        self._begin(allowed)
        try:
            order = {"do": "run", "source": cell.source, "seconds": seconds}
            self._send({**order, "output": most, "reserve": last_words}, deadline)
            while True:
                message = self._receive(deadline, allowed)
                if "output" in message:
                    if not full or _is_error(message["output"]):
                        full = _show(shown, message["output"]) or full
                elif "cut" in message:
                    cut = f"{most:,} bytes"
                elif "clear" in message:
                    shown.clear(message["clear"] is True)
                elif "judge" in message:
                    self._tell_findings(message["judge"], deadline)
                elif isinstance(ran := message.get("ran"), dict):
                    break
                else:
                    raise Spoiled("a message of an unknown kind")
                # What is there already is in time for the line, but not for ever.
                if time.monotonic() > deadline:
                    raise Over(Trouble.KILLED, "ran far too long, and was killed")
                if time.thread_time() - busy > seconds:
                    full = full or "what the grader can read in the time of a cell"
            result.execution_count = clean_count(ran.get("count"))
            result.failed = ran.get("failed") is not False
        except Spoiled as error:
            raise _spoiled(error) from None
        finally:
            if cut or full:
                shown.note(f"\n[output cut off after {cut or full}]\n")
            shown.settle()
            result.seconds = time.monotonic() - started
            self.work += time.thread_time() - busy
        return [Trouble.OUTPUT] if cut or full else []

    def _tell_findings(self, asked: Any, deadline: float) -> None:
        """Judge a reply on a public case for a cell; while questions are asked, nobody does."""
        self._judged += 1
        if self._judge is None or not isinstance(asked, dict) or self._judged > _MOST_LOANS:
            raise Spoiled("replies that nobody judges")
        lab, task = str(asked.get("lab")), str(asked.get("task"))
        with _reading():
            reply = clean_reply(asked.get("reply"))
        with self._supervisor.paused():
            found = self._judge(lab, task, reply)
        self._send({"found": found}, deadline)

    def ask(self, question: Question, seconds: float, state: int | None = None) -> Reply:
        """The reply to a question, with all names standing for what they did in ``state``.

        No cell may run after one that has a state.

        Raises:
            Over: the process did not survive it.
        """
        parts = ("lab", "task", "name", "given", "lent", "aid")  # not which case it is
        order = {"do": "ask", "seconds": seconds} | {n: getattr(question, n) for n in parts}
        order["state"], self._state = (None if state == self._state else state), state
        most = self._limits.reply_bytes + _SMALL
        deadline = self._deadline(seconds)
        self._begin(most)
        self._send(order, deadline)
        try:
            for _ in range(_MOST_LOANS):
                message = self._receive(deadline, most)
                if "borrow" not in message:
                    with _reading():
                        return clean_reply(message.get("reply"))
                self._lend(question, message, deadline)
            raise Spoiled(f"more than {_MOST_LOANS} calls of a lent function")
        except Spoiled as error:
            raise _spoiled(error) from None

    def _lend(self, question: Question, message: dict[str, Any], deadline: float) -> None:
        """Answer a call of a function that was lent for this question."""
        if self._lender is None or message["borrow"] not in (*question.lent, *question.aid):
            raise Spoiled("a call of a function that was not lent")
        arguments = message.get("arguments")
        answer = self._lender(question, message["borrow"], arguments, self._supervisor.paused)
        self._send({"lent": answer}, deadline)

    def remember(self) -> int:
        """A number for what the names of the notebook stand for now."""
        self._exchange({"do": "remember"}, self._limits.question_seconds, _SMALL)
        self._states += 1
        return self._states - 1

    def has_changed(self) -> bool:
        """Whether the notebook has replaced functions of ours. Which ones, it could make up."""
        told = self._exchange({"do": "compare"}, self._limits.question_seconds, _SMALL)
        return bool(told.get("changed"))

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def _exchange(self, order: dict[str, Any], seconds: float, most: int) -> dict[str, Any]:
        deadline = self._deadline(seconds)
        self._begin(most)
        self._send(order, deadline)
        try:
            return self._receive(deadline, most)
        except Spoiled as error:
            raise _spoiled(error) from None

    def _begin(self, most: int) -> None:
        self._line.most = most
        self._line.taken = 0

    def _deadline(self, seconds: float) -> float:
        return time.monotonic() + self._limits.backstop(seconds)

    def _send(self, order: dict[str, Any], deadline: float) -> None:
        try:
            self._line.send(order, deadline)
        except Late:
            raise Over(Trouble.KILLED, "the notebook stopped listening to the grader") from None
        except Closed:
            raise self._supervisor.why_ended() from None

    def _receive(self, deadline: float, most: int) -> dict[str, Any]:
        try:
            with _reading():
                message = self._line.receive(deadline, beside=self._supervisor.line)
        except Late:
            raise Over(Trouble.KILLED, "ran far too long, and was killed") from None
        except Closed:
            raise self._supervisor.why_ended() from None
        if self._line.taken > most:
            raise Spoiled("more than a cell may show")
        if message is None:
            raise self._supervisor.why_ended()
        return message


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever goes wrong while student code's words are read is the doing of this code."""
    try:
        yield
    except (Spoiled, Late, Closed):
        raise
    except Exception as error:
        raise Spoiled(f"what cannot be read ({type(error).__name__})") from error


def _show(shown: Shown, raw: Any) -> str:
    """Add an output, or what can be shown of it; after how much there was no room for it."""
    try:
        try:
            shown.add(raw)
        except (Spoiled, Full):
            raise
        except TooMuch as error:
            shown.add({**raw, "data": {k: v for k, v in raw["data"].items() if k not in SAFE}})
            shown.add(_left_out(str(error)))
        except Exception as error:  # cleaning must not end the grading, whatever it came upon
            shown.add(_left_out(f"it cannot be cleaned ({type(error).__name__})"))
    except Full as error:
        return str(error)
    return ""


def _is_error(raw: Any) -> bool:
    return isinstance(raw, dict) and raw.get("output_type") == "error"


def _spoiled(error: Spoiled) -> Over:
    return Over(Trouble.SPOILED, f"student code sent the grader {error}")


def _left_out(why: str) -> Output:
    return {"output_type": "stream", "name": "stderr", "text": f"\n[output left out: {why}]\n"}
