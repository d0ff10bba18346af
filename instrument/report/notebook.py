"""What a notebook shows of a plan: one object, the patch as text and a highlighted diff as HTML."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from instrument import resources
from instrument.report.text import shown

Mood = Literal["", "warn", "done"]

#: Lines of context around a change.
CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence for the person."""

    text: str
    mood: Mood = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """A text before and after; `before` is "" for a new file."""

    title: str
    before: str
    after: str
    python: bool = True


@dataclass(slots=True)
class View:
    """Displayed by IPython: `text/plain` is the sentences as comments and the patch, `text/html` the page part."""

    said: list[Said] = field(default_factory=list)
    diffs: list[Diff] = field(default_factory=list)
    #: The patch as text, where there is a better one than that of `diffs`.
    patch: str | None = None
    #: HTML made elsewhere (and escaped there), below everything.
    more_html: str = ""

    def say(self, text: str, mood: Mood = "") -> None:
        """Add a sentence; what a terminal or a page would act on in it is escaped."""
        said = Said(shown(text), mood)
        if said not in self.said:
            self.said.append(said)

    def __repr__(self) -> str:
        text = "".join(f"# {said.text}\n" for said in self.said)
        patch = self.patch if self.patch is not None else "".join(_unified(diff) for diff in self.diffs)
        lines = [shown(line.rstrip("\r"), keep="\t") for line in patch.split("\n")]
        return (text + "\n".join(lines)).rstrip("\n")

    def _repr_html_(self) -> str:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        environment = Environment(
            loader=FileSystemLoader(resources.folder("templates")),
            undefined=StrictUndefined,
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        diffs = [{"title": shown(diff.title), "rows": list(rows(diff))} for diff in self.diffs]
        return environment.get_template("magic.html.jinja").render(view=self, diffs=diffs) + self.more_html

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _unified(diff: Diff) -> str:
    before, after = diff.before.split("\n"), diff.after.split("\n")
    if not diff.before:
        before = []
    found = difflib.unified_diff(before, after, diff.title, f"{diff.title} with Probe", lineterm="", n=CONTEXT)
    return "".join(line + "\n" for line in found)


def rows(diff: Diff) -> Iterator[dict[str, Any]]:
    """The lines of a diff for the page: how each is marked, and its parts as (kind of token, text)."""
    old, new = _highlighted(diff.before, diff.python), _highlighted(diff.after, diff.python)
    before, after = diff.before.split("\n"), diff.after.split("\n")
    if not diff.before:
        old, before = [], []
    for number, group in enumerate(difflib.SequenceMatcher(None, before, after, False).get_grouped_opcodes(CONTEXT)):
        first = group[0]
        if number or first[1] or first[3]:
            yield {"kind": "gap", "mark": "", "parts": [("", f"@@ line {first[1] + 1} @@")]}
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                yield from ({"kind": "same", "mark": "  ", "parts": parts} for parts in old[i1:i2])
                continue
            yield from ({"kind": "del", "mark": "- ", "parts": parts} for parts in old[i1:i2])
            yield from ({"kind": "add", "mark": "+ ", "parts": parts} for parts in new[j1:j2])


def _highlighted(text: str, python: bool) -> list[list[tuple[str, str]]]:
    """Each line as parts of one colour."""
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, part in _tokens(text) if python else [("", text)]:
        for n, piece in enumerate(part.split("\n")):
            if n:
                lines.append([])
            if piece:
                lines[-1].append((kind, shown(piece.rstrip("\r"), keep="\t")))
    return lines


def _tokens(text: str) -> Sequence[tuple[str, str]]:
    try:
        from pygments.lexers.python import PythonLexer
        from pygments.token import Comment, Keyword, Name, Number, Operator, String
    except ImportError:  # IPython has it, a bare installation has not
        return [("", text)]
    kinds = [
        (Comment, "c"), (Keyword, "k"), (Operator.Word, "k"), (String, "s"), (Number, "n"),
        (Name.Function, "d"), (Name.Class, "d"), (Name.Decorator, "d"),
    ]  # fmt: skip
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    found = [(next((kind for of, kind in kinds if token in of), ""), part) for token, part in lexer.get_tokens(text)]
    # pygments makes "\r\n" and "\r" one "\n"; where that changed the number of lines, colours are not worth it.
    same = "".join(part for _, part in found).count("\n") == text.count("\n")
    return found if same else [("", text)]
