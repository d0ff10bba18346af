"""TOML with positions. tomlkit says what a file holds; this says where, so that only what is put in changes.

Only what dependency tables need: headers, keys, strings, arrays, inline tables. What is not understood ends the scan
of that value; a change is accepted only if tomlkit then reads the same data plus the addition (`grown`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r'(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')')
_STRINGS = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BARE = re.compile(r"[^\s,\]}#]+")


@dataclass
class Item:
    """A value and its span; arrays keep their items, inline tables their entries. `text` is a string's content."""

    kind: str
    start: int
    end: int
    text: str = ""
    items: list[Item] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@dataclass
class Entry:
    """`key = value`: the path of the table and key, the key's start, and the value."""

    path: tuple[str, ...]
    start: int
    value: Item


class _Bad(ValueError):
    pass


def entries(text: str) -> Iterator[Entry]:
    """Every `key = value` of a document outside arrays of tables' contents, in order. Stops where it does not parse."""
    table: tuple[str, ...] = ()
    at = 0
    try:
        while True:
            at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
            if at >= len(text):
                return
            if text[at] == "[":
                double = text[at : at + 2] == "[["
                table, at = _dotted(text, at + (2 if double else 1))
                at = text.index("]]" if double else "]", at) + (2 if double else 1)
                continue
            entry, at = _entry(text, at, table)
            yield entry
    except (_Bad, ValueError, RecursionError):
        return


def _dotted(text: str, at: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        match = _KEY.match(text, at)
        if not match:
            raise _Bad(at)
        parts.append(match[0].strip("\"'"))
        at = _SPACE.match(text, match.end()).end()  # type: ignore[union-attr]
        if text[at : at + 1] != ".":
            return tuple(parts), at
        at += 1


def _entry(text: str, at: int, table: tuple[str, ...]) -> tuple[Entry, int]:
    start = at
    key, at = _dotted(text, at)
    if text[at : at + 1] != "=":
        raise _Bad(at)
    value, at = _value(text, _SPACE.match(text, at + 1).end())  # type: ignore[union-attr]
    return Entry((*table, *key), start, value), at


def _value(text: str, at: int) -> tuple[Item, int]:
    char = text[at : at + 1]
    if char == "[":
        array = Item("array", at, at)
        at = _BLANK.match(text, at + 1).end()  # type: ignore[union-attr]
        while text[at : at + 1] != "]":
            inner, at = _value(text, at)
            array.items.append(inner)
            at = _comma(text, at, "]")
        array.end = at + 1
        return array, array.end
    if char == "{":
        inline = Item("table", at, at)
        at = _BLANK.match(text, at + 1).end()  # type: ignore[union-attr]
        while text[at : at + 1] != "}":
            entry, at = _entry(text, at, ())
            inline.entries.append(entry)
            at = _comma(text, at, "}")
        inline.end = at + 1
        return inline, inline.end
    match = _STRINGS.match(text, at)
    if match:
        return Item("string", at, match.end(), match[0].strip(match[0][0])), match.end()
    match = _BARE.match(text, at)
    if not match:
        raise _Bad(at)
    return Item("bare", at, match.end(), match[0]), match.end()


def _comma(text: str, at: int, closing: str) -> int:
    at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
    if text[at : at + 1] == ",":
        return _BLANK.match(text, at + 1).end()  # type: ignore[union-attr]
    if text[at : at + 1] != closing:
        raise _Bad(at)
    return at


def array_item(text: str, array: Item, index: int, item: str, prefix: str = "") -> tuple[int, str]:
    """Where and what to insert so that a string follows item `index` of an array, in the array's quotes and layout.

    On lines of their own, items keep their comments: the new line comes after the anchor's line. `prefix` is what
    each line begins with (a script header's "# ").
    """
    anchor = array.items[index]
    quote = text[anchor.start]
    quote = quote if quote in "\"'" and quote not in item else '"'
    new = f"{quote}{item}{quote}"
    line = text.rfind("\n", 0, anchor.start) + 1
    lead = text[line : anchor.start]
    own_line = not lead.strip(" \t" + prefix) and line > array.start
    if not own_line:
        return anchor.end, f", {new}"
    rest = re.compile(r"[ \t]*(,?)[ \t]*(#[^\n]*?)?(\r?)(?=\n)").match(text, anchor.end)
    last = index == len(array.items) - 1
    if rest is None:
        # Something else on the anchor's line, or the array ends there.
        return anchor.end, f", {new}"
    newline = "\r\n" if rest[3] else "\n"
    if rest[1]:
        # A comma is there: the next line, with a comma of its own.
        return rest.end() - len(rest[3]), f"{newline}{lead}{new},"
    if not last:
        return anchor.end, f", {new}"  # the comma stands at the head of the next line
    if rest[2]:
        return anchor.end, f",{newline}{lead}{new}"
    return anchor.end, f",{newline}{lead}{new}"


def data(text: str) -> dict[str, Any] | None:
    """What the document says, or None where it is no TOML."""
    try:
        return tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError, RecursionError):
        return None


def grown(before: Any, after: Any, package: str) -> bool:
    """Whether `after` is `before` plus entries for the package alone."""
    if isinstance(before, dict) and isinstance(after, dict):
        extra = set(after) - set(before)
        return extra <= {package} and all(key in after and grown(before[key], after[key], package) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        kept = [item for item in after if not (isinstance(item, str) and item.lower().startswith(package))]
        return kept == before or (
            len(before) == len(after) and all(grown(b, a, package) for b, a in zip(before, after))
        )
    return type(before) is type(after) and before == after
