"""JSON with positions, read out of flattened shell words or plain text, and pairs put into it.

Flattened text (see `_shell.py`) stands in for what the shell would hand over; an expansion counts as part of a string
or as a bare value. Insertions come back as offsets of the source, quoted for the place they go to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from instrument.launch._names import PACKAGE, TOKEN, best_variable, distribution
from instrument.launch._shell import EXPANSION, Char, Word, expansion_of
from instrument.launch._text import Insertion, Left, Located


@dataclass
class Value:
    """A JSON value and its span in the flattened text. Objects keep (key, key start, value) in order."""

    kind: str
    start: int
    end: int
    text: str = ""
    pairs: list[tuple[str, int, Value]] = field(default_factory=list)
    items: list[Value] = field(default_factory=list)

    def get(self, *path: str) -> Value | None:
        here: Value | None = self
        for key in path:
            here = next((v for k, _, v in here.pairs if k == key), None) if here else None
        return here


class _Bad(ValueError):
    pass


_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BARE = re.compile(rf"(?:[-+.\w]|{EXPANSION})+")


def read_json(text: str, start: int = 0) -> Value | None:
    """Parse an object at an offset (white space before it allowed), or None where it is not well formed."""
    try:
        value, _ = _value(text, _SPACE.match(text, start).end())  # type: ignore[union-attr]
    except (_Bad, RecursionError):
        return None
    return value if value.kind == "object" else None


def _value(text: str, at: int) -> tuple[Value, int]:
    char = text[at : at + 1]
    if char == "{":
        return _container(text, at, "object", "}")
    if char == "[":
        return _container(text, at, "array", "]")
    match = _STRING.match(text, at) or _BARE.match(text, at)
    if not match:
        raise _Bad(at)
    kind = "string" if char == '"' else "bare"
    return Value(kind, at, match.end(), match[1] if kind == "string" else match[0]), match.end()


def _container(text: str, at: int, kind: str, closing: str) -> tuple[Value, int]:
    value = Value(kind, at, at)
    i = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
    while text[i : i + 1] != closing:
        key, key_start = "", i
        if kind == "object":
            match = _STRING.match(text, i)
            if not match:
                raise _Bad(i)
            key = match[1]
            i = _SPACE.match(text, match.end()).end()  # type: ignore[union-attr]
            if text[i : i + 1] != ":":
                raise _Bad(i)
            i = _SPACE.match(text, i + 1).end()  # type: ignore[union-attr]
        inner, i = _value(text, i)
        if kind == "object":
            value.pairs.append((key, key_start, inner))
        else:
            value.items.append(inner)
        i = _SPACE.match(text, i).end()  # type: ignore[union-attr]
        if text[i : i + 1] == ",":
            i = _SPACE.match(text, i + 1).end()  # type: ignore[union-attr]
            if text[i : i + 1] == closing:
                raise _Bad(i)
        elif text[i : i + 1] != closing:
            raise _Bad(i)
    value.end = i + 1
    return value, i + 1


def _quoted(json_text: str, quote: str) -> str:
    """JSON text written for a place inside shell quotes."""
    return json_text.replace('"', '\\"') if quote == '"' else json_text


class Place:
    """Where flattened offsets lie in the source. Without shell around it, text is its own source."""

    def __init__(self, text: str, chars: Sequence[Char] | None = None) -> None:
        self.text = text
        self.chars = chars

    @classmethod
    def of(cls, word: Word) -> Place:
        return cls(word.value, word.chars)

    def after(self, offset: int) -> int:
        """The source offset just after the flattened character before `offset`."""
        return offset if self.chars is None else self.chars[offset - 1].end

    def quote(self, offset: int) -> str:
        """The shell quotes that the character before `offset` stands in; "json" in a JSON file."""
        return "json" if self.chars is None else self.chars[offset - 1].quote

    def value_of(self, name: str, quote: str) -> str:
        return expansion_of(name, quote)


def add_pair(place: Place, container: Value, anchor: int | None, key: str, value: str) -> tuple[int, str] | None:
    """Where and what to insert so that an object gains `"key": value` after pair `anchor` (None: as the last one).

    `value` is JSON text written for the quotes at hand. None where the place has no quotes to write in.
    """
    text = place.text
    if not container.pairs:
        offset, comma, separator = container.start + 1, "", ""
    else:
        index = len(container.pairs) - 1 if anchor is None else anchor
        _, key_start, after = container.pairs[index]
        offset, comma = after.end, ","
        before = container.start + 1 if index == 0 else container.pairs[index - 1][2].end
        gap = text[before:key_start]
        separator = gap[gap.index(",") + 1 :] if index and "," in gap else gap
        if not index and "\n" not in gap:
            separator = " "
    quote = place.quote(offset)
    if quote == "":
        return None
    shell = "" if quote == "json" else quote
    return place.after(offset), comma + separator + _quoted(f'"{key}": ', shell) + value


def add_item(place: Place, array: Value, anchor: int | None, item: str) -> tuple[int, str] | None:
    """The same for an array of strings."""
    if not array.items:
        offset, lead = array.start + 1, ""
    else:
        index = len(array.items) - 1 if anchor is None else anchor
        offset = array.items[index].end
        before = array.start + 1 if index == 0 else array.items[index - 1].end
        gap = place.text[before : array.items[index].start].lstrip(",")
        lead = "," + (gap if "\n" in gap or (index and gap) else " ")
    quote = place.quote(offset)
    if quote == "":
        return None
    return place.after(offset), lead + _quoted(f'"{item}"', "" if quote == "json" else quote)


def runtime_env(place: Place, root: Value, *, wanted: bool, by_value: bool = True) -> Located:
    """What a Ray runtime environment needs: the token among `env_vars`, the package in `pip` or `uv` where they are.

    `wanted` adds the token although no tracker's variable is there. `by_value` is false where no shell will expand
    anything (a JSON file): then the token is left to a person.
    """
    located = Located()
    _token(place, root, located, wanted, by_value)
    if not located.anything:
        return located
    for key in ("pip", "uv"):
        array = root.get(key)
        if array is not None and array.kind == "object":
            array = array.get("packages")
        if array is not None and array.kind == "array" and all(i.kind == "string" for i in array.items):
            package_item(place, array, located)
    return located


def _token(place: Place, root: Value, located: Located, wanted: bool, by_value: bool) -> None:
    variables = root.get("env_vars")
    if variables is not None and variables.kind != "object":
        return
    keys = [key for key, _, _ in variables.pairs] if variables else []
    anchor = best_variable(keys)
    if TOKEN in keys:
        located.present = True
        return
    if anchor is None and not wanted:
        return
    at = place.after(variables.end if variables else root.start + 1)
    by_hand = Left(
        at,
        "token-not-forwarded",
        f"the job's environment names its variables and {TOKEN} is not among them",
        f'add "{TOKEN}" to env_vars',
    )
    if not by_value:
        located.left.append(by_hand)
        return
    what = f"hands {TOKEN} to the job by name" + (f", as {keys[anchor]} is" if anchor is not None else "")
    if variables is None:
        quote = place.quote(root.pairs[-1][2].end if root.pairs else root.start + 1)
        inner = "{" + _quoted(f'"{TOKEN}": "', quote) + place.value_of(TOKEN, quote) + _quoted('"', quote) + "}"
        made = add_pair(place, root, None, "env_vars", inner) if quote else None
    else:
        index = anchor if anchor is not None else None
        end = (variables.pairs[index if index is not None else -1][2].end) if variables.pairs else variables.start + 1
        quote = place.quote(end)
        value = _quoted('"', quote) + place.value_of(TOKEN, quote) + _quoted('"', quote) if quote else ""
        made = add_pair(place, variables, index, TOKEN, value) if quote else None
    if made is None:
        located.left.append(by_hand)
    else:
        located.insertions.append(Insertion(made[0], made[1], what))


def package_item(place: Place, array: Value, located: Located) -> None:
    names = [distribution(item.text) for item in array.items]
    if PACKAGE in names:
        return
    index = next((i for i, name in enumerate(names) if name == "wandb"), None)
    made = add_item(place, array, index, PACKAGE)
    if made is not None:
        located.insertions.append(Insertion(made[0], made[1], f"installs {PACKAGE} in the job's environment"))


def still_json(before: str, after: str) -> bool:
    """Whether text that was JSON (expansions counted as digits) still is."""

    def loads(text: str) -> bool:
        try:
            json.loads(text.replace(EXPANSION, "0"), strict=False)
        except ValueError:
            return False
        return True

    return loads(after) or not loads(before)
