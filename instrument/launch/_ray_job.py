"""`ray job submit` in shell text: the runtime environment it carries, wherever in the script that is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from instrument.launch._json import Place, read_json, runtime_env, still_json
from instrument.launch._names import TOKEN
from instrument.launch._shell import Command, Script, Word, expansion_of, read_script
from instrument.launch._text import Insertion, Left, Located, inserted

_OPTION = re.compile(r"--runtime[-_]env[-_]json(=|\Z)")
_FILE_OPTION = re.compile(r"--runtime[-_]env(=|\Z)")


def is_submission(command: Command) -> bool:
    """`ray job submit`, also behind `uv run`, `srun` or a full path."""
    values = command.values
    return any(
        values[i].rsplit("/", 1)[-1] == "ray" and values[i + 1 : i + 3] == ("job", "submit") for i in range(len(values))
    )


def entry(command: Command) -> str | None:
    """The Python file that the submitted job runs, or None."""
    values = command.values
    rest = values[values.index("--") + 1 :] if "--" in values else ()
    return next((v for v in rest if v.endswith(".py")), None)


def module_entry(command: Command) -> str | None:
    """The module that the submitted job runs with `-m`, or None."""
    values = command.values
    rest = values[values.index("--") + 1 :] if "--" in values else ()
    return next((after for before, after in pairwise(rest) if before == "-m"), None)


def runtime_env_insertions(
    text: str, script: Script | None = None, *, ours: Callable[[Command], bool] = lambda command: False
) -> Located:
    """What the runtime environments of the submitted jobs need, as insertions into the script.

    `ours` tells whether a job runs code that the plan covered: then the token is added although no tracker's
    variable is there to stand beside.
    """
    script = script or read_script(text)
    located = Located()
    for command in script.commands:
        if is_submission(command):
            located.add(_submission(text, script, command, ours(command)))
    return located


def runtime_env_files(script: Script) -> list[tuple[Command, str]]:
    """(command, file) of each submission whose runtime environment is a file: `--runtime-env env.yaml`."""
    found = []
    for command in script.commands:
        if is_submission(command):
            for word in _option_values(command, _FILE_OPTION):
                found.append((command, word[1]))
    return found


def _option_values(command: Command, option: re.Pattern[str]) -> Iterator[tuple[Word, str, int]]:
    """(word, value, offset of the value in the flattened word) of an option in its two spellings."""
    words = command.words
    for i, word in enumerate(words):
        match = option.match(word.value)
        if word.value == "--":
            return
        if match and match[1]:
            yield word, word.value[match.end() :], match.end()
        elif match and i + 1 < len(words):
            yield words[i + 1], words[i + 1].value, 0


def _submission(text: str, script: Script, command: Command, wanted: bool) -> Located:
    located = Located()
    options = list(_option_values(command, _OPTION))
    for word, value, at in options:
        # "$X" or "${X}" whole: the JSON is where X is assigned.
        name = re.search(r'=?"?\$\{?(\w+)\}?"?\Z', word.raw)
        whole = value == "\ufffc" and name is not None
        targets: list[tuple[Word, int]] = [(word, at)]
        if whole and name is not None:
            targets = [(a.value, 0) for a in script.assigned(name[1]) if a.value is not None]
        found = Located()
        for target, offset in targets:
            found.add(_in_word(text, target, offset, wanted))
        if not found.anything and (wanted or _mentions_tracker(text, targets)):
            found.left.append(_left(command.start))
        located.add(found)
    if not options and wanted and not list(_option_values(command, _FILE_OPTION)):
        located.add(_new_option(text, command))
    if command.doubtful and located.insertions:
        located.insertions.clear()
        located.left.append(_left(command.start))
    return located


def _new_option(text: str, command: Command) -> Located:
    """`--runtime-env-json` for a submission that has no runtime environment at all, in front of its `--`."""
    end = next((word for word in command.words if word.value == "--"), None)
    if end is None:
        return Located(left=[_left(command.start)])
    option = f"""--runtime-env-json='{{"env_vars": {{"{TOKEN}": "{expansion_of(TOKEN, "'")}"}}}}'"""
    start = text.rfind("\n", 0, end.start) + 1
    lead = text[start : end.start]
    if not lead.strip() and text[:start].rstrip("\r\n").endswith("\\"):
        option += " \\" + text[len(text[:start].rstrip("\r\n")) : start] + lead
    else:
        option += " "
    what = f"hands {TOKEN} to the job, which gets nothing of this environment by itself"
    return Located([Insertion(end.start, option, what)])


def _mentions_tracker(text: str, targets: list[tuple[Word, int]]) -> bool:
    return any("WANDB" in word.raw for word, _ in targets)


def _left(offset: int) -> Left:
    return Left(
        offset,
        "token-not-forwarded",
        f"a Ray job is submitted whose environment can't be completed here: {TOKEN} does not reach it",
        f'add "{TOKEN}" to the env_vars of its runtime environment',
    )


def _in_word(text: str, word: Word, offset: int, wanted: bool) -> Located:
    root = read_json(word.value, offset)
    if root is None:
        return Located()
    located = runtime_env(Place.of(word), root, wanted=wanted)
    if located.insertions and not _proved(text, word, offset, located.insertions):
        at = located.insertions[0].offset
        return Located(left=[_left(at)])
    return located


def _proved(text: str, word: Word, offset: int, insertions: list[Insertion]) -> bool:
    """The word, flattened again with the insertions in it, is still one word and still JSON."""
    own = [i for i in insertions if word.start <= i.offset <= word.end]
    changed = inserted(text, own)
    grown = sum(len(i.text) for i in own)
    again = read_script(changed)
    span = (word.start, word.end + grown)
    words = [w for c in again.commands for w in c.words] + [a.value for a in again.assignments if a.value]
    after = next((w for w in words if (w.start, w.end) == span), None)
    return after is not None and still_json(word.value[offset:], after.value[offset:])
