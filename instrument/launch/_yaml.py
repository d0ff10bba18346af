"""YAML with positions, read with ruamel and never dumped: where an item or a pair goes, in the file's own layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from instrument.launch._text import indent_of, line_around, newline_at

#: Keys whose text a shell runs.
SHELL_KEYS = frozenset(
    (
        "setup",
        "run",
        "command",
        "args",
        "entrypoint",
        "script",
        "commands",
        "setup_commands",
        "bash",
        "cmd",
        "head_start_ray_commands",
        "worker_start_ray_commands",
        "head_setup_commands",
        "worker_setup_commands",
    )
)


@dataclass(eq=False)
class Node:
    """A scalar, sequence or mapping. `end` is just after its own last character (no comments, no blank lines)."""

    kind: str
    start: int
    end: int
    #: A scalar's text, as YAML reads it; and the mark it is written with ("", "'", '"', "|", ">").
    value: str = ""
    style: str = ""
    flow: bool = False
    items: list[Node] = field(default_factory=list)
    pairs: list[tuple[Node, Node]] = field(default_factory=list)

    def get(self, *path: str) -> Node | None:
        """The value below keys, or None."""
        here: Node | None = self
        for key in path:
            here = next((v for k, v in here.pairs if k.value == key), None) if here else None
        return here

    @property
    def keys(self) -> list[str]:
        return [key.value for key, _ in self.pairs]

    @property
    def is_null(self) -> bool:
        """Nothing at all, `null` or `~`, unquoted."""
        return self.kind == "scalar" and not self.style and self.value in ("", "null", "~", "Null", "NULL")


_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]+)*")


@lru_cache(maxsize=64)
def documents(text: str) -> list[Node]:
    """The documents of a YAML text; empty where it does not load (templates, odd tabs)."""
    try:
        roots = list(YAML(typ="safe", pure=True).compose_all(text))
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError):
        return []
    seen: dict[int, Node] = {}
    return [_convert(root, text, seen) for root in roots if root is not None]


def _convert(node: Any, text: str, seen: dict[int, Node]) -> Node:
    # An alias is the node of its anchor: looked at once, where it is written.
    if id(node) in seen:
        known = seen[id(node)]
        return Node("alias", known.start, known.end)
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node.value, str):
        # An anchor and a tag stand before the value and are not part of it.
        start += len(_PROPERTIES.match(text, start, end)[0])  # type: ignore[index]
        made = Node("scalar", start, end, node.value, node.style or "")
        if made.style in ("|", ">"):
            made.end = start + len(text[start:end].rstrip())
        seen[id(node)] = made
        return made
    made = Node("sequence", start, end, flow=bool(node.flow_style))
    seen[id(node)] = made
    children: list[Node] = []
    for child in node.value:
        if isinstance(child, tuple):
            made.kind = "mapping"
            key, value = (_convert(part, text, seen) for part in child)
            made.pairs.append((key, value))
            children += [key, value]
        else:
            made.items.append(_convert(child, text, seen))
            children.append(made.items[-1])
    if type(node).__name__ == "MappingNode":
        made.kind = "mapping"
    if not made.flow:
        # An empty value has the span of what follows: the last key's own end is nearer then.
        ends = [c.end for c in children if c.kind != "alias" and (c.end > c.start or c.kind != "scalar")]
        made.end = max(ends, default=start)
    return made


def walk(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Every node with the keys above it; a sequence's items have their sequence's path."""
    yield path, node
    for key, value in node.pairs:
        yield from walk(value, (*path, key.value))
    for item in node.items:
        yield from walk(item, path)


