"""Where each edit has come to lie in the result, and what a place in the result was before."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from instrument.plan.edits import Edit
from instrument.repo.source import Source

Kind = Literal["inserted", "moved", "replaced"]


@dataclass(frozen=True, slots=True)
class Span:
    """One edit: [start, end) of the result's text stands where [old_start, old_end) of the original's stood."""

    kind: Kind
    start: int
    end: int
    old_start: int
    old_end: int
    text: str
    edit: Edit


class Spans:
    """The edits of one source, located in the result by counting alone (the renderer is not asked)."""

    def __init__(self, source: Source, edits: Sequence[Edit]) -> None:
        """`edits` as `plan.edits.ordered` gives them."""
        self.all: list[Span] = []
        shift = 0
        for edit in edits:
            start, end, text = _placed(source, edit)
            kind: Kind = "inserted" if start == end else "moved" if edit.moved else "replaced"
            self.all.append(Span(kind, start + shift, start + shift + len(text), start, end, text, edit))
            shift += len(text) - (end - start)
        self.inserted = [span for span in self.all if span.kind == "inserted" and span.text]
        self.moved = [span for span in self.all if span.kind == "moved"]
        self.replaced = [span for span in self.all if span.kind == "replaced"]
        self._starts = [span.start for span in self.inserted]
        self._all_starts = [span.start for span in self.all]

    def is_inserted(self, offset: int) -> bool:
        """Whether a character of the result was inserted."""
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self.inserted[index].end

    def touches(self, start: int, end: int) -> bool:
        """Whether an edit lies in or next to [start, end) of the result."""
        index = max(0, bisect_left(self._all_starts, start) - 1)
        while index < len(self.all) and self.all[index].start <= end:
            if self.all[index].end >= start:
                return True
            index += 1
        return False

    def before(self, offset: int) -> int:
        """The place in the original that a place in the result was at; an inserted one was at the insertion."""
        shift = 0
        for span in self.all:
            if offset < span.start:
                break
            if offset < span.end:
                return span.old_start
            shift = span.old_end - span.end
        return offset + shift


def _placed(source: Source, edit: Edit) -> tuple[int, int, str]:
    """An edit as the source makes it. A notebook moves what is put on the blank line between two cells into one."""
    if source.kind == "notebook":
        from instrument.repo.notebook import NotebookSource

        assert isinstance(source, NotebookSource)
        cell = source.cell_of(edit.start)
        start, end, text = source._in_cell(cell, edit)
        return cell.start + start, cell.start + end, text
    return edit.start, edit.end, edit.text
