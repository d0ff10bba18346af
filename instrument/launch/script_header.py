"""`# /// script` headers (PEP 723): scripts that carry their dependencies, as `uv run` and `pipx run` read them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._text import Insertion, Located
from instrument.launch.pyproject import toml_insertions
from instrument.repo.source import Source

#: The block as the specification gives it.
_BLOCK = re.compile(r"(?m)^# /// script\r?\n(?P<content>(?:^#(?: .*)?\r?\n)+?)^# ///\r?$")


def _matches(path: str) -> bool:
    return path.endswith(".py")


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a script's header."""
    text = source.text
    match = _BLOCK.search(text) if "# /// script" in text else None
    if not match:
        return Located()
    toml, offsets = _without_marks(text, match.start("content"), match.end("content"))
    located = toml_insertions(toml, names)
    for i, item in enumerate(located.insertions):
        # Each new line is a comment line of the script.
        marked = re.sub(r"\n(?=.)", "\n# ", item.text)
        located.insertions[i] = Insertion(offsets[item.offset], marked, item.what)
    located.left = [left._replace(offset=offsets[left.offset]) for left in located.left]
    return located


def _without_marks(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """The TOML of a header and, for each of its offsets, the one in the file."""
    chars: list[str] = []
    offsets: list[int] = []
    at = start
    while at < end:
        line_end = text.index("\n", at) + 1
        body = at + (2 if text.startswith("# ", at) else 1)
        chars.append(text[body:line_end])
        offsets += range(body, line_end)
        at = line_end
    return "".join(chars), [*offsets, end]


_LOCKS = (("{file}.lock", "uv lock --script {file}"),)
KIND = DependencyKind("script_header", _matches, locate, alone=True, locks=_LOCKS, needles=(b"# /// script",))
RULE = dependency_rule(KIND, "Script headers (PEP 723)")
