"""Install commands in shell text: `pip install`, `uv add`, `uv run --with`, ..., and where the package goes in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from instrument.launch._names import CLASSES, PACKAGE, distribution
from instrument.launch._shell import Command, Script, Word, read_script
from instrument.launch._text import Insertion, Left, Located

_PIP = re.compile(r"pip(?:\d(?:\.\d+)?)?|_*PIP\d?_*", re.IGNORECASE)
_ADDERS = {"uv": "add", "poetry": "add", "pdm": "add", "rye": "add", "pipenv": "install", "pipx": "inject"}
#: Programs that install from conda's channels.
_CONDA = {
    "conda": ("install", "create"),
    "mamba": ("install", "create"),
    "micromamba": ("install", "create"),
    "pixi": ("add",),
}
#: Programs whose arguments are text for people, not commands.
_PRINTERS = frozenset((
    "echo", "printf", "log", "info", "warn", "error", "die", "fail", "grep", "sed", "awk", "read", "assert",
))  # fmt: skip
#: Options of the installers that take a value in the next word.
_VALUED = frozenset((
    "-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-i", "--index-url", "--index",
    "--extra-index-url", "-f", "--find-links", "-t", "--target", "--prefix", "--root", "--src", "--upgrade-strategy",
    "--python", "--python-version", "--platform", "--implementation", "--abi", "--timeout", "--retries",
    "--trusted-host", "--proxy", "--cache-dir", "--log", "--progress-bar", "--only-binary", "--no-binary",
    "--report", "-C", "--config-settings", "--global-option", "-G", "--group", "--extra", "-E", "--optional",
    "--source", "--cert", "--resume-retries", "--resolution", "--prerelease", "--project", "--directory",
    "--package", "--branch", "--tag", "--rev", "-p", "--default-index", "--torch-backend",
))  # fmt: skip
#: With these the package alone would not be usable, or the command refuses it.
_REFUSING = {
    "--no-deps": "installs without dependencies",
    "--no-dependencies": "installs without dependencies",
    "--require-hashes": "asks for a hash of every package",
    "--no-index": "installs from local files only",
}
_REASONS = {
    **_REFUSING,
    "--index-url": "installs from an index that has a few packages only",
    "conda": "installs from conda's channels, and the SDK is on PyPI",
}
#: Indexes of wheels, not of all packages (PyTorch's, PyG's, vLLM's): a mirror has `/simple` in its address.
_OF_WHEELS = re.compile(r"(?<![\w-])(?:-i|--index-url|--default-index)[ =\"']+\S*?(?:/whl|wheels?\.|ngc\.nvidia)")
_MORE = re.compile(r"--extra-index-url|--index[ =]")


def of_wheels(text: str) -> bool:
    """Whether the options of an install, as text, leave only an index that has a few packages."""
    return bool(_OF_WHEELS.search(text)) and not _MORE.search(text)


def requirement_words(command: Command) -> tuple[list[Word], str | None] | None:
    """The requirement words of an install command, and the option that speaks against adding one.

    None where the command installs nothing from an index. The installer may stand anywhere in the command:
    `sudo pip`, `python -m pip`, `srun ... pip`, `$PIP`.
    """
    values = command.values
    if not values or command.name in _PRINTERS:
        return None
    for i, value in enumerate(values[:-1]):
        base = value.rsplit("/", 1)[-1]
        variable = command.words[i].variable or ""
        if _PIP.fullmatch(base) or re.search(r"(?:^|_)pip\d?$", variable, re.IGNORECASE):
            verb = "install"
        elif base in _ADDERS:
            verb = _ADDERS[base]
        elif base in _CONDA:
            if not any(value in _CONDA[base] for value in values[i + 1 : i + 5]) or values[i + 1 : i + 2] == ("run",):
                continue
            words, refusing = _arguments(command.words[i + 2 :])
            return words, refusing or (None if base == "pixi" and "--pypi" in values else "conda")
        else:
            continue
        j = i + 1
        while j < len(values) and values[j].startswith("-") and values[j] not in _VALUED:
            j += 1
        if j < len(values) and values[j] == verb:
            words, refusing = _arguments(command.words[j + 1 :])
            return words, refusing or ("--index-url" if of_wheels(" ".join(values)) else None)
    return None


def _arguments(words: Sequence[Word]) -> tuple[list[Word], str | None]:
    found: list[Word] = []
    refusing: str | None = None
    skip = False
    for word in words:
        value = word.value
        if skip:
            skip = False
        elif value in _REFUSING:
            refusing = value
        elif value in _VALUED:
            skip = True
        elif not value.startswith("-"):
            found.append(word)
    return found, refusing


def install_insertions(text: str, names: Sequence[str] = CLASSES[0], script: Script | None = None) -> Located:
    """Where `probe-research` goes in the install commands of a shell text: beside the first of `names` in each.

    An offset is one of `text`. Commands in `bash -c "..."` are looked into; heredocs are not.
    """
    script = script or read_script(text)
    located = Located()
    for command in script.commands:
        _one(text, command, names, located)
    for start, inner in _nested(script):
        deeper = install_insertions(inner.text, names, inner)
        mapped = [Insertion(start(i.offset), _flat(i.text), i.what) for i in deeper.insertions]
        located.add(Located(mapped, [item._replace(offset=start(item.offset)) for item in deeper.left], deeper.present))
    if located.insertions or located.present:  # another command of this text installs it
        located.left = [item for item in located.left if not re.search(r"`(?:--index-url|conda)`", item.message)]
    return located


def _flat(text: str) -> str:
    """An insertion for inside quotes: on one line."""
    return " " + text.strip(" \t\r\n\\")


class _Offsets:
    """From offsets of a flattened word to offsets of the source; just after the character before."""

    def __init__(self, word: Word) -> None:
        self.word = word

    def __call__(self, offset: int) -> int:
        return self.word.chars[offset - 1].end if offset else self.word.chars[0].start


def _nested(script: Script) -> Iterator[tuple[_Offsets, Script]]:
    """Scripts in quotes that a shell runs: the word after `-c`, `-lc`; what `eval` and `ssh` get."""
    for command in script.commands:
        for before, word in zip(command.words, command.words[1:]):
            runs = re.fullmatch(r"-[a-z]*c", before.value) or command.name in ("eval", "ssh")
            # The first word of a nested command is at least `pip install x` long; an unquoted word is no script.
            if runs and word.raw[:1] in "'\"" and "install" in word.value and len({c.quote for c in word.chars}) == 1:
                yield _Offsets(word), read_script(word.value)


def _one(text: str, command: Command, names: Sequence[str], located: Located) -> None:
    with_ = _uv_run(command)
    if with_ is not None:
        _beside(text, command, with_, names, located, " --with ")
        _joined(command, names, located)
        return
    arguments = requirement_words(command)
    if arguments is None:
        return
    words, refusing = arguments
    _beside(text, command, words, names, located, " ", refusing)


def _joined(command: Command, names: Sequence[str], located: Located) -> None:
    """`--with=wandb`: the option again."""
    words = [(word, word.value.partition("=")[2]) for word in command.words if word.value.startswith("--with=")]
    listed = {distribution(part) for _, value in words for part in value.split(",")}
    for name in names:
        for word, value in words:
            if name in {distribution(part) for part in value.split(",")}:
                located.present = located.present or PACKAGE in listed
                if PACKAGE not in listed:
                    what = f"installs {PACKAGE} where {name} is installed"
                    located.insertions.append(Insertion(word.end, f" --with={PACKAGE}", what))
                return


def _uv_run(command: Command) -> list[Word] | None:
    """The values of `--with` in `uv run --with wandb train.py`, `uvx --with wandb x`, as words."""
    bases = [value.rsplit("/", 1)[-1] for value in command.values]
    at = next((i for i, base in enumerate(bases) if base in ("uv", "uvx")), None)
    if at is None or (bases[at] == "uv" and "run" not in bases[at + 1 : at + 3]):
        return None
    return [after for before, after in zip(command.words, command.words[1:]) if before.value == "--with"]


def anchor(words: Sequence[Word], names: Sequence[str]) -> Word | None:
    """The word that installs the first of `names` there is."""
    by_name: dict[str, Word] = {}
    for word in words:
        name = distribution(word.value)
        if name:
            by_name.setdefault(name, word)
    return next((by_name[name] for name in names if name in by_name), None)


def _beside(
    text: str,
    command: Command,
    words: Sequence[Word],
    names: Sequence[str],
    located: Located,
    separator: str,
    refusing: str | None = None,
) -> None:
    word = anchor(words, names)
    if word is None:
        return
    name = distribution(word.value)
    if any(distribution(w.value) == PACKAGE for w in words):
        located.present = True
        return
    if refusing is not None or command.doubtful:
        why = f"`{refusing}` {_REASONS[refusing]}" if refusing else "the shell grammar does not take this place"
        located.left.append(
            Left(
                word.start,
                "install-by-hand",
                f"{name} is installed here and {PACKAGE} is not: {why}",
                f"add `pip install {PACKAGE}` where the environment is built",
            )
        )
        return
    added = own_line(text, word, words, separator) + PACKAGE
    located.insertions.append(Insertion(word.end, added, f"installs {PACKAGE} where {name} is installed"))


def own_line(text: str, word: Word, words: Sequence[Word], separator: str = " ") -> str:
    """What to put between a word and one added after it: a continuation where the list has one a line, else a space.

    `words` are the words of the list; the list counts as one a line when this word starts its line and no other word
    of the list stands on that line.
    """
    start = text.rfind("\n", 0, word.start) + 1
    end = text.find("\n", word.end)
    end = len(text) if end < 0 else end
    lead = text[start : word.start]
    shares = any(start <= other.start < end for other in words if other is not word)
    if lead.strip() or shares or start == 0 or not text[:start].rstrip("\r\n").endswith("\\"):
        return separator
    before = text[:start].rstrip("\r\n")
    return f" \\{text[len(before) : start]}{lead}{separator.lstrip()}"
