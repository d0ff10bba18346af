"""Scripts and data files: the result still loads, and holds what the original held."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from instrument.errors import SourceError
from instrument.repo.source import Source

_SHELL = re.compile(r".*\.(sh|bash|slurm|sbatch|pbs)")
_SHEBANG = re.compile(rb"#![^\n]*\b(ba)?sh\b")
_REQUIREMENTS = re.compile(r"(.*/)?[^/]*(requirements|constraints)[^/]*\.(txt|in)|(.*/)?requirements/[^/]*\.(txt|in)")


class _Unloadable(Exception):
    """A file that its own format's library does not take."""


def check_format(before: Source | None, after: Source) -> str | None:
    """Why a result is broken although the original was not, as a sentence; None if it is fine or can't be told."""
    path = str(after.path)
    if _SHELL.fullmatch(path) or _SHEBANG.match(after.data):
        if (before is None or _shell_problem(before.data) is None) and (problem := _shell_problem(after.data)):
            return f"the result is no script that bash takes: {problem}"
        return None
    if _REQUIREMENTS.fullmatch(path) and before is not None:
        # A last line without an end gets one as the file has it: CRLF is no part of what it says.
        old, new = ([line.rstrip("\r") for line in source.text.split("\n")] for source in (before, after))
        return None if _subsequence(old, new, _equal) else _LOST
    load = _LOADERS.get(os.path.splitext(path)[1])
    if load is None:
        return None
    held = None
    if before is not None:
        try:
            held = load(before.text)
        except (_Unloadable, SourceError):
            return None
    try:
        holds = load(after.text)
    except _Unloadable as error:
        return f"the result does not load any more: {error}"
    if before is not None and not _Kept().kept(held, holds):
        return "the result does not hold what the original held"
    return None


_LOST = "the result does not have every line of the original"


def _shell_problem(data: bytes) -> str | None:
    """What `bash -n` says, which reads and runs nothing (BASH_ENV is not passed on); None where there is no bash."""
    bash = shutil.which("bash")
    if bash is None:
        return None
    command = [bash, "--norc", "--noprofile", "-n", "/dev/stdin"]
    try:
        done = subprocess.run(command, input=data, capture_output=True, env={"LC_ALL": "C"}, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return None
    return done.stderr.decode("utf-8", "replace").strip().replace("/dev/stdin: ", "").split("\n")[0]


def _yaml(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return list(YAML(typ="safe", pure=True).load_all(text))
    except (YAMLError, ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise _Unloadable(str(error).split("\n")[0]) from None


def _toml(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise _Unloadable(str(error)) from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _Unloadable(str(error)) from None


_LOADERS: dict[str, Callable[[str], Any]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".toml": _toml,
    ".json": _json,
}


class _Kept:
    """Whether a document has grown: every key, element and character of the old one is in the new one, in order."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}  # anchors make one object part of many

    def kept(self, old: Any, new: Any) -> bool:
        key = (id(old), id(new))
        if key not in self._known:
            self._known[key] = True
            self._known[key] = self._compare(old, new)
        return self._known[key]

    def _compare(self, old: Any, new: Any) -> bool:
        if isinstance(old, dict) and isinstance(new, dict):
            return all(name in new and self.kept(value, new[name]) for name, value in old.items())
        if isinstance(old, list) and isinstance(new, list):
            return _subsequence(old, new, self.kept)
        if isinstance(old, str) and isinstance(new, str):
            return old == new or _subsequence(list(old), list(new), _equal)
        if old is None:
            return True  # a key without a value may get one
        return type(old) is type(new) and (old == new or old != old)


def _equal(one: Any, two: Any) -> bool:
    return bool(one == two)


def _subsequence(old: list[Any], new: list[Any], same: Callable[[Any, Any], bool]) -> bool:
    rest = iter(new)
    return all(any(same(item, other) for other in rest) for item in old)
