"""The rule of one YAML dialect."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, readable, record
from instrument.launch._names import NEEDLES, TOKEN
from instrument.launch._text import Located, asked, inserted, stable
from instrument.launch._yaml import documents
from instrument.launch._yaml_env import Dialect, env_insertions
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context


def yaml_rule(name: str, title: str, dialect: Dialect, after: str = "") -> Rule:
    """A rule that hands the token on in YAML files of a dialect. `after` is what a person then does, for a note."""

    def _locate(path: str, text: str) -> Located:
        return env_insertions(path, text, lambda found: found == dialect)

    def plan(ctx: Context) -> None:
        if not covered(ctx):
            return
        for path in ctx.repo.having(*NEEDLES, suffixes=(".yaml", ".yml")):
            source = readable(ctx, path)
            if source is None:
                continue
            locate = partial(_locate, path)
            located = stable(source.text, locate(source.text), locate)
            if not _proved(source.text, located):
                located = asked(located)
            record(ctx, name, path, located)
            if located.insertions and after:
                line = source.line_of(located.insertions[0].offset)
                ctx.note("info", "give-the-token", after, path=path, line=line)

    return Rule(name=name, title=title, needles=NEEDLES, plan=plan, order=ORDER + 10)


def _proved(text: str, located: Located) -> bool:
    """The result loads, with as many documents, and names the token."""
    if not located.insertions:
        return True
    before, after = documents(text), documents(inserted(text, located.insertions))
    return len(before) == len(after) and TOKEN in inserted(text, located.insertions)
