"""Where a notebook's cells stand in its JSON text, and how a changed cell is written back.

The JSON is never dumped again: the value of each cell's `source` is located in the raw text, and the raw characters
of what stays are kept. So indentation, key order, odd escapes, number forms and the final newline are the same bytes
afterwards, whatever wrote the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from json.decoder import JSONDecodeError
from typing import Any

_WHITESPACE = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.S)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Item:
    """One string literal of a `source` value: its span in the raw text, quotes included, and what it says."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RawCell:
    """A cell as the file has it. `start` and `end` are the span of its `source` value in the raw text."""

    index: int
    cell_type: str
    id: str | None
    metadata: dict[str, Any]
    start: int
    end: int
    is_list: bool
    items: tuple[Item, ...]

    @property
    def text(self) -> str:
        return "".join(item.text for item in self.items)


@dataclass(slots=True)
class RawNotebook:
    """The decoded JSON text with the places of its cells."""

    raw: str
    cells: list[RawCell] = field(default_factory=list)
    #: Top-level keys, decoded; "cells" only as a key.
    top: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, raw: str) -> RawNotebook:
        """Locate the cells. Raises json.JSONDecodeError (it knows the line) where the text is no JSON object."""
        notebook, scan = cls(raw), _Scanner(raw)
        if scan.peek() != "{":
            raise JSONDecodeError("a notebook is a JSON object", raw, scan.at)
        for key in scan.members():
            # Of a key that stands twice the last one counts, as for every JSON reader.
            if key == "cells" and scan.peek() == "[":
                notebook.cells = [_cell(scan, index) for index in scan.elements()]
                notebook.top[key] = None
            else:
                notebook.top[key] = scan.value()
        if scan.peek():
            raise JSONDecodeError("extra data", raw, scan.at)
        return notebook

    def splice(self, changes: dict[int, str]) -> str:
        """The raw text with the `source` values of some cells (by position in `cells`) replaced by new JSON text."""
        parts, last = [], 0
        for number in sorted(changes):
            cell = self.cells[number]
            parts += [self.raw[last : cell.start], changes[number]]
            last = cell.end
        return "".join([*parts, self.raw[last:]])

    def source_json(self, cell: RawCell, edits: Sequence[tuple[int, int, str]]) -> str:
        """The JSON text of a cell's `source` with edits (start, end, text; in characters of its text) made.

        The form stays: a string stays one, a list gets one item a line with the list's own separators, and the text
        that stays keeps its raw form.
        """
        rows = _Rows(self._escape, [self._separator(cell, number) for number in range(len(cell.items))])
        position, pending = 0, list(edits)
        for number, item in enumerate(cell.items):
            stop, raw_at = position + len(item.text), self._raw_offsets(item)
            at = position
            while pending and pending[0][0] < stop:
                start, end, text = pending[0]
                if start >= at:
                    rows.keep(number, self._kept(item, raw_at, at - position, start - position), at == position, False)
                    rows.add(text)
                at = min(end, stop)
                if end > stop:
                    pending[0] = (start, end, "")  # the rest of the deletion falls into the next items
                    break
                pending.pop(0)
            rows.keep(number, self._kept(item, raw_at, at - position, stop - position), at == position, True)
            position = stop
        for _, _, text in pending:
            rows.add(text)
        lines = rows.done()
        if not cell.is_list:
            return '"' + "".join(line for line, _ in lines) + '"'
        if not lines:
            return "[]"
        head, tail = self._brackets(cell)
        body = "".join((lead if n else "") + f'"{line}"' for n, (line, lead) in enumerate(self._led(cell, lines)))
        return f"[{head}{body}{tail}]"

    def _led(self, cell: RawCell, lines: list[tuple[str, str | None]]) -> list[tuple[str, str]]:
        default = self._default_separator(cell)
        return [(line, default if lead is None else lead) for line, lead in lines]

    def _kept(self, item: Item, raw_at: Sequence[int] | None, start: int, end: int) -> tuple[str, str]:
        """A part of an item, decoded and as it stands in the raw text."""
        text = item.text[start:end]
        if raw_at is None:
            return text, self.raw[item.start + 1 + start : item.start + 1 + end]
        return text, self.raw[raw_at[start] : raw_at[end]]

    def _raw_offsets(self, item: Item) -> list[int] | None:
        """Where each character of an item starts in the raw text; None if none of them is escaped."""
        if item.end - item.start - 2 == len(item.text):
            return None
        found = [match.start() for match in _CHARACTER.finditer(self.raw, item.start + 1, item.end - 1)]
        return [*found, item.end - 1]

    def _separator(self, cell: RawCell, number: int) -> str | None:
        """What stands before an item of a list, from the item before it on."""
        return self.raw[cell.items[number - 1].end : cell.items[number].start] if number else None

    def _default_separator(self, cell: RawCell) -> str:
        if len(cell.items) > 1:
            return self.raw[cell.items[0].end : cell.items[1].start]
        head, _ = self._brackets(cell)
        if head:
            return "," + head
        for other in self.cells:
            if other.is_list and len(other.items) > 1:
                return self.raw[other.items[0].end : other.items[1].start]
        return ", "

    def _brackets(self, cell: RawCell) -> tuple[str, str]:
        """The white space after a list's `[` and before its `]`; of the nearest filled cell for an empty one."""
        if cell.items:
            return self.raw[cell.start + 1 : cell.items[0].start], self.raw[cell.items[-1].end : cell.end - 1]
        filled = [other for other in self.cells if other.is_list and other.items]
        if not filled:
            return "", ""
        return self._brackets(min(filled, key=lambda other: abs(other.index - cell.index)))

    def _escape(self, text: str) -> str:
        """New text as the inside of a JSON string, escaped as the file escapes."""
        escaped = json.dumps(text, ensure_ascii=self._ascii_only())[1:-1]
        for char in "<>&=":  # Colab's web editor writes these as escapes, and then all of them
            code = f"\\u{ord(char):04x}"
            if char in escaped and char not in self.raw and code in self.raw.lower():
                escaped = escaped.replace(char, code)
        return escaped

    def _ascii_only(self) -> bool:
        return self.raw.isascii() and re.search(r"\\u(?!00[0-7])", self.raw) is not None


