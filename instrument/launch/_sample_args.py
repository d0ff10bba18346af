"""Where the arguments of a Miles or slime job are built: shell words, strings and lists of Python, YAML.

The anchor is `--rollout-batch-size`, which both require (radixark/miles 31f1ca961, LLM360/miles 3684c6da, THUDM/slime
624b824a): whatever starts a job names it. The argument goes right before it, in the same layout.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from instrument.launch._shell import Script, Word
from instrument.launch._text import Insertion, inserted, line_around, newline_at
from instrument.launch._yaml import documents
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.repo.names import Module

ANCHOR, FLAG = "--rollout-batch-size", "--custom-rollout-log-function-path"
WHAT = (
    "queue each sample of a rollout for Probe; the function returns False, so that the trainer logs its own as before"
)

_ANCHOR = re.compile(rf"(?<![\w-]){ANCHOR}(?![\w-])")
#: The flag and its value: `FLAG value`, `FLAG=value`, `"FLAG", "value"`, and the two on lines of their own.
_GIVEN = re.compile(
    rf"""(?<![\w-]){FLAG}(?![\w-])(?:["']?\s*,\s*["']|["']?\s*\n\s*-\s*["']?|=|\s*\\\n\s*|\s+)["']?([\w.$\{{\}}/:-]+)"""
)
_KEY = re.compile(r"(?m)^([ \t]*(?:- )?)rollout([-_])batch\2size[ \t]*:[ \t]*\S")


class Given(NamedTuple):
    """The argument as it stands somewhere: its value and where it is."""

    value: str
    offset: int


def _before(text: str, offset: int, path: str, equals: bool) -> Insertion:
    """The argument as words in front of an offset: on a line of its own where what follows is on one."""
    start, _ = line_around(text, offset)
    head = text[start:offset]
    end = " "
    if start and not head.strip():
        above = text[:start].rstrip("\r\n")
        end = (" \\" if above.endswith("\\") else "") + newline_at(text, start) + head
    return Insertion(offset, f"{FLAG}{'=' if equals else ' '}{path}{end}", WHAT)


# -- shell -----------------------------------------------------------------------------------------------------------


def in_shell(script: Script, path: str) -> list[Insertion]:
    """In front of each anchor: a word of a command or an array, or inside a word that holds several arguments."""
    found: dict[int, Insertion] = {}
    for word in _words(script):
        if word.value.partition("=")[0] == ANCHOR:
            found[word.start] = _before(script.text, word.start, path, "=" in word.value)
        else:
            for match in _ANCHOR.finditer(word.raw):
                at = word.start + match.start()
                found[at] = _before(script.text, at, path, False)
    return list(found.values())


def given_in_shell(script: Script) -> list[Given]:
    """The argument where it stands already, comments aside."""
    return [
        given for given in _given(script.text)
        if not any(start <= given.offset < end for start, end in script.comments)
    ]  # fmt: skip


def _words(script: Script) -> Iterator[Word]:
    for command in script.commands:
        if not command.doubtful and command.name not in ("echo", "printf", "grep", "sed"):
            yield from command.words
    for assignment in script.assignments:
        yield from assignment.elements
        if assignment.value is not None:
            yield assignment.value


def _given(text: str) -> list[Given]:
    return [Given(match[1], match.start()) for match in _GIVEN.finditer(text)]


# -- Python ----------------------------------------------------------------------------------------------------------


class Replacement(NamedTuple):
    """Text for a span; empty where it is put in."""

    start: int
    end: int
    text: str


def in_python(module: Module, path: str) -> list[Replacement]:
    """In front of each anchor in a list of arguments; a string of several as it is with the argument in it."""
    found: list[Replacement] = []
    for node in walk(module.tree):
        if not isinstance(node, ast.Constant | ast.JoinedStr) or not _are_arguments(module, node):
            continue
        if isinstance(node, ast.Constant) and node.value == ANCHOR:
            found += [Replacement(item.offset, item.offset, item.text) for item in _element(module, node, path)]
            continue
        start, end = module.start(node), module.end(node)
        items = [item._replace(offset=item.offset - start) for item in _in_string(module.source.text, start, end, path)]
        if items:
            found.append(Replacement(start, end, inserted(module.source.text[start:end], items)))
    return found


def _in_string(text: str, start: int, end: int, path: str) -> Iterator[Insertion]:
    """In front of each anchor in the text of a string, of one literal or of several."""
    for match in _ANCHOR.finditer(text, start, end):
        line = text[line_around(text, match.start())[0] : match.start()]
        if line.lstrip().startswith("#"):
            continue
        quote = re.fullmatch(r"\s*[fF]?(['\"])", line)
        if quote and match.start() - len(line.lstrip()) > start:  # a literal of its own among several
            indent = line[: len(line) - len(line.lstrip())]
            at = match.start() - len(line.lstrip())
            ours = f"{quote[1]}{FLAG} {path} {quote[1]}{newline_at(text, at)}{indent}"
            yield Insertion(at, ours, WHAT)
        else:
            yield _before(text, match.start(), path, False)


def given_in_python(module: Module) -> list[Given]:
    """The argument where it stands already in a string or list."""
    text = module.source.text
    spans = [
        (module.start(node), module.end(node)) for node in walk(module.tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and FLAG in _text(node) and _are_arguments(module, node, FLAG)
    ]  # fmt: skip
    return [given for given in _given(text) if any(start <= given.offset < end for start, end in spans)]


def _element(module: Module, node: ast.Constant, path: str) -> list[Insertion]:
    holder = module.parent(node)
    if not isinstance(holder, ast.List | ast.Tuple) or node is holder.elts[-1]:
        return []
    text, at = module.source.text, module.start(node)
    start, _ = line_around(text, at)
    quote, head = text[at], text[start:at]
    if quote not in "\"'":
        return []
    end = newline_at(text, at) + head if start and not head.strip() else " "
    return [Insertion(at, f"{quote}{FLAG}{quote}, {quote}{path}{quote},{end}", WHAT)]


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    """The fixed text of a string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_text(part) if isinstance(part, ast.Constant) else "\ufffc" for part in node.values)


def _are_arguments(module: Module, node: ast.Constant | ast.JoinedStr, flag: str = ANCHOR) -> bool:
    """Whether a string names the flag as an argument with a value, not in prose or where a parser defines it."""
    text = _text(node)
    parent = module.parent(node)
    if flag not in text or isinstance(parent, ast.Expr | ast.JoinedStr | ast.FormattedValue | ast.Compare | ast.Dict):
        return False
    if text == flag:
        return isinstance(parent, ast.List | ast.Tuple)
    found = re.search(rf"(?:\A|\s){flag}[ =\t]+(?:\\\s+)?[\w.\ufffc$\"'{{/-]", text)
    others = re.findall(r"(?:\A|\s)--[a-z][\w-]+", text)
    starts = text.lstrip().startswith("--") or len(others) > 1
    while isinstance(parent, ast.expr | ast.keyword):
        if isinstance(parent, ast.keyword) and parent.arg in ("help", "description", "epilog"):
            return False
        if isinstance(parent, ast.Call) and module.code(parent.func).rpartition(".")[2] in (
            "add_argument", "print", "warning", "info", "debug", "error", "replace", "Option", "field",
        ):  # fmt: skip
            return False
        parent = module.parent(parent)
    return bool(found) and starts and not isinstance(parent, ast.Raise | ast.Assert)


# -- YAML ------------------------------------------------------------------------------------------------------------


def in_yaml(text: str, path: str) -> list[Insertion]:
    """In front of each anchor: an item of a list, words in a block of text, or a pair of a mapping of arguments."""
    found: list[Insertion] = []
    for match in _ANCHOR.finditer(text):
        start, _ = line_around(text, match.start())
        head, after = text[start : match.start()], text[match.end() : match.end() + 1]
        if "#" in head:
            continue
        item = re.fullmatch(r"(\s*)-\s+(['\"]?)", head)
        newline = newline_at(text, start)
        if item and after == "=":
            line = f"- {item[2]}{FLAG}={path}{item[2]}{newline}{item[1]}"
            found.append(Insertion(start + len(item[1]), line, WHAT))
        elif item and (after in "\r\n" or after == item[2]):
            quote = item[2]
            lines = f"- {quote}{FLAG}{quote}{newline}{item[1]}- {path}{newline}{item[1]}"
            found.append(Insertion(start + len(item[1]), lines, WHAT))
        elif head[-1:] in ("'", '"') and after == head[-1]:
            quote = after
            found.append(Insertion(match.start() - 1, f"{quote}{FLAG}{quote}, {quote}{path}{quote}, ", WHAT))
        else:
            found.append(_before(text, match.start(), path, after == "="))
    if re.search(r"(?m)^\s*(?:- )?num[-_]rollout\s*:", text) and not _PAIR.search(text):
        for key in _KEY.finditer(text):
            name, indent = FLAG[2:].replace("-", key[2]), key[1].replace("-", " ")
            line = f"{name}: {path}{newline_at(text, key.start())}{indent}"
            found.append(Insertion(key.start() + len(key[1]), line, WHAT))
    return found


_PAIR = re.compile(r"(?m)^[ \t]*(?:- )?custom[-_]rollout[-_]log[-_]function[-_]path[ \t]*:[ \t]*[\"']?([\w.]+)")


def given_in_yaml(text: str) -> list[Given]:
    """The argument where it stands already, comments aside."""
    pairs = [Given(match[1], match.start()) for match in _PAIR.finditer(text)]
    return pairs + [g for g in _given(text) if "#" not in text[line_around(text, g.offset)[0] : g.offset]]


def still_yaml(before: str, after: str) -> bool:
    """Whether a text is YAML as it was, with as many documents."""
    return bool(documents(before)) and len(documents(before)) == len(documents(after))
