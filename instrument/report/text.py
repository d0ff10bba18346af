"""Text that comes from the target (paths, code, messages) made safe to show.

A repository can be hostile: a file name with an escape sequence, a newline or a direction override must not move the
cursor, forge a line of the report or hide what a diff says. Everything printed goes through `shown`.
"""

from __future__ import annotations

import unicodedata

#: Control, format (bidirectional overrides, zero width), lone surrogates (undecodable file names), line and paragraph
#: separators. Private-use characters are harmless and stay (prompts and icons in notebooks).
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that did not decode (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shown(text: object, *, keep: str = "") -> str:
    """The text on one line with every character that a terminal would act on, or would not show, escaped.

    `keep` names control characters that stay as they are ("\\t" for code).
    """
    text = str(text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in keep or unicodedata.category(char) not in _HIDDEN else _escape(char) for char in text
    )


def shortened(text: str, width: int) -> str:
    """A text cut in its middle to at most `width` characters, for places where one line is all there is."""
    if len(text) <= width:
        return text
    half = max((width - 1) // 2, 1)
    return text[:half] + "…" + text[len(text) - (width - 1 - half) :]


def plural(count: int, one: str, many: str | None = None) -> str:
    """ "1 file", "2 files"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