def item_after(text: str, sequence: Node, index: int, lines: list[str], flow: str) -> tuple[int, str] | None:
    """Where and what to insert so that an item follows item `index` of a sequence.

    `lines` are the item's lines in block form without the dash (later ones indented relative to its first column),
    `flow` is the item for `[a, b]`. None where the layout leaves no safe place.
    """
    anchor = sequence.items[index]
    if sequence.flow:
        return anchor.end, f", {flow}"
    dash = _dash(text, anchor)
    if dash is None:
        return None
    start, end = line_around(text, anchor.end)
    if anchor.end > anchor.start and text[anchor.end - 1] == "\n":
        return None
    if not _rest_is_comment(text[anchor.end : end]):
        return None
    line = line_around(text, dash)[0]
    indent = text[line:dash]
    if indent.strip():
        # `- - a` or `key: - a`: the column, not the text before it, counts.
        return None
    gap = text[dash + 1 : anchor.start]
    gap = gap if gap.strip(" ") == "" and gap else " "
    newline = newline_at(text, start)
    inner = indent + " " * (1 + len(gap))
    body = [f"{indent}-{gap}{lines[0]}", *(inner + line for line in lines[1:])]
    return end, newline + newline.join(body)


def _dash(text: str, item: Node) -> int | None:
    """The offset of the dash in front of a block sequence's item."""
    at = item.start - 1
    while at >= 0 and text[at] in " \t":
        at -= 1
    return at if at >= 0 and text[at] == "-" else None


def _rest_is_comment(rest: str) -> bool:
    return not rest.strip() or bool(re.match(r"\s+#", rest))


def pair_after(text: str, mapping: Node, index: int, key: str, value: str) -> tuple[int, str] | None:
    """The same for a pair of a mapping; `value` is YAML text for one line ("" for an empty value)."""
    anchor_key, anchor = mapping.pairs[index]
    ends_at = anchor_key.end if anchor.is_null and anchor.end <= anchor.start else max(anchor.end, anchor_key.end)
    if anchor.kind == "alias":
        ends_at = anchor_key.end
    if mapping.flow:
        at = ends_at
        if anchor.is_null and anchor.end <= anchor.start:
            return None
        return at, f", {key}: {value or 'null'}"
    colon = text.find(":", anchor_key.end)
    ends_at = max(ends_at, colon + 1)
    start, end = line_around(text, ends_at)
    if anchor.kind != "alias" and not _rest_is_comment(text[ends_at:end]):
        return None
    line = line_around(text, anchor_key.start)[0]
    indent = indent_of(text, anchor_key.start)
    lead = text[line : anchor_key.start]
    if lead.strip():
        # The first pair of a list's item stands behind the dash: its column is the indent.
        if not re.fullmatch(r"[ ]*(?:-[ ]+)+", lead):
            return None
        indent = " " * len(lead)
    space = re.match(r":([ \t]*)", text[colon:]) if colon >= 0 else None
    gap = (space[1] if space and space[1] and not anchor.is_null else " ") if value else ""
    return end, f"{newline_at(text, start)}{indent}{key}:{gap}{value}"


def block_text(text: str, node: Node) -> tuple[str, list[int]] | None:
    """A scalar's text with the offset of each of its characters (and of its end), or None where escapes hide them.

    Folded lines are joined with spaces, as YAML does it, so that a shell reads them as one line.
    """
    raw = text[node.start : node.end]
    if node.style in ("|", ">"):
        return _literal(text, node)
    if node.style == '"' and "\\" in raw:
        return None
    if "\n" in raw or (node.style == "'" and "''" in raw):
        return None
    offset = 1 if node.style in "'\"" and node.style else 0
    inner = raw[offset : len(raw) - offset]
    return inner, list(range(node.start + offset, node.start + offset + len(inner) + 1))


def _literal(text: str, node: Node) -> tuple[str, list[int]] | None:
    head_end = text.find("\n", node.start)
    if head_end < 0 or head_end >= node.end:
        return None
    chars: list[str] = []
    offsets: list[int] = []
    at = head_end + 1
    indent: int | None = None
    while at < node.end:
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        line_end = min(line_end, node.end)
        line = text[at:line_end].rstrip("\r")
        if indent is None and line.strip():
            indent = len(line) - len(line.lstrip(" "))
        skip = min(indent or 0, len(line))
        chars.append(line[skip:])
        offsets += range(at + skip, at + len(line))
        if line_end < node.end:
            chars.append("\n" if node.style == "|" else " ")
            offsets.append(line_end)
        at = line_end + 1
    return "".join(chars), [*offsets, node.end]
