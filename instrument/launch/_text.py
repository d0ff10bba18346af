"""What locators give back: insertions into a text, and places that a person has to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple


class Insertion(NamedTuple):
    """Text to put in at an offset (characters). `what` is the sentence that the reviewer reads."""

    offset: int
    text: str
    what: str


class Left(NamedTuple):
    """A place where something is needed and nothing was changed. `next` says what a person can do."""

    offset: int
    code: str
    message: str
    next: str = ""


@dataclass(slots=True)
class Located:
    """The result of a locator. `present` is true where what it adds was there before."""

    insertions: list[Insertion] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    present: bool = False

    @property
    def anything(self) -> bool:
        """Whether the text has an anchor at all."""
        return bool(self.insertions or self.left or self.present)

    def add(self, other: Located) -> None:
        """Take over what another locator found in the same text."""
        known = {(i.offset, i.text) for i in self.insertions}
        self.insertions += [i for i in other.insertions if (i.offset, i.text) not in known]
        self.left += [item for item in other.left if item not in self.left]
        self.present = self.present or other.present


def inserted(text: str, insertions: list[Insertion]) -> str:
    """The text with the insertions made; at one offset in the order they were found."""
    parts, last = [], 0
    for item in sorted(insertions, key=lambda i: i.offset):
        parts += [text[last : item.offset], item.text]
        last = item.offset
    return "".join([*parts, text[last:]])


def stable(text: str, located: Located, again: Callable[[str], Located]) -> Located:
    """What was found, as questions only if locating once more in the result would find something to insert."""
    if not located.insertions or not again(inserted(text, located.insertions)).insertions:
        return located
    return asked(located)


def asked(located: Located) -> Located:
    """Every insertion turned into a question."""
    left = [
        Left(item.offset, "not-understood", f"left alone ({item.what}): the syntax here is not understood")
        for item in located.insertions
    ]
    return Located(left=[*located.left, *left], present=located.present)


def line_around(text: str, offset: int) -> tuple[int, int]:
    """Start and end (before the line break) of the line that an offset lies in."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    while end > start and text[end - 1] == "\r":
        end -= 1
    return start, end


def newline_at(text: str, offset: int) -> str:
    """The line break in use around an offset."""
    end = text.find("\n", offset)
    if end < 0:
        end = text.rfind("\n", 0, offset)
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def indent_of(text: str, offset: int) -> str:
    """The white space that the line of an offset starts with."""
    start, end = line_around(text, offset)
    line = text[start:end]
    return line[: len(line) - len(line.lstrip(" \t"))]
