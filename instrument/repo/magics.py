"""IPython's own syntax in a cell, masked as Python of the same length.

Every character keeps its place, so that an offset in the masked text is one in the cell. A masked line stays a
statement where it was one (an `if` may hold nothing but a `!pip install`); what is no Python at all becomes comments.
What counts as a magic follows `IPython.core.inputtransformer2` (IPython 9.18).
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from instrument.errors import SourceError
from instrument.repo.source import parse_python

#: Cell magics that run their body as Python in the kernel's own namespace. All others run it elsewhere (`%%bash`,
#: `%%python`), store it (`%%writefile`) or read another language, and their cells are left alone.
PYTHON_CELL_MAGICS = frozenset(
    "time timeit capture prun debug wandb probe_instrument memit mprun lprun snakeviz pyinstrument scalene heat "
    "notify skip_if memray_flamegraph viztracer".split()
)
#: Of these the value of the last expression is not shown.
SILENT_CELL_MAGICS = frozenset("timeit capture prun memit lprun mprun debug".split())
#: A cell of one line that starts so is a line magic without its `%` (IPython's automagic).
_AUTOMAGIC = re.compile(r"(pip3?|conda|mamba|uv|cd|ls|ll|cat|cp|mv|rm|mkdir|pwd|env|load_ext|matplotlib|pylab)\b[ \t]")

_CELL_MAGIC = re.compile(r"%%([\w.]*)")
_INDENT = re.compile(r"[ \t]*")
_LINE = re.compile(r"[^\r\n]*")
_LINES = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_TIMED = re.compile(r"%time[ \t]+(?![-!%?\s])")
_ASSIGNED = re.compile(r"(?P<target>[^=!%#\r\n]*[^=!%#<>+\-*/|&^@:\s\r\n][ \t]*)=[ \t]*(?=[!%])")
_PYTHON_TOKEN = re.compile(
    r"""#[^\r\n]*|'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\(?:\r\n|.)|[^'\\\r\n])*'|"""
    r""""(?:\\(?:\r\n|.)|[^"\\\r\n])*"|\\(?:\r\n|\r|\n)|[()\[\]{}\r\n]|[^#'"\\()\[\]{}\r\n]+|.""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A cell's text as Python of the same length."""

    text: str
    #: Names of the cell magics on its first lines, from the outside in.
    magics: tuple[str, ...] = ()
    #: Where the part that Python sees starts: after the cell magics.
    body: int = 0
    #: Why nothing of the cell is seen as Python; "" if it is.
    skipped: str = ""
    #: The cell is one command without its `%`.
    command: bool = False


def mask(cell: str, skipped: str = "") -> Masked:
    """Mask what only IPython understands. A cell that still does not parse, or of which
    `skipped` says why it is none, is masked wholly."""
    magics, body = _cell_magics(cell)
    if skipped:
        return Masked(as_comments(cell), tuple(magics), len(cell), skipped)
    for name in magics:
        if name not in PYTHON_CELL_MAGICS:
            return Masked(
                as_comments(cell), tuple(magics), len(cell), f"runs elsewhere than in the kernel's Python (%%{name})"
            )
    head, tail = as_comments(cell[:body]), cell[body:]
    masked = mask_lines(tail)
    try:
        parse_python(masked, "cell")
    except SourceError as error:
        if not magics and len(cell.splitlines()) == 1 and _AUTOMAGIC.match(cell):
            # Only a cell of one line is taken so: nothing may be put below it.
            return Masked(as_comments(cell), (), len(cell), "is a command without its %", command=True)
        why = error.message + (f" (line {cell.count(chr(10), 0, body) + error.line})" if error.line else "")
        return Masked(as_comments(cell), tuple(magics), len(cell), why)
    return Masked(head + masked, tuple(magics), body)


def as_comments(text: str) -> str:
    """Every line that holds anything as a comment of the same length."""
    return _LINES.sub(lambda line: ("#" + "-" * (len(line[1]) - 1) if line[1] else "") + line[2], text)


