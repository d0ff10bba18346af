"""Where a command line starts something without this environment: `env -i`, `sudo`, `ssh`, a tmux server, another node.

What is handed over there is written out (`WANDB_API_KEY="$WANDB_API_KEY"`), and the token stands beside it in the same
way, as an expansion that may be empty. Commands in quotes (`bash -c "..."`, `sbatch --wrap`, `ssh host "..."`) are read
as the shell that gets them would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from instrument.launch._names import TOKEN, best_variable, is_credential
from instrument.launch._pip import own_line
from instrument.launch._shell import EXPANSION, Command, Script, Word, expansion_of, read_script
from instrument.launch._text import Insertion, Left, Located

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
#: Options of env and sudo that take a value in the next word.
_VALUED = frozenset(
    ("-u", "--unset", "-C", "--chdir", "-g", "--group", "-U", "--user", "-h", "--host", "-p", "-r", "-t")
)
#: Programs whose command in quotes runs in an environment that is not this one.
_ELSEWHERE = frozenset((
    "ssh", "pdsh", "clush", "pssh", "parallel-ssh", "tmux", "gcloud", "docker", "podman", "kubectl", "apptainer",
    "singularity", "enroot",
))  # fmt: skip
#: Programs that take a command in quotes as such.
_TAKE_COMMANDS = frozenset(("eval", "ssh", "pdsh", "clush", "pssh", "parallel-ssh", "tmux", "screen", "parallel"))
_COMMAND_OPTION = re.compile(r"-[a-z]*c|--wrap|--command|--inline")
#: Programs that may name a credential and start nothing with it.
_LOCAL = frozenset((
    "export", "declare", "local", "readonly", "typeset", "set", "unset", "read", "test", "[", "[[", "echo", "printf",
    "cat", "grep", "sed", "awk", "wandb", "source", ".", "env", "sudo", "git", "gh", "aws", "vault", "op", "pass", "tee",
))  # fmt: skip


def what(beside: str) -> str:
    """The sentence for the reviewer."""
    return f"hands {TOKEN} on by name, as {beside} is"


def cleared_insertions(text: str, command: Command) -> Located:
    """Where the token goes among the variables of `env -i A=$A program`, `sudo A=$A program`, `mpiexec -genv A $A`."""
    located = Located()
    words = _assignments(command)
    names = [_name(word) for word in words]
    if TOKEN in names:
        located.present = True
    elif (index := best_variable(names)) is not None:
        lead = own_line(text, words[index], [word for word in command.words if word is not words[index]])
        value = f'{lead}{TOKEN}="{expansion_of(TOKEN, chr(34))}"'
        located.insertions.append(Insertion(words[index].end, value, what(names[index])))
    located.add(_triples(command))
    return located


def _name(word: Word) -> str:
    match = _ASSIGNED.match(word.value)
    return match[1] if match else ""


def clears(command: Command) -> bool:
    """Whether a command starts its program with none of this environment: `env -i`, `sudo` without `-E`."""
    return _cleared(command)[1]


def _assignments(command: Command) -> list[Word]:
    """The `NAME=value` words of an `env` or `sudo` that clears the environment."""
    found, cleared = _cleared(command)
    return found if cleared else []


def _cleared(command: Command) -> tuple[list[Word], bool]:
    found: list[Word] = []
    program, cleared, skip = "", False, False
    for word in command.words:
        value, base = word.value, word.value.rsplit("/", 1)[-1]
        if skip:
            skip = False
        elif base in ("env", "sudo"):
            cleared = cleared or base == "sudo"
            program = base
        elif not program:
            if word is not command.words[0] and len(found) == 0 and command.words.index(word) > 6:
                return [], False
        elif value in _VALUED:
            skip = True
        elif value.startswith("-"):
            if program == "env" and (
                value in ("-", "-i", "--ignore-environment") or re.fullmatch(r"-[a-z]*i[a-z]*", value)
            ):
                cleared = True
            if program == "sudo" and (value == "--preserve-env" or re.fullmatch(r"-[a-zA-Z]*E[a-zA-Z]*", value)):
                cleared = False
        elif _ASSIGNED.match(value):
            found.append(word)
        else:
            break
    return found, cleared


def _triples(command: Command) -> Located:
    """`-genv NAME VALUE` and `-env NAME VALUE` of MPICH and Intel MPI."""
    if not any(value.rsplit("/", 1)[-1] in ("mpirun", "mpiexec", "mpiexec.hydra") for value in command.values[:6]):
        return Located()
    words = command.words
    found = [i for i in range(len(words) - 2) if words[i].value in ("-genv", "-env", "--genv")]
    names = [words[i + 1].value for i in found]
    if TOKEN in names:
        return Located(present=True)
    index = best_variable(names)
    if index is None:
        return Located()
    option, value = words[found[index]], words[found[index] + 2]
    added = f' {option.raw} {TOKEN} "{expansion_of(TOKEN, chr(34))}"'
    return Located([Insertion(value.end, added, what(names[index]))])


def nested_insertions(script: Script, locate: Callable[[str, Script, bool], Located], seen: set[int]) -> Located:
    """What `locate` finds in commands that stand in quotes; its third argument says that they run elsewhere.

    `seen` gets the starts of the words in which something was found.
    """
    located = Located()
    for command in script.commands:
        elsewhere = clears(command) or any(value.rsplit("/", 1)[-1] in _ELSEWHERE for value in command.values[:7])
        for word, at in _quoted(command):
            inner = read_script(word.value[at:])
            if inner.errors:
                continue
            quote = word.chars[at].quote
            found = locate(inner.text, inner, elsewhere and quote == '"')
            if elsewhere and quote == '"':
                found.add(_handed_over(inner))
            if found.anything or not elsewhere:
                seen.add(word.start)
            for item in found.insertions:
                added = " " + item.text.strip(" \t\r\n\\") if "\n" in item.text else item.text
                if quote == '"':
                    added = added.replace('"', '\\"')
                if quote == "'" and "'" in added:
                    continue
                end = at + item.offset
                located.insertions.append(Insertion(word.chars[end - 1].end, added, item.what))
            located.left += [left._replace(offset=word.chars[at + left.offset].start) for left in found.left]
            located.present = located.present or found.present
    return located


def _quoted(command: Command) -> Iterator[tuple[Word, int]]:
    """(word, offset of the command in its value) of the words that a shell runs; whole in one kind of quotes."""
    takes = any(value.rsplit("/", 1)[-1] in _TAKE_COMMANDS for value in command.values[:4])
    for i, word in enumerate(command.words):
        match = re.match(r"--(?:wrap|command)=", word.value)
        at = match.end() if match else 0
        before = command.words[i - 1].value if i else ""
        if not i or not (match or takes or _COMMAND_OPTION.fullmatch(before)):
            continue
        body = word.chars[at:]
        if " " in word.value[at:] and body[0].quote and len({char.quote for char in body}) == 1:
            yield word, at


def _handed_over(inner: Script) -> Located:
    """`export WANDB_API_KEY=$WANDB_API_KEY`, `WANDB_API_KEY=$WANDB_API_KEY python ...`, in a command for elsewhere."""
    if inner.assigned(TOKEN):
        return Located(present=True)
    for assignment in inner.assignments:
        if is_credential(assignment.name) and assignment.value is not None and EXPANSION in assignment.value.value:
            added = f" {TOKEN}={expansion_of(TOKEN, '')}"
            return Located([Insertion(assignment.end, added, what(assignment.name))])
    return Located()


def questions(text: str, script: Script, seen: set[int]) -> Located:
    """Credentials that are handed on in ways that are not changed here; `seen` are the starts of words looked at."""
    located = Located()
    for command in script.commands:
        name = "" if TOKEN in text[command.start : command.end] else _hands_on(command, seen)
        if name:
            located.left.append(asks(command.start, name))
    for heredoc in script.heredocs:
        named = next((m for m in re.finditer(r"\b[A-Z_]+\b", heredoc.body) if is_credential(m[0])), None)
        if named is not None and TOKEN not in heredoc.body and "python" not in heredoc.command:
            located.left.append(asks(heredoc.start + named.start(), named[0], " in a heredoc, which is never edited,"))
    for match in re.finditer(r"(?m)^[ \t]*for[ \t]+\w+[ \t]+in[ \t]+([^;\n]*)", text):
        names = [word for word in match[1].split() if is_credential(word.strip("\"'"))]
        if names and TOKEN not in match[1]:
            located.left.append(asks(match.start(1), names[0]))
    for assignment in script.assignments:
        names = [word.value for word in assignment.elements if is_credential(word.value) and word.start not in seen]
        if names and all(word.value != TOKEN for word in assignment.elements):
            located.left.append(asks(assignment.start, names[0]))
    located.left.sort()
    return located


def _hands_on(command: Command, seen: set[int]) -> str:
    """The credential that a command passes in a word that no other locator looked at, or ""."""
    if command.name in _LOCAL or "build" in command.values[1:3]:
        return ""
    for i, word in enumerate(command.words[1:], 1):
        if word.start in seen:
            continue
        for match in re.finditer(r"(?<!\$)(?<!\{)\b([A-Z_]+)(=|\Z)", word.value):
            before = command.words[i - 1].value + " " + word.value[: match.start()]
            named = match[2] == "=" or re.search(r"env|secret|export", before, re.IGNORECASE)
            if is_credential(match[1]) and named:
                return match[1]
    return ""


def asks(offset: int, name: str, where: str = "") -> Left:
    """The question for a place."""
    return Left(
        offset,
        "token-not-forwarded",
        f"{name} is handed on here{where} and {TOKEN} is not",
        f"hand {TOKEN} on in the same way, by name",
    )
