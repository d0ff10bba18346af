"""A plan as one page that needs nothing else: processes as a picture, edits side by side, what is asked and refused.

Everything that comes from the target is escaped by the template engine, and its control characters are shown as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from instrument.patch.diff import patch
from instrument.report.processes import MARKS
from instrument.report.summary import KINDS, OUTCOMES, Summary
from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.patch.diff import FileChange
    from instrument.plan.edits import Edit
    from instrument.repo.processes import Process, ProcessMap

#: A file with more changed lines (the added module) is folded.
_FOLDED = 60
#: Longer lines are cut: a page of megabytes of one line helps nobody.
_MAX_LINE = 2_000


@dataclass(slots=True)
class Row:
    """A line of both sides; a side that has no such line is None. `gap` is the head of a hunk."""

    old: tuple[int, str] | None = None
    new: tuple[int, str] | None = None
    gap: str = ""

    @property
    def kind(self) -> str:
        if self.gap:
            return "gap"
        return "same" if self.old and self.new and self.old[1] == self.new[1] else "changed"


@dataclass(slots=True)
class Box:
    """A process in the picture, with what it starts inside."""

    process: Process
    again: bool
    inside: list[Box] = field(default_factory=list)


def page(summary: Summary, changes: list[FileChange]) -> str:
    """The whole page, as HTML."""
    from instrument.plan.render import environment

    jinja = environment().overlay(autoescape=True)
    jinja.filters.update(shown=shown, plural=plural)
    by_path = {change.path: change for change in changes}
    files = []
    for touched in summary.files:
        change = by_path.get(touched.path)
        rows = list(side_by_side(change)) if change is not None else []
        changed = sum(row.kind == "changed" for row in rows)
        edits = [_edit(summary, edit) for edit in touched.explained]
        files.append({"touched": touched, "rows": rows, "folded": changed > _FOLDED, "edits": edits})
    return jinja.get_template("report.html.jinja").render(
        summary=summary, plan=summary.plan, files=files, outcomes=OUTCOMES, kinds=KINDS, marks=MARKS,
        boxes=_boxes(summary.plan.processes), edits=sum(len(touched.edits) for touched in summary.files),
    )  # fmt: skip


def _edit(summary: Summary, edit: Edit) -> dict[str, Any]:
    return {"line": summary.line(edit), "reason": edit.reason, "applicability": edit.applicability, "rule": edit.rule}


def _boxes(found: ProcessMap) -> list[Box]:
    """The trees of the map. A process that several start is drawn whole in the first."""
    drawn = set[str]()

    def box(process: Process) -> Box:
        if process.id in drawn:
            return Box(process, again=True)
        drawn.add(process.id)
        return Box(process, again=False, inside=[box(child) for child in found.children(process)])

    return [box(root) for root in found.roots()]


def side_by_side(change: FileChange) -> Iterator[Row]:
    """The hunks of a change, the lines that were replaced beside those that replace them."""
    old = new = 0
    minus: list[tuple[int, str]] = []
    plus: list[tuple[int, str]] = []

    def flush() -> Iterator[Row]:
        for index in range(max(len(minus), len(plus))):
            yield Row(minus[index] if index < len(minus) else None, plus[index] if index < len(plus) else None)
        minus.clear()
        plus.clear()

    in_hunk = False
    for raw in patch([change]).split(b"\n"):
        line = shown(raw[:_MAX_LINE].decode("utf-8", "replace"), keep="\t")
        if raw.startswith(b"@@ "):
            yield from flush()
            in_hunk = True
            ours, theirs = raw.split(b" ")[1:3]
            old, new = (int(part[1:].split(b",")[0]) for part in (ours, theirs))
            yield Row(gap=line)
        elif in_hunk and raw.startswith(b"-"):
            minus.append((old, line[1:]))
            old += 1
        elif in_hunk and raw.startswith(b"+"):
            plus.append((new, line[1:]))
            new += 1
        elif in_hunk and raw.startswith(b" "):
            yield from flush()
            yield Row((old, line[1:]), (new, line[1:]))
            old, new = old + 1, new + 1
    yield from flush()
