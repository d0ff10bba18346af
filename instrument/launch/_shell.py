"""Shell text, located with tree-sitter and never rewritten: commands, words, arrays, assignments, heredocs.

A word is flattened to what the shell would make of it, one entry a character, each with the span of the source it
stands for and the quotes it stands in. So JSON inside three kinds of quotes can be read as JSON, and text can be put
in with the right quoting for the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import tree_sitter
import tree_sitter_bash

#: Stands for an expansion (`$X`, `${X}`, `$(...)`) in flattened text.
EXPANSION = "\ufffc"
_EXPANSIONS = frozenset((
    "simple_expansion", "expansion", "command_substitution", "arithmetic_expansion", "process_substitution",
    "ansi_c_string", "translated_string", "brace_expression",
))  # fmt: skip
_WORDS = frozenset((
    "word", "string", "raw_string", "concatenation", "number", "simple_expansion", "expansion",
    "command_substitution", "ansi_c_string", "process_substitution", "arithmetic_expansion", "translated_string",
    "brace_expression",
))  # fmt: skip
_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())


class Char(NamedTuple):
    """One character of a flattened word, the span it came from, and the quotes around it ("", "'" or '"')."""

    char: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class Word:
    """One word of a command, as written and as the shell reads it."""

    text: str
    start: int
    end: int
    #: Spans of expansions in it.
    expansions: tuple[tuple[int, int], ...]

    @property
    def raw(self) -> str:
        return self.text[self.start : self.end]

    @cached_property
    def chars(self) -> tuple[Char, ...]:
        """The word with its quoting taken off."""
        return tuple(_flatten(self.text, self.start, self.end, self.expansions))

    @cached_property
    def value(self) -> str:
        """The word's text with its quoting taken off; expansions are EXPANSION."""
        return "".join(c.char for c in self.chars)

    @property
    def variable(self) -> str | None:
        """The variable that the whole word is the value of ("$X", "${X}", quoted or not), or None."""
        match = re.fullmatch(r'"?\$(?:\{(\w+)\}|(\w+))"?', self.raw)
        return (match[1] or match[2]) if match else None


def _flatten(text: str, start: int, end: int, expansions: tuple[tuple[int, int], ...]) -> Iterator[Char]:
    spans, i, quote = dict(expansions), start, ""
    while i < end:
        char = text[i]
        if quote != "'" and i in spans:
            yield Char(EXPANSION, i, spans[i], quote)
            i = spans[i]
        elif quote == "'":
            if char == "'":
                quote = ""
            else:
                yield Char(char, i, i + 1, quote)
            i += 1
        elif char == "\\" and i + 1 < end and (not quote or text[i + 1] in '"\\$`\n'):
            if text[i + 1] != "\n":
                yield Char(text[i + 1], i, i + 2, quote)
            i += 2
        elif char == '"' or (char == "'" and not quote):
            quote = "" if quote else char
            i += 1
        else:
            yield Char(char, i, i + 1, quote)
            i += 1


@dataclass(frozen=True)
class Command:
    """A simple command: its words without assignments in front and without redirections."""

    words: tuple[Word, ...]
    start: int
    end: int
    #: It stands inside a heredoc or a place that the parser did not understand.
    doubtful: bool = False

    @cached_property
    def values(self) -> tuple[str, ...]:
        return tuple(word.value for word in self.words)

    @property
    def name(self) -> str:
        """The base name of the program."""
        return self.values[0].rsplit("/", 1)[-1] if self.words else ""


@dataclass(frozen=True)
class Assignment:
    """`NAME=value` or `NAME=(...)`, alone, exported, or in front of a command."""

    name: str
    start: int
    end: int
    value: Word | None
    elements: tuple[Word, ...] = ()
    exported: bool = False


@dataclass(frozen=True)
class Heredoc:
    """A heredoc's body and the command that reads it."""

    start: int
    end: int
    body: str
    quoted: bool
    command: str


@dataclass
class Script:
    """The parts of a shell text that locators work on. `errors` are offsets of what the grammar did not take."""

    text: str
    commands: list[Command] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    heredocs: list[Heredoc] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)

    def assigned(self, name: str) -> list[Assignment]:
        """Every assignment to a variable."""
        return [a for a in self.assignments if a.name == name]


