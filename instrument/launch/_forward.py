"""Variables handed over on command lines: `docker run -e NAME`, `srun --export=A,B`, `apptainer --env A=$A`, ...

The token is handed over by name, beside the tracker's own variable and in its style. Where a launcher would fail for
a variable that is not set (SkyPilot), or can't look it up by name, it is written as an expansion that may be empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from instrument.launch._cleared import cleared_insertions, nested_insertions, questions, what
from instrument.launch._names import TOKEN, best_variable
from instrument.launch._pip import own_line
from instrument.launch._shell import EXPANSION, Assignment, Command, Script, Word, expansion_of, read_script
from instrument.launch._text import Insertion, Left, Located, line_around, newline_at

#: Programs that take one variable an option, and the options. A name alone means: as it is here, if it is set.
_EACH: dict[str, tuple[str, ...]] = {
    "docker": ("-e", "--env"),
    "podman": ("-e", "--env"),
    "nerdctl": ("-e", "--env"),
    "nvidia-docker": ("-e", "--env"),
    "enroot": ("-e", "--env"),
    "mpirun": ("-x",),
    "mpiexec": ("-x",),
    "orterun": ("-x",),
    "parallel": ("--env",),
}
#: The same, but a name alone fails when the variable is not set, or is not known: always NAME=VALUE.
_EACH_VALUE: dict[str, tuple[str, ...]] = {
    "sky": ("--env", "--secret"),
    "kubectl": ("--env", "--from-literal"),
    "runai": ("-e", "--environment"),
    "tmux": ("-e",),
}
#: Programs with one option that takes a comma-separated list of names or NAME=VALUE.
_LISTS: dict[str, tuple[str, ...]] = {
    "sbatch": ("--export",),
    "srun": ("--export", "--container-env"),
    "salloc": ("--export",),
    "sudo": ("--preserve-env",),
    "qsub": ("-v",),
    "bsub": ("-env",),
    "mpirun": ("-envlist", "-genvlist", "--envlist", "--genvlist"),
    "mpiexec": ("-envlist", "-genvlist", "--envlist", "--genvlist"),
    "apptainer": ("--env",),
    "singularity": ("--env",),
}
_NAME = re.compile(r"[A-Za-z_]\w*")


def forward_insertions(text: str, script: Script | None = None) -> Located:
    """Where the token goes in the commands, argument arrays and Slurm directives of a shell text."""
    script = script or read_script(text)
    seen: set[int] = set()
    located = _located(text, script, False, seen)
    located.add(questions(text, script, seen))
    return located


def _located(text: str, script: Script, elsewhere: bool, seen: set[int]) -> Located:
    """`elsewhere`: the text is for a shell that has none of this environment. `seen` gets the words looked at."""
    located = Located()
    for command in script.commands:
        found = Located()
        for words, by_value in _option_words(command):
            seen.update(word.start for option in words for word in option[:2])
            found.add(_each(text, words, by_value, elsewhere=elsewhere))
        for word, at in _list_words(command):
            seen.add(word.start)
            for target, start in _assigned_lists(script, word, at):
                found.add(_list(target, start, _sees_values(command)))
        written_out = cleared_insertions(text, command)
        if written_out.anything:
            seen.update(word.start for word in command.words)
        found.add(written_out)
        if command.doubtful and found.insertions:
            found = Located(left=[_left(i.offset) for i in found.insertions])
        located.add(found)
    for assignment in script.assignments:
        if assignment.elements:
            pairs = _pairs(assignment.elements, ("-e", "--env"))
            seen.update(word.start for option in pairs for word in option[:2])
            located.add(_each(text, pairs, False, array=True))
        elif assignment.value is not None:
            located.add(_in_string(assignment.value))
            located.add(_container_variable(text, script, assignment))
    located.add(_directives(text, script))
    located.add(nested_insertions(script, lambda inner, read, there: _located(inner, read, there, set()), seen))
    return located


def _left(offset: int) -> Left:
    return Left(
        offset,
        "token-not-forwarded",
        f"a tracker's variable is handed on here and {TOKEN} is not",
        f"hand {TOKEN} on in the same way",
    )


def _launcher(command: Command, table: dict[str, tuple[str, ...]]) -> tuple[str, int] | None:
    """(program, position) of a launcher of the table among the first words of a command (`sudo`, `srun` in front)."""
    for i, value in enumerate(command.values):
        base = value.rsplit("/", 1)[-1]
        if base in table:
            return base, i
        if i > 6:
            break
    return None


#: One option with a variable: the words it takes (one or two), and the offset of the variable in the last one's value.
_Option = tuple[Word, Word, int]


def _pairs(words: Sequence[Word], options: tuple[str, ...]) -> list[_Option]:
    found: list[_Option] = []
    i = 0
    while i < len(words):
        value = words[i].value
        if value in options and i + 1 < len(words):
            found.append((words[i], words[i + 1], 0))
            i += 2
            continue
        for option in options:
            lead = option + "=" if option.startswith("--") else option
            if value.startswith(lead) and _NAME.match(value, len(lead)) and value != option:
                # `-eNAME` joined is Docker's; `-env` and the like of other programs are no variables of ours.
                found.append((words[i], words[i], len(lead)))
                break
        i += 1
    return found


def _option_words(command: Command) -> Iterator[tuple[list[_Option], bool]]:
    for table, by_value in ((_EACH, False), (_EACH_VALUE, True)):
        launcher = _launcher(command, table)
        if launcher is not None:
            program, at = launcher
            # sudo clears the environment, so that a name alone finds nothing there.
            cleared = at > 0 and command.name == "sudo" and not re.search(r"\s(?:-E|--preserve-env)\b", _raw(command))
            yield _pairs(command.words[at + 1 :], table[program]), by_value or cleared
            return


def _raw(command: Command) -> str:
    return command.words[0].text[command.start : command.end]


def _variable(word: Word, at: int) -> str:
    match = _NAME.match(word.value, at)
    return match[0] if match and word.value[match.end() : match.end() + 1] in ("", "=", ",") else ""


def _each(
    text: str, options: list[_Option], by_value: bool, *, array: bool = False, elsewhere: bool = False
) -> Located:
    names = [_variable(word, at) for _, word, at in options]
    if TOKEN in names:
        return Located(present=True)
    index = best_variable(names)
    if index is None:
        return Located()
    first, word, _ = options[index]
    lead = text[first.start : word.start] if first is not word else _joined(first)
    if "\\" in lead or "\n" in lead:
        lead = text[first.start : first.end] + " "
    value = ""
    if by_value or (elsewhere and EXPANSION in word.value):
        value = '="' + expansion_of(TOKEN, '"') + '"'
    others = [w for pair in options for w in pair[:2] if w is not word]
    start, end = line_around(text, first.start)
    indent = text[start : first.start]
    shares = any(start <= w.start < end for w in others if w is not first)
    if array and not indent.strip() and end >= word.end and not shares:
        # In an array a line break separates; a comment may follow on the line.
        return Located([Insertion(end, newline_at(text, end) + indent + lead + TOKEN + value, what(names[index]))])
    return Located([Insertion(word.end, own_line(text, first, others) + lead + TOKEN + value, what(names[index]))])


def _joined(word: Word) -> str:
    """What stands before the variable in a word that holds option and variable."""
    match = re.match(r"--[\w-]+=|-[a-z]", word.raw)
    return match[0] if match else ""


def _list_words(command: Command) -> Iterator[tuple[Word, int]]:
    """(word, offset of the list in its value) of the options that take a list."""
    launcher = _launcher(command, _LISTS)
    if launcher is None:
        return
    program, at = launcher
    words = command.words[at + 1 :]
    for i, word in enumerate(words):
        for option in _LISTS[program]:
            if word.value == option and i + 1 < len(words):
                yield words[i + 1], 0
            elif word.value.startswith(option + "="):
                yield word, len(option) + 1


def _assigned_lists(script: Script, word: Word, at: int) -> Iterator[tuple[Word, int]]:
    """The list itself, or where it is assigned: `--export="$VARS"`."""
    name = re.fullmatch(r"\$\{?(\w+)\}?", word.raw[word.raw.find("$") :].rstrip('"'))
    if word.value[at:] == EXPANSION and name is not None:
        yield from ((a.value, 0) for a in script.assigned(name[1]) if a.value is not None)
    else:
        yield word, at


def _sees_values(command: Command) -> bool:
    """Whether each element has to be NAME=VALUE."""
    return _launcher(command, {"apptainer": (), "singularity": ()}) is not None


def _list(word: Word, at: int, by_value: bool) -> Located:
    located = Located()
    elements: list[tuple[int, int]] = []
    start = at
    for element in word.value[at:].split(","):
        elements.append((start, start + len(element)))
        start += len(element) + 1
    names = [_variable(word, s) for s, _ in elements]
    if TOKEN in names or "ALL" in names or word.value[at:].strip().lower() in ("all", "none", "nil"):
        located.present = TOKEN in names
        return located
    index = best_variable(names)
    if index is None:
        return located
    start, end = elements[index]
    last = word.chars[end - 1]
    if last.quote and not word.chars[start].quote:
        # Only the value is in quotes: after them.
        return Located(
            [
                Insertion(
                    last.end + 1, f",{TOKEN}" + (f"={expansion_of(TOKEN, '')}" if by_value else ""), what(names[index])
                )
            ]
        )
    # An expansion as the last character: its quotes are closed by what follows it in the word.
    value = "=" + expansion_of(TOKEN, last.quote) if by_value else ""
    located.insertions.append(Insertion(last.end, f",{TOKEN}{value}", what(names[index])))
    return located


_IN_STRING = re.compile(r"(?:^|(?<=\s))(-e |--env |--env=|-e)([A-Z_]+)(=[^\s\"'\\]*)?(?=\s|$)")


def _in_string(word: Word) -> Located:
    """`OPTS="-e WANDB_API_KEY -v a:b"`: a string of options, split where it is used."""
    if word.raw[:1] not in "'\"" or "-e" not in word.value:
        return Located()
    matches = list(_IN_STRING.finditer(word.value))
    names = [m[2] for m in matches]
    if TOKEN in names:
        return Located(present=True)
    index = best_variable(names)
    if index is None or len({c.quote for c in word.chars}) != 1:
        return Located()
    match = matches[index]
    return Located([Insertion(word.chars[match.end() - 1].end, f" {match[1]}{TOKEN}", what(names[index]))])


def _container_variable(text: str, script: Script, assignment: Assignment) -> Located:
    """`export SINGULARITYENV_WANDB_API_KEY=...`: the line again for the token."""
    match = re.fullmatch(r"((?:SINGULARITY|APPTAINER)ENV_)(\w+)", assignment.name)
    if not match or best_variable([match[2]]) is None or "KEY" not in match[2]:
        return Located()
    if script.assigned(match[1] + TOKEN):
        return Located(present=True)
    start, end = line_around(text, assignment.start)
    line = text[start:end]
    lead = re.fullmatch(r"([ \t]*(?:export[ \t]+)?)", text[start : assignment.start])
    if lead is None or line.rstrip().endswith("\\") or text[assignment.end : end].strip(" ;\t"):
        return Located(left=[_left(assignment.start)])
    added = f'{newline_at(text, end)}{lead[1]}{match[1]}{TOKEN}="{expansion_of(TOKEN, chr(34))}"'
    return Located([Insertion(end, added, what(assignment.name))])


_DIRECTIVE = re.compile(r"#(?:SBATCH|PBS)\s+(?:--export[= ]|-v\s+)(?P<list>[^\s#]+)")


def _directives(text: str, script: Script) -> Located:
    """`#SBATCH --export=WANDB_API_KEY,HOME`: the list in the directive's own line."""
    located = Located()
    for start, end in script.comments:
        match = _DIRECTIVE.match(text, start, end)
        if not match:
            continue
        elements = match["list"].split(",")
        names = [e.split("=")[0] for e in elements]
        if TOKEN in names or "ALL" in names or "$" in match["list"]:
            located.present = located.present or TOKEN in names
            continue
        index = best_variable(names)
        if index is not None:
            offset = match.start("list") + len(",".join(elements[: index + 1]))
            located.insertions.append(Insertion(offset, f",{TOKEN}", what(names[index])))
    return located
