"""Makefile and Dockerfile text made readable for the shell grammar: same length, so offsets are the file's own."""

from __future__ import annotations

import re

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


def is_makefile(path: str) -> bool:
    """Whether a file is one for make, by its name."""
    return bool(re.fullmatch(r"(GNU)?[Mm]akefile(\.\w+)?|.*\.mk", path.rsplit("/", 1)[-1]))


def recipes(text: str) -> str:
    """A Makefile with everything but its recipe lines blanked and make's own `$` forms turned into plain words.

    `$(PY)` and `${PY}` become a word that keeps the letters; `$$` (a dollar for the shell) becomes `_$`.
    """
    out: list[str] = []
    continued = ""
    for match in _LINE.finditer(text):
        line = match[0]
        is_recipe = line.startswith("\t") if not continued else continued == "recipe"
        body = line.rstrip("\r\n")
        if is_recipe:
            shown = line
            if not continued:
                shown = re.sub(r"^\t[ \t]*[@+-]+", lambda m: re.sub(r"[@+-]", " ", m[0]), shown)
            out.append(_without_make(shown))
        else:
            out.append(_blank(line))
        # Continuations matter for both: a variable's definition may look like a recipe on its second line.
        continued = ("recipe" if is_recipe else "other") if body.endswith("\\") else ""
    return "".join(out)


_DEFINE = re.compile(r"[ ]*(?:override |export )*define\b")
_VARIABLE = re.compile(r"[ ]*(?:override |export )*[\w.-]+\s*[:?+!]{0,3}=")


def variables(text: str) -> list[tuple[int, int]]:
    """Where the variables of a Makefile are defined, their continued lines and all up to `endef` included."""
    spans: list[tuple[int, int]] = []
    inside, begun = "", 0
    for match in _LINE.finditer(text):
        body = match[0].rstrip("\r\n")
        if not inside:
            inside = "define" if _DEFINE.match(body) else "line" if _VARIABLE.match(body) else ""
            begun = match.start()
        if (inside == "define" and body.strip() == "endef") or (inside == "line" and not body.endswith("\\")):
            spans.append((begun, match.start() + len(body)))
            inside = ""
    return spans


def _without_make(line: str) -> str:
    line = line.replace("$$", "_$")
    line = re.sub(r"(?<!_)\$[({]([\w.-]*)[)}]", lambda m: "__" + m[1] + "_", line)
    return re.sub(r"(?<!_)\$\(", "__", line)


def _blank(line: str) -> str:
    return re.sub(r"[^\r\n]", " ", line)


def _continued(line: str) -> str:
    """A line that goes on with CRLF, as the shell grammar knows it: the same length, the backslash last."""
    return re.sub(r"\\[ \t]*\r\n\Z", lambda m: " " * (len(m[0]) - 2) + "\\\n", line)


def run_instructions(text: str) -> str:
    """A Dockerfile with everything but the shell text of its RUN instructions blanked.

    Comment lines inside a continued instruction become continued blank lines: Docker takes them out.
    Instructions with a heredoc and those in JSON form are left out.
    """
    out: list[str] = []
    inside = False
    heredoc: str | None = None
    for match in _LINE.finditer(text):
        line = match[0]
        body = line.rstrip("\r\n")
        if heredoc is not None:
            if body.strip() == heredoc:
                heredoc = None
            out.append(_blank(line))
            continue
        if inside and body.lstrip().startswith("#"):
            out.append(_continued(" " * (len(body) - 1) + "\\" + line[len(body) :]))
            continue
        if inside and not body.strip():
            out.append(" " * len(line))
            continue
        start = re.match(r"\s*(?:ONBUILD\s+)?RUN\s+(?:--\w+=\S+\s+)*", line, re.IGNORECASE)
        if not inside and not start:
            out.append(_blank(line))
            continue
        shown = line
        if not inside and start:
            rest = body[start.end() :]
            here = re.match(r"[^#'\"]*<<-?\s*[\"']?(\w+)", rest)
            if here or rest.lstrip().startswith("["):
                heredoc = here[1] if here else None
                out.append(_blank(line))
                continue
            shown = _blank(line[: start.end()]) + line[start.end() :]
        inside = body.rstrip().endswith("\\")
        out.append(_continued(shown) if inside else shown)
    return "".join(out)
