"""setup.cfg: a line in `install_requires` or an extra that lists the tracker."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, bounded, distribution
from instrument.launch._text import Insertion, Left, Located, newline_at
from instrument.repo.source import Source

_SECTION = re.compile(r"\[([^\]]+)\]")


def _matches(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == "setup.cfg"


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a setup.cfg: beside the first of `names` in every list that has it."""
    text = source.text
    listed: list[tuple[str, int, str]] = []
    inline: list[tuple[str, int]] = []
    section, inside, offset = "", False, 0
    for line in text.splitlines(keepends=True):
        header = _SECTION.match(line)
        if header:
            section, inside = header[1].strip(), False
        elif line[:1] not in " \t\r\n#;":
            key = line.split("=")[0].split(":")[0].strip()
            inside = (section == "options" and key == "install_requires") or section == "options.extras_require"
            rest = re.match(r"[^=:]*[=:](.*)", line)
            if inside and rest and rest[1].strip():
                inline.append((rest[1], offset))
        elif inside and line.strip() and line.strip()[0] not in "#;":
            name = distribution(line)
            if name:
                listed.append((name, offset + len(line.rstrip("\r\n")), line))
        offset += len(line)
    known = {name for name, _, _ in listed}
    name = next((name for name in names if name in known), None)
    if name is None:
        return _inline(inline, names)
    if PACKAGE in known:
        return Located(present=True)
    located = Located()
    for found, end, line in listed:
        if found == name:
            indent = line[: len(line) - len(line.lstrip())]
            added = f"{newline_at(text, max(end - 1, 0))}{indent}{bounded(line)}"
            located.insertions.append(Insertion(end, added, f"declares {PACKAGE} beside {name}"))
    return located


def _inline(listed: list[tuple[str, int]], names: Sequence[str]) -> Located:
    """A list on the line of its key (`log = wandb; tensorboard`): a person adds to it."""
    for text, offset in listed:
        known = {distribution(part) for part in re.split(r"[;,]", text)}
        name = next((name for name in names if name in known), None)
        if name is not None:
            if PACKAGE in known:
                return Located(present=True)
            return Located(
                left=[Left(offset, "dependency-by-hand", f"{name} is listed here", f"add {bounded()} beside it")]
            )
    return Located()


KIND = DependencyKind("setup_cfg", _matches, locate, needles=(b"install_requires", b"extras_require"))
RULE = dependency_rule(KIND, "setup.cfg")