def _cell_magics(cell: str) -> tuple[list[str], int]:
    """The cell magics at the top of a cell, one below the other, and where what they run starts.

    Colab also takes one below `#@title` lines.
    """
    magics: list[str] = []
    at = body = 0
    while at < len(cell):
        line = _LINES.match(cell, at)
        assert line is not None
        text = line[1].strip()
        magic = _CELL_MAGIC.match(line[1])
        if magic:
            magics.append(magic[1])
            body = line.end()
        elif text and not text.startswith("#"):
            break
        elif magics and text:
            break  # a comment below the magic belongs to what it runs
        at = line.end()
    return magics, body


def mask_lines(text: str) -> str:
    """Mask `%x`, `!x`, `x?`, `name = !x`, `name = %x` and IPython's other prefixes, wherever a statement starts."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        indent = _INDENT.match(text, at)
        assert indent is not None
        start = indent.end()
        parts.append(indent[0])
        if text[start : start + 1] in tuple("!%?,;/"):
            end = _continued(text, start)
            parts.append(_timed(text[start:end]) or _statement(text[start:end]))
        elif assigned := _assignment(text, start):
            end = _continued(text, start)
            parts.append(text[start:assigned] + _statement(text[assigned:end], value=True))
        else:
            end = _logical_end(text, start)
            code = text[start:end]
            parts.append(_statement(code) if code.rstrip().endswith("?") and not _comment(code) else code)
        newline = re.compile(r"\r\n|\r|\n|").match(text, end)
        assert newline is not None
        parts.append(newline[0])
        at = newline.end()
    return "".join(parts)


def _statement(text: str, *, value: bool = False) -> str:
    """A statement (or expression) that does nothing, as long as the text; further lines become comments."""
    first, *rest = re.split(r"(\r\n|\r|\n)", text)
    word = "None" if value else "pass"
    filled = "0" * len(first) if len(first) < 4 else word + ("  #" + "-" * len(first))[: len(first) - 4]
    return filled + as_comments("".join(rest))


def _timed(text: str) -> str | None:
    """`%time statement` is Python that runs here, so its statement is looked into."""
    match = _TIMED.match(text)
    if not match or re.search(r"[\r\n]", text) or _logical_end(text, match.end()) != len(text):
        return None
    masked = "0" + " " * (match.end() - 2) + ";" + text[match.end() :]
    try:
        statements = parse_python(masked, "cell").body
    except SourceError:
        return None
    return masked if len(statements) > 1 and isinstance(statements[0], ast.Expr) else None


def _assignment(text: str, start: int) -> int | None:
    """Where the command of `target = !command` or `target = %magic` starts."""
    match = _ASSIGNED.match(text, start)
    if not match:
        return None
    target = match["target"].strip()
    return match.end() if target and _logical_end(target, 0) == len(target) and _balanced(target) else None


def _balanced(text: str) -> bool:
    depth = 0
    for token in _PYTHON_TOKEN.finditer(text):
        depth += (token[0] in "([{") - (token[0] in ")]}")
        if depth < 0 or token[0] in "'\"":
            return False
    return depth == 0


def _comment(code: str) -> bool:
    return any(token[0].startswith("#") for token in _PYTHON_TOKEN.finditer(code))


def _continued(text: str, start: int) -> int:
    """The end of a command: of its line, and of the next ones while a line ends in a backslash."""
    while True:
        line = _LINES.match(text, start)
        assert line is not None
        if not line[1].endswith("\\") or not line[2]:
            return line.end(1)
        start = line.end()


def _logical_end(text: str, start: int) -> int:
    """The end of a Python line: the first line break outside brackets and strings that is not escaped."""
    depth = 0
    for token in _PYTHON_TOKEN.finditer(text, start):
        found = token[0]
        if found in ("\r", "\n"):
            if depth <= 0:
                return token.start()
        elif found in tuple("([{"):
            depth += 1
        elif found in tuple(")]}"):
            depth -= 1
    return len(text)