class _Rows:
    """The items of an edited `source`, gathered piece by piece."""

    def __init__(self, escape: Any, separators: Sequence[str | None]) -> None:
        self._escape = escape
        self._separators = separators
        self._rows: list[tuple[str, str | None]] = []
        self._now: list[str] = []
        self._lead: str | None = None
        #: The last character so far, and whether the last piece was kept text up to the very end of its item.
        self._tail = ""
        self._whole = False

    def keep(self, number: int, piece: tuple[str, str], first: bool, last: bool) -> None:
        """Text of the original's item; `first` and `last` say whether it has the item's start and end."""
        text, raw = piece
        if not text:
            return
        if self._tail == "\n" or (first and self._whole):
            self._flush()
        if not self._now and first:
            self._lead = self._separators[number]
        self._now.append(raw)
        self._tail, self._whole = text[-1], last

    def add(self, text: str) -> None:
        for line in re.findall(r"[^\n]*\n|[^\n]+", text):
            if self._tail == "\n":
                self._flush()
            self._now.append(self._escape(line))
            self._tail, self._whole = line[-1], False

    def _flush(self) -> None:
        if self._now:
            self._rows.append(("".join(self._now), self._lead))
        self._now, self._lead = [], None

    def done(self) -> list[tuple[str, str | None]]:
        """Each item's raw inside and the separator that stood before it in the file, None for a new item."""
        self._flush()
        return self._rows


class _Scanner:
    """Walks JSON text value by value, keeping the place; `json`'s own C code does the reading."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.at = 0

    def peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        match = _WHITESPACE.match(self.raw, self.at)
        assert match is not None
        self.at = match.end()
        return self.raw[self.at : self.at + 1]

    def take(self, wanted: str) -> str:
        found = self.peek()
        if not found or found not in wanted:
            raise JSONDecodeError(f"expected {' or '.join(wanted)}", self.raw, self.at)
        self.at += 1
        return found

    def value(self) -> Any:
        """Read the value that starts here and step behind it."""
        self.peek()
        try:
            value, self.at = _DECODER.raw_decode(self.raw, self.at)
        except RecursionError:
            raise JSONDecodeError("nested too deeply", self.raw, self.at) from None
        return value

    def string(self) -> str:
        if self.peek() != '"':
            raise JSONDecodeError("expected a string", self.raw, self.at)
        text = self.value()
        assert isinstance(text, str)
        return text

    def members(self) -> Iterator[str]:
        """The keys of the object that starts here; the caller reads each value before it asks for the next key."""
        self.take("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            key = self.string()
            self.take(":")
            self.peek()
            yield key
            if self.take(",}") == "}":
                return

    def elements(self) -> Iterator[int]:
        """Counts the elements of the array that starts here; the caller reads each before it asks for the next."""
        self.take("[")
        if self.peek() == "]":
            self.at += 1
            return
        index = 0
        while True:
            self.peek()
            yield index
            index += 1
            if self.take(",]") == "]":
                return


def _cell(scan: _Scanner, index: int) -> RawCell:
    begin, values = scan.at, {"cell_type": "", "id": None, "metadata": None}
    start = end = -1
    is_list, items = False, list[Item]()
    for key in scan.members():
        if key == "source":
            start, is_list, items = scan.at, scan.peek() == "[", []
            for _ in scan.elements() if is_list else (0,):
                if scan.peek() != '"':
                    raise JSONDecodeError("a cell's source is a string or a list of strings", scan.raw, scan.at)
                at = scan.at
                text = scan.string()
                items.append(Item(at, scan.at, text))
            end = scan.at
        else:
            value = scan.value()
            if key in values:
                values[key] = value
    if start < 0:
        raise JSONDecodeError("a cell without a source", scan.raw, begin)
    identity, metadata = values["id"], values["metadata"]
    return RawCell(
        index=index,
        cell_type=str(values["cell_type"]),
        id=identity if isinstance(identity, str) else None,
        metadata=metadata if isinstance(metadata, dict) else {},
        start=start,
        end=end,
        is_list=is_list,
        items=tuple(items),
    )
