"""Dockerfiles and Containerfiles whose RUN instructions install the tracker. No layer is added; no token goes in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._make import run_instructions
from instrument.launch._names import PACKAGE
from instrument.launch._pip import install_insertions
from instrument.launch._text import Left, Located
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    base = path.rsplit("/", 1)[-1]
    return bool(re.fullmatch(r"(Docker|Container)file.*|.*\.([Dd]ocker|[Cc]ontainer)file", base)) and not base.endswith(
        (".dockerignore", ".md", ".py", ".sh")
    )


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install commands of the RUN instructions."""
    if re.match(r"\s*#\s*escape\s*=\s*`", source.text, re.IGNORECASE):
        return Located()  # a Windows image: its continuations are not the shell's
    located = install_insertions(run_instructions(source.text), names)
    if not located.anything:
        located.left += _other_forms(source.text, names)
    if source.newline == "\r\n":
        located.insertions = [i._replace(text=i.text.replace("\n", "\r\n")) for i in located.insertions]
    return located


#: Instructions whose text is no shell line: their JSON form, and heredocs.
_JSON_FORM = re.compile(r"(?m)^\s*RUN\s+\[[^\n]*install[^\n]*")
_HEREDOC = re.compile(r"(?ms)^\s*RUN\s[^\n]*<<-?\s*[\"']?(\w+)[\"']?[^\n]*\n(.*?)^\s*\1\s*$")


def _other_forms(text: str, names: Sequence[str]) -> list[Left]:
    """Questions for installs that are left alone."""
    found = [*_JSON_FORM.finditer(text), *(m for m in _HEREDOC.finditer(text) if "install" in m[2])]
    what = f"the tracker is installed here, in a form that is not changed by a tool, and {PACKAGE} is not"
    return [
        Left(match.start(), "install-by-hand", what, f"add {PACKAGE} beside it")
        for match in found
        if PACKAGE not in match[0]
        and any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", match[0]) for name in names)
    ][:1]


KIND = DependencyKind("dockerfile", _matches, locate, declares=False, needles=(b"RUN ", b"run "))
RULE = dependency_rule(KIND, "Dockerfile RUN instructions")
