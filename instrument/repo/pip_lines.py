"""The pip commands in a notebook cell, and where one takes another requirement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_START = re.compile(r"^[ \t]*(?:!{1,2}|%)(?=[ \t]*\S)", re.MULTILINE)
_COMMAND = re.compile(
    r"(?:(?:\{[^}\n]*\}|\$?[\w./-]+)[ \t]+-m[ \t]+)?(?:[\w./-]*/)?"
    r"(?P<tool>uv[ \t]+pip|pip3?(?:\.\d+)?)(?P<options>(?:[ \t]+-[\w=-]+)*)[ \t]+install\b"
)
#: A shell word, quotes included, or one of the marks that end a command. `name>=1` without quotes is a redirection to
#: the shell, but a requirement to whoever wrote it.
_WORD = re.compile(
    r"""(?:[ \t]|\\\r?\n)*(?P<word>(?:"[^"\n]*"|'[^'\n]*'|\\[^\r\n]|[^\s"'\\;|&<>#]|(?<=\S)\#|"""
    r"""(?<=[\w\]])[<>]=?(?=\d))+|[;|&<>#])"""
)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
#: Options of `pip install` whose value is the next word (pip 26.3, uv 0.9).
_WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links -t --target "
    "--prefix --root --src --python --platform --python-version --implementation --abi --progress-bar --no-binary "
    "--only-binary --config-settings -C --cache-dir --log --proxy --timeout --retries --trusted-host --index "
    "--upgrade-strategy --default-index --torch-backend --prerelease --resolution --exclude-newer --report".split()
)
#: With these another package would not be found, would lack what it needs, or would go elsewhere.
_UNUSABLE = frozenset(
    "--no-deps -i --index-url --no-index -t --target --prefix --root --dry-run --default-index --platform "
    "--require-hashes -f --find-links".split()
)


@dataclass(frozen=True, slots=True)
class PipInstall:
    """One `pip install` command. `position` is the place just after its last requirement."""

    #: Where its line's first character stands: of the mark, or of the command in a shell cell.
    line: int
    start: int
    end: int
    position: int
    #: The requirement words, quotes and versions taken off.
    names: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def usable(self) -> bool:
        """Whether one more requirement gets installed as one expects."""
        return not _UNUSABLE.intersection(self.options)


def pip_installs(text: str, base: int = 0, *, shell_cell: bool = False) -> Iterator[PipInstall]:
    """The pip commands in a cell's source, offsets counted from `base`. In a shell cell every line is a command."""
    start_of_line = re.compile(r"^(?=[ \t]*[^\s#%])", re.MULTILINE) if shell_cell else _LINE_START
    single = not shell_cell and re.match(r"pip3?[ \t]+install\b", text) and len(text.splitlines()) == 1
    starts = [0] if single else [match.end() for match in start_of_line.finditer(text)]
    for start in starts:
        end = _end(text, start)
        for command in _COMMAND.finditer(text, start, end):
            before = text[start : command.start()]
            if before and not re.search(r"(?:^|[\s;&|(])$", before):
                continue
            found = _install(text, command.end(), end)
            if found:
                position, names, options = found
                options += tuple(command["options"].split())
                yield PipInstall(
                    base + _line(text, start), base + command.start(), base + end, base + position, names, options
                )


def _line(text: str, at: int) -> int:
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return line + len(text[line:]) - len(text[line:].lstrip(" \t"))


def _end(text: str, start: int) -> int:
    """The end of a command line, continued ones included."""
    match = re.compile(r"(?:[^\\\r\n]|\\\r?\n|\\)*").match(text, start)
    assert match is not None
    return match.end()


def _install(text: str, at: int, end: int) -> tuple[int, tuple[str, ...], tuple[str, ...]] | None:
    position, names, options, takes_value = -1, list[str](), list[str](), False
    while at < end and (match := _WORD.match(text, at, end)):
        word = match["word"]
        at = match.end()
        if word in (";", "|", "&", "<", ">", "#"):
            # "2>" : the digit is no requirement
            break
        if takes_value:
            takes_value = False
            if options[-1] in ("-r", "--requirement", "-e", "--editable"):
                position = at
            continue
        bare = word.replace('"', "").replace("'", "")
        if bare.startswith("-"):
            options.append(bare.split("=", 1)[0])
            takes_value = bare in _WITH_VALUE
            continue
        if bare.isdigit() and text[at : at + 1] == ">":
            break
        position = at
        name = _NAME.match(bare)
        names.append(name[0] if name and "://" not in bare else bare)
    return (position, tuple(names), tuple(options)) if position >= 0 else None
