"""The start page as HTML, and as text for what shows no HTML.

A front end shows the saved page of a notebook that it does not trust without scripts and style
sheets. So there are none: plain tags, and a few styles that look right on light and dark ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from lab_utils.kit.course import Assignment, Course, Notebook
from lab_utils.kit.hand_in.report import points_in_words
from lab_utils.kit.machine.terminal import typed
from lab_utils.kit.start.standing import (
    NotebookStanding,
    Standing,
    State,
    TaskStanding,
    next_notebook,
)

SIGNS = {
    State.TO_WRITE: ("○", "#888888"),
    State.WRITTEN: ("✎", "#c77700"),
    State.WRONG: ("✗", "#d64545"),
    State.RIGHT: ("✓", "#2e9e4f"),
    State.ANSWERED: ("✓", "#2e9e4f"),
}
_LEGEND = {
    State.TO_WRITE: "to be written",
    State.WRITTEN: "written, check not run",
    State.WRONG: "check does not pass yet",
    State.RIGHT: "done",
}
_LEFT = "text-align:left;vertical-align:top"
_COLUMNS = (("notebook", "36%"), ("time", "12%"), ("tasks", "38%"), ("points", "14%"))


@dataclass(frozen=True)
class Page:
    """All that a student wants to know before opening a notebook."""

    course: Course
    standings: Sequence[Standing]
    read: datetime | None = None
    """When the notebooks were read; None: before anybody had them."""

    def _repr_html_(self) -> str:
        parts = [f"<h1>{escape(self.course.name)}, {escape(self.course.term)}</h1>"]
        parts += [self._go_on(), self._to_pack()]
        parts += [*map(self._assignment, self.standings), self._foot()]
        return "\n".join(parts)

    def __repr__(self) -> str:
        lines = [f"{self.course.name}, {self.course.term}"]
        for standing in self.standings:
            lines += ["", f"{standing.lab.label}: {standing.lab.title}"]
            if not standing.is_released:
                lines.append("  not released yet")
                continue
            lines += [f"  {_called(n):24} {_how_far(n)}" for n in standing.notebooks]
            lines += [f"  {_words(standing.tasks)}", f"  {_packed(standing)}"]
        return "\n".join(lines)

    def _go_on(self) -> str:
        found = next_notebook(self.standings)
        if found is None:
            there = any(standing.is_released for standing in self.standings)
            return f"<p><b>{'All is done.' if there else 'No assignment is here yet.'}</b></p>"
        lab, notebook = found
        begun = any(standing.is_begun for standing in self.standings)
        link = _link(lab, notebook, f"{lab.label}, {_called(notebook)}")
        task = next((task.title for task in notebook.tasks if not task.state.is_done), "")
        where = f", {escape(task)}" if begun and task else ""
        words = f"{'Go on' if begun else 'Begin'} with <b>{link}</b>{where}"
        return f'<p style="font-size:120%">{words}</p>'

    def _to_pack(self) -> str:
        ready = [s for s in self.standings if s.is_begun and s.is_done and not s.packed]
        return "\n".join(
            f"<p><b>{s.lab.label} is done.</b> {escape(_packed(s))}</p>" for s in ready
        )

    def _assignment(self, standing: Standing) -> str:
        lab, found = standing.lab, next_notebook(self.standings)
        head = (
            f'<h2 style="display:inline">{escape(lab.label)}: {escape(lab.title)}</h2><br>\n'
            f"{escape(lab.about)}<br>\n{_bar(standing)} &nbsp; {escape(self._facts(lab))}"
        )
        if not standing.is_released:
            return f"<p>{head} · <i>not released yet</i></p>"
        is_next = found is not None and found[0] == lab
        is_open = is_next or (standing.is_begun and not standing.is_done)
        heads = "".join(f'<th width="{w}" style="{_LEFT}">{name}</th>' for name, w in _COLUMNS)
        rows = "\n".join(_row(lab, notebook) for notebook in standing.notebooks)
        return (
            f"<details{' open' * is_open}><summary>{head}</summary>\n"
            f'<table style="width:100%;margin-top:12px">\n<thead><tr>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody></table>\n"
            f"<p>{escape(_words(standing.tasks))}. {escape(_packed(standing))}</p></details><br>"
        )

    def _facts(self, lab: Assignment) -> str:
        facts = [f"about {_time(lab.minutes)}"] if lab.minutes else []
        facts.append(points_in_words(lab.points, lab.bonus))
        if lab.due:
            facts.append(f"due {lab.due:%A, %d %B %Y, %H:%M} (UTC{lab.due:%z})")
        if lab.builds_on:
            labels = [self.course.lab(other).label for other in lab.builds_on]
            facts.append(f"builds on {', '.join(labels)}")
        return " · ".join(facts)

    def _foot(self) -> str:
        signs = " &nbsp; ".join(f"{_sign(state)} {words}" for state, words in _LEGEND.items())
        read = f" It was read on {self.read:%A, %d %B, %H:%M}." if self.read else ""
        return (
            f"<hr><p><small>{signs}<br>This page reads your notebooks as they are saved.{read} "
            "To look again: save them, click on this text, and press Shift-Enter.<br>Points are "
            "those of the public checks; grading tries other cases as well.</small></p>"
        )


def _row(lab: Assignment, standing: NotebookStanding) -> str:
    link = _link(lab, standing, _called(standing)) if standing.saved else _called(standing)
    signs = " &nbsp; ".join(map(_task, standing.tasks))
    cells = [
        _with_small(link, standing.heading),
        _time(standing.notebook.minutes),
        _with_small(signs, _how_far(standing)),
        f"{_points(standing.tasks):g} of {_worth(standing.notebook)}",
    ]
    return "".join(["<tr>", *(f'<td style="{_LEFT}">{cell}</td>' for cell in cells), "</tr>"])


def _with_small(html: str, text: str) -> str:
    """``html``, and below it a line of ``text`` in small letters."""
    return "<br>".join(filter(None, [html, f"<small>{escape(text)}</small>" if text else ""]))


def _link(lab: Assignment, standing: NotebookStanding, text: str) -> str:
    return f'<a href="{lab.id}/{standing.notebook.name}.ipynb">{escape(text)}</a>'


def _called(standing: NotebookStanding) -> str:
    return standing.notebook.name.replace("_", " ")


def _task(task: TaskStanding) -> str:
    worth = f"{'a bonus of ' * task.is_bonus}{points_in_words(task.points)}"
    hover = escape(f"{task.title}: {task.state.value} ({worth})")
    number = escape(task.title.rpartition(" ")[2])
    return f'<span title="{hover}" style="white-space:nowrap">{_sign(task.state)} {number}</span>'


def _sign(state: State) -> str:
    sign, colour = SIGNS[state]
    return f'<b style="color:{colour}">{sign}</b>'


def _bar(standing: Standing) -> str:
    """The share of the assignment that is done, by points."""
    done = sum(task.points for task in standing.tasks if task.state.is_done)
    return f'<progress value="{done:g}" max="{standing.lab.points:g}"></progress>'


def _worth(notebook: Notebook) -> str:
    return f"{notebook.points:g}" + (f" (bonus: {notebook.bonus:g})" if notebook.bonus else "")


def _points(tasks: Sequence[TaskStanding]) -> float:
    """What the public checks give."""
    return sum(task.points for task in tasks if task.state is State.RIGHT)


def _words(tasks: Sequence[TaskStanding]) -> str:
    """``3 of 4 tasks written, 2 checks passed (2.25 of 4 points by the public checks)``."""
    written = sum(task.is_written for task in tasks)
    right = sum(task.state is State.RIGHT for task in tasks)
    checked, bonus = (
        sum(task.points for task in tasks if task.has_check and task.is_bonus is is_bonus)
        for is_bonus in (False, True)
    )
    return (
        f"{written} of {len(tasks)} tasks written, {right} check{'s' * (right != 1)} passed "
        f"({_points(tasks):g} of {points_in_words(checked, bonus)} by the public checks)"
    )


def _how_far(standing: NotebookStanding) -> str:
    """What the signs of a notebook come to, or what is wrong with its file."""
    if standing.trouble or not standing.tasks:
        return standing.trouble
    if not standing.is_begun:
        return "not begun"
    left = [task for task in standing.tasks if not task.is_done]
    return f"{len(left)} of {len(standing.tasks)} left" if left else "done"


def _packed(standing: Standing) -> str:
    """Whether the assignment was packed, and whether that is still what there is."""
    last, lab, zipped = _called(standing.notebooks[-1]), standing.lab, standing.packed
    how = f"the button at the end of {last}, or {typed(f'pack {lab.id}')}"
    if zipped is None:
        return f"Not packed yet: {how}."
    text = f"Packed on {zipped.written:%A, %d %B, %H:%M} as {zipped.name}."
    if newer := [n for n in standing.notebooks if n.saved and n.saved > zipped.written]:
        names = ", ".join(map(_called, newer))
        text += f" Saved since then: {names}. If you changed it, pack again: {how}."
    return text


def _time(minutes: int) -> str:
    """``45 min``, ``3 h``, ``1 h 30``; nothing for 0."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min" if rest else ""
    return f"{hours} h {rest:02}" if rest else f"{hours} h"
