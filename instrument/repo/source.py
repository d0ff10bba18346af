"""One file as text: what its bytes say, and how to put edits back into those bytes.

All positions in the engine are offsets into `Source.text`, counted in characters. A Python file's text is its bytes
decoded as its encoding cookie says, without the byte-order mark, line endings as they are. A notebook's text is its
code cells joined (see `notebook.py`), so that everything above this module treats both alike. `render` is the only
way back to bytes.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from instrument.errors import SourceError

_LINE_END = re.compile(r"\r\n|\r|\n")

BOM = b"\xef\xbb\xbf"


class Splice(Protocol):
    """What `render` needs of an edit: a span of `Source.text` and its replacement."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


class Source:
    """A text file: shell, YAML, TOML, Dockerfile and everything else that is not Python."""

    kind = "text"

    def __init__(self, path: PurePosixPath, data: bytes) -> None:
        self.path = path
        self.data = data

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def bom(self) -> bytes:
        return BOM if self.data.startswith(BOM) else b""

    @cached_property
    def encoding(self) -> str:
        return "utf-8"

    @cached_property
    def text(self) -> str:
        """The decoded file without its byte-order mark. Raises SourceError where it does not decode."""
        try:
            return self.data[len(self.bom) :].decode(self.encoding)
        except (UnicodeDecodeError, LookupError) as error:
            raise SourceError(f"does not decode as {self.encoding}: {error}", path=self.path) from None

    @cached_property
    def newline(self) -> str:
        """The line ending that inserted lines take: the file's own, by majority ("\\n" for a file of one line)."""
        crlf = self.text.count("\r\n")
        lone_cr = self.text.count("\r") - crlf
        lone_lf = self.text.count("\n") - crlf
        if crlf > lone_lf and crlf >= lone_cr:
            return "\r\n"
        return "\r" if lone_cr > lone_lf else "\n"

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    def line_start(self, line: int) -> int:
        """The offset at which a line (from 1) starts; the end of the text for a line past the last."""
        return self._line_starts[line - 1] if line <= len(self._line_starts) else len(self.text)

    def line_of(self, offset: int) -> int:
        """The line (from 1) that an offset lies in."""
        return bisect_right(self._line_starts, offset)

    def line_end(self, line: int) -> int:
        """The offset just after a line's last character, before its line ending."""
        end = self.line_start(line + 1)
        while end > self.line_start(line) and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def render(self, edits: Sequence[Splice]) -> bytes:
        """The file's bytes with the edits made. They must be sorted and must not overlap (`plan.edits.ordered`)."""
        return self.bom + self._spliced(edits).encode(self.encoding)

    def _spliced(self, edits: Sequence[Splice]) -> str:
        parts, last = [], 0
        for edit in edits:
            parts += [self.text[last : edit.start], edit.text]
            last = edit.end
        return "".join([*parts, self.text[last:]])


class PythonSource(Source):
    """A Python file, parsed with `ast` when its tree is asked for."""

    kind = "python"

    @cached_property
    def encoding(self) -> str:
        """The encoding that the cookie names (PEP 263), else UTF-8; kept when the file is written."""
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(self.data).readline)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise SourceError(f"unusable encoding declaration: {error}", path=self.path, line=1) from None
        return "utf-8" if encoding == "utf-8-sig" else encoding

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises SourceError with the line where the file does not parse."""
        return parse_python(self.text, self.path)

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()

    def offset(self, line: int, column: int) -> int:
        """The text offset of a position as `ast` gives it: line from 1, column in UTF-8 bytes."""
        start = self.line_start(line)
        if self._ascii:
            return start + column
        end = self.line_start(line + 1)
        return start + len(self.text[start:end].encode("utf-8")[:column].decode("utf-8", "ignore"))

    def start(self, node: ast.AST) -> int:
        """The offset of a node's first character."""
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """The offset just after a node's last character."""
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def code(self, node: ast.AST) -> str:
        """A node's own text, as written."""
        return self.text[self.start(node) : self.end(node)]


def parse_python(text: str, path: PurePosixPath | str) -> ast.Module:
    """Parse text as Python, top-level await allowed. Raises SourceError with file and line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes and the like are the file's own business
            tree = compile(
                text, str(path), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
            )
    except SyntaxError as error:
        raise SourceError(f"does not parse: {error.msg}", path=path, line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise SourceError(f"does not parse: {error}", path=path) from None
    assert isinstance(tree, ast.Module)
    return tree
