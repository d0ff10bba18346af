"""The text of a metric's key where a tracker makes it of several parts: a title and a series, a context and a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

#: What may stand between the braces of an f-string of any Python version: names and attributes.
_NAME = re.compile(r"[\w.]+")
_PLAIN = re.compile(r"[^\\\"{}\n\r]*")
#: An f-string whose inside can stand between other quotes.
_F_STRING = re.compile(r"""[fF](["'])([^"'\\\n\r]*)\1""")


def joined(parts: Sequence[tuple[ast.expr | str, str]], separator: str = "/") -> str:
    """One expression for parts that are joined by a separator.

    Each part is the expression (or a text of its own) with what it reads as at the place of the call: constants are
    written out (`"train/loss"`), names go into an f-string (`f"train/{name}"`), anything else is added.
    """
    pieces: list[tuple[str, str]] = []  # text, and what it is: "text", "name", "f" (the inside of an f-string)
    for number, (expr, text) in enumerate(parts):
        if number:
            pieces.append((separator, "text"))
        if isinstance(expr, str):
            pieces.append((expr, "text"))
        elif isinstance(expr, ast.Constant) and isinstance(expr.value, (str, int)):
            pieces.append((str(expr.value), "text"))
        else:
            inside = _F_STRING.fullmatch(text) if isinstance(expr, ast.JoinedStr) else None
            pieces.append((inside[2], "f") if inside else (text, "name"))
    merged: list[tuple[str, str]] = []
    for text, kind in pieces:
        if kind == "text" and merged and merged[-1][1] == "text":
            merged[-1] = (merged[-1][0] + text, "text")
        else:
            merged.append((text, kind))
    if [kind for _, kind in merged] == ["text"]:
        return _quoted(merged[0][0])
    if len(parts) == 1:
        return parts[0][1]
    if all((_NAME if kind == "name" else _PLAIN).fullmatch(text) for text, kind in merged if kind != "f"):
        return 'f"' + "".join("{" + text + "}" if kind == "name" else text for text, kind in merged) + '"'
    return " + ".join(
        _quoted(text) if kind == "text" else f'f"{text}"' if kind == "f" else _added(text) for text, kind in merged
    )


def inside(expr: ast.expr, text: str) -> str | None:
    """What a part of a key is inside the quotes of an f-string; None where it can't be written there."""
    if isinstance(expr, ast.Constant):
        return str(expr.value) if _PLAIN.fullmatch(str(expr.value)) else None
    if isinstance(expr, ast.JoinedStr):
        found = _F_STRING.fullmatch(text)
        return found[2] if found else None
    return f"{{{text}}}" if _NAME.fullmatch(text) else None


def _quoted(text: str) -> str:
    return f'"{text}"' if _PLAIN.fullmatch(text) else repr(text)


def _added(text: str) -> str:
    """A part that is added to texts: only what is a text already needs no `str`."""
    if re.fullmatch(r"[fF]?(\"[^\"]*\"|'[^']*')", text):
        return text
    return f"str({text})"


def prefixed(prefix: str, rows: str, *, taken: frozenset[str] = frozenset()) -> str:
    """A mapping with a prefix before each key: `{f"train/{key}": value for key, value in rows.items()}`.

    `prefix` is the inside of an f-string, separator included.
    """
    key, value = ("key", "value") if not {"key", "value"} & taken else ("_key", "_value")
    return f'{{f"{prefix}{{{key}}}": {value} for {key}, {value} in {rows}.items()}}'
