"""Which files contain which bytes, answered for hundreds of rules by one look at each file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ahocorasick_rs import BytesAhoCorasick, Implementation

#: ASCII letters, digits, the underscore and every byte that is not ASCII are parts of words; the rest is between them.
_WORDS = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in range(256))


class Needles:
    """Some byte strings that are looked for together."""

    def __init__(self, needles: Iterable[bytes]) -> None:
        given = list(dict.fromkeys(needles))
        #: The empty needle is in every file; an automaton takes none.
        self._always = frozenset({b""} & set(given))
        self._needles = [needle for needle in given if needle]
        # The automaton as a table: four times faster than the default, and a few hundred needles make a small one.
        self._automaton = BytesAhoCorasick(self._needles, implementation=Implementation.DFA) if self._needles else None

    def __iter__(self) -> Iterator[bytes]:
        yield from (*self._always, *self._needles)

    def within(self, data: bytes) -> frozenset[bytes] | set[bytes]:
        """Those that are in a file's bytes."""
        if self._automaton is None or not data:
            return self._always
        found = {which for which, _, _ in self._automaton.find_matches_as_indexes(data, overlapping=True)}
        return {self._needles[which] for which in found} | self._always if found else self._always


class Words:
    """The files in which a word stands, for names that are asked for one after the other."""

    def __init__(self) -> None:
        self._paths: defaultdict[bytes, list[str]] = defaultdict(list)

    def add(self, path: str, data: bytes) -> None:
        """Take in a file."""
        for word in set(data.translate(_WORDS).split()):
            self._paths[word].append(path)

    def having(self, word: bytes) -> list[str]:
        """The files with a word as a whole."""
        return self._paths.get(word, [])
