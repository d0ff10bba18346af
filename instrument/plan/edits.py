"""Edits are data: a span of one source, its replacement, why, and how sure we are."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from instrument.errors import ConflictError

Applicability = Literal["safe", "review"]
Strategy = Literal["register", "alongside", "import"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change to one file.

    `start` and `end` are offsets into `Source.text` (characters; see `repo/source.py`); they are equal for an
    insertion. A replaced span is either an expression that moved into a name assigned by another edit of the same
    group (`moved=True`), or is listed as replaced in the report.
    """

    path: str
    start: int
    end: int
    text: str
    #: One sentence for a reviewer: what this does and why here.
    reason: str
    #: The id (file name) of the shape, tracker or launcher that made it.
    rule: str
    applicability: Applicability = "safe"
    #: Edits of one group stand or fall together (a bound name and its uses, a call and its import).
    group: str = ""
    moved: bool = False

    @property
    def is_insertion(self) -> bool:
        return self.start == self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that the plan creates (`replaces` is the text it takes the place of, for a module we generated before)."""

    path: str
    text: str
    reason: str
    rule: str
    applicability: Applicability = "safe"
    replaces: str | None = None


def ordered(edits: Iterable[Edit]) -> list[Edit]:
    """Sort edits by position, insertions at one place in the order they were made.

    Raises ConflictError where two overlap: two shapes want the same span.
    """
    result = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for before, after in itertools.pairwise(result):
        if after.start < before.end:
            raise ConflictError(
                f"two edits want the same text: «{before.reason}» ({before.rule}) and «{after.reason}» ({after.rule})",
                path=after.path,
                hint="use --only to take one of them",
            )
    return result
