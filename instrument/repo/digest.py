"""What is in many files at once: their words, so that most searches need not look at the files themselves.

A search for bytes costs as much as the text is long, and a plan makes hundreds over the whole repository. The files of
a folder say much the same: the distinct words of a batch of them are a tenth of its text. What is in none of these
words is in none of the files.
"""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

#: Files that share one set of words.
BATCH = 16

#: ASCII letters, digits, the underscore and every byte that is not ASCII are parts of words; the rest is between them.
_WORDS = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))


class Batch:
    """Some files, and the words that are in them."""

    __slots__ = ("_words", "files")

    def __init__(self, files: dict[str, bytes]) -> None:
        """`files` are bytes by path."""
        self.files = files
        self._words = b" %b " % b" ".join(set(b" ".join(files.values()).translate(_WORDS).split()))

    def without(self, paths: Container[str]) -> Batch:
        """The batch without some files; it may still have their words."""
        other = Batch.__new__(Batch)
        other.files = {path: data for path, data in self.files.items() if path not in paths}
        other._words = self._words
        return other

    def having(self, needle: bytes) -> list[str]:
        """The files that contain some bytes."""
        words = self._words
        for part in _parts(needle):
            if part not in words:
                return []
        return [path for path, data in self.files.items() if needle in data]


@lru_cache(maxsize=4096)
def _parts(needle: bytes) -> tuple[bytes, ...]:
    """The words, or pieces of words, of which a needle is made; the longest, which is the rarest, first.

    Where the needle itself says that a word begins or ends, a space does: `from roll.` is "from ", " roll ".
    """
    text = needle.translate(_WORDS)
    parts = [
        (b" " if found.start() else b"") + found[0] + (b" " if found.end() < len(text) else b"")
        for found in re.finditer(rb"[^ ]+", text)
    ]
    return tuple(sorted(parts, key=len, reverse=True))