class _Reader:
    """Turns a tree with byte positions into a Script with character positions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.data = text.encode("utf-8", "surrogatepass")
        self.script = Script(text)
        self._offsets: list[int] | None = None
        if len(self.data) != len(text):
            self._offsets = []
            for position, char in enumerate(text):
                self._offsets += [position] * len(char.encode("utf-8", "surrogatepass"))
            self._offsets.append(len(text))

    def at(self, position: int) -> int:
        return position if self._offsets is None else self._offsets[position]

    def word(self, node: tree_sitter.Node) -> Word:
        spans: list[tuple[int, int]] = []
        stack = [node]
        while stack:
            here = stack.pop()
            if here.type in _EXPANSIONS:
                spans.append((self.at(here.start_byte), self.at(here.end_byte)))
            else:
                stack += here.children
        return Word(self.text, self.at(node.start_byte), self.at(node.end_byte), tuple(sorted(spans)))

    def read(self) -> Script:
        tree = tree_sitter.Parser(_LANGUAGE).parse(self.data)
        stack: list[tuple[tree_sitter.Node, bool, bool]] = [(tree.root_node, False, False)]
        while stack:
            node, doubtful, exported = stack.pop()
            if node.type == "ERROR" or node.is_missing:
                self.script.errors.append(self.at(node.start_byte))
                doubtful = True
            if node.type in ("command", "declaration_command"):
                self._command(node, doubtful)
            elif node.type == "variable_assignment":
                self._assignment(node, exported)
            elif node.type == "redirected_statement":
                self._heredoc(node)
            elif node.type == "comment":
                self.script.comments.append((self.at(node.start_byte), self.at(node.end_byte)))
            # What a heredoc holds is text; expansions in it are not looked into.
            children = [c for c in node.children if c.type != "heredoc_body"]
            exports = node.type == "declaration_command" and self.text[self.at(node.start_byte) :].startswith("export")
            stack += [(child, doubtful, exports) for child in reversed(children)]
        return self.script

    def _command(self, node: tree_sitter.Node, doubtful: bool) -> None:
        words = []
        for child in node.children:
            if child.type == "command_name":
                words.append(self.word(child.children[0] if child.children else child))
            elif child.type in _WORDS:
                words.append(self.word(child))
        if words:
            self.script.commands.append(
                Command(tuple(words), self.at(node.start_byte), self.at(node.end_byte), doubtful)
            )

    def _assignment(self, node: tree_sitter.Node, exported: bool) -> None:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None:
            return
        elements: tuple[Word, ...] = ()
        word = None
        if value is not None and value.type == "array":
            elements = tuple(self.word(c) for c in value.children if c.type in _WORDS)
        elif value is not None:
            word = self.word(value)
        start, end = self.at(name.start_byte), self.at(name.end_byte)
        self.script.assignments.append(
            Assignment(self.text[start:end], start, self.at(node.end_byte), word, elements, exported)
        )

    def _heredoc(self, node: tree_sitter.Node) -> None:
        body = node.child_by_field_name("body")
        command = "" if body is None else self.text[self.at(body.start_byte) : self.at(body.end_byte)]
        for redirect in node.children:
            if redirect.type != "heredoc_redirect":
                continue
            start = end = self.at(redirect.end_byte)
            quoted = False
            for child in redirect.children:
                if child.type == "heredoc_body":
                    start, end = self.at(child.start_byte), self.at(child.end_byte)
                elif child.type == "heredoc_start":
                    quoted = self.text[self.at(child.start_byte)] in "'\"\\"
            self.script.heredocs.append(Heredoc(start, end, self.text[start:end], quoted, command))


def read_script(text: str) -> Script:
    """Parse shell text. Never raises: what the grammar does not take is in `errors`."""
    return _Reader(text).read()


def expansion_of(name: str, quote: str) -> str:
    """The value of a variable, written for a place in the given quotes, empty where the variable is not set."""
    value = f"${{{name}:-}}"
    return {"'": f"'\"{value}\"'", '"': value, "": value}[quote]


_SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".pbs")


def is_shell(path: str, head: str) -> bool:
    """Whether a file is a shell script, by its name or its first line."""
    return path.endswith(_SHELL_SUFFIXES) or bool(re.match(r"#!\s*\S*(?:/|env\s+|env -S )(?:ba|z|da|k)?sh\b", head))
