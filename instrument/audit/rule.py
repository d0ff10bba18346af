"""What an audit rule is, what it finds, and how the rules are found.

One file below `rules/` is one rule: a docstring that says what it looks for, and an object `RULE`. Nothing else has to
be registered.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from instrument.errors import InstrumentError
from instrument.plan.edits import Applicability, Edit, NewFile

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place where a metric can't be read as it is meant. Lines and columns count from 1, columns in characters."""

    path: str
    line: int
    column: int
    code: str
    #: One sentence: what is wrong here, with the names that stand there.
    message: str
    #: Last line of what was found; a `noqa` comment on any line from `line` on counts.
    end_line: int = 0
    #: How sure a fix is, where there is one.
    applicability: Applicability | None = None
    edits: tuple[Edit, ...] = ()
    new_files: tuple[NewFile, ...] = ()
    #: For fixes, never shown: the file, the node that was found, and facts of the rule's own.
    module: Module | None = field(default=None, compare=False, repr=False)
    node: ast.AST | None = field(default=None, compare=False, repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRule:
    """One rule. `check` yields findings; it is called once for a repository, and only where a file has a needle."""

    #: "PI101"; the first number of the file's name.
    code: str
    #: Kebab-case, for people: "axis-not-declared".
    name: str
    #: One sentence: what is found.
    summary: str
    #: Why that makes a chart lie: a paragraph.
    why: str
    #: The same few lines as they should not be, and as they should.
    bad: str
    good: str
    #: What `--fix` does about it, or "" where a person must.
    fix: str = ""
    #: How sure that fix is; a finding may say otherwise.
    applicability: Applicability | None = None
    needles: tuple[bytes, ...]
    check: Callable[[AuditContext], Iterable[Finding]]


@cache
def all_rules() -> tuple[AuditRule, ...]:
    """Every rule below `rules/`, by code."""
    parent = importlib.import_module("instrument.audit.rules")
    rules = [
        importlib.import_module(f"{parent.__name__}.{info.name}").RULE
        for info in pkgutil.iter_modules(parent.__path__)
        if not info.name.startswith("_")
    ]
    return tuple(sorted(rules, key=lambda rule: str(rule.code)))


def rule_of(code: str) -> AuditRule:
    """The rule of a code or name, whatever the case. Raises InstrumentError where there is none."""
    for rule in all_rules():
        if code.strip().casefold() in (rule.code.casefold(), rule.name.casefold()):
            return rule
    known = ", ".join(rule.code for rule in all_rules())
    raise InstrumentError(f"there is no audit rule «{code}»", hint=f"there are: {known}", code="unknown-rule")


def expanded(codes: Iterable[str]) -> frozenset[str]:
    """The codes that a list of codes, names or beginnings of codes (`PI1`) means. Raises InstrumentError for others."""
    found: set[str] = set()
    for code in codes:
        begun = [r.code for r in all_rules() if r.code.startswith(code.strip().upper())] if code.strip() else []
        found.update(begun or [rule_of(code).code])
    return frozenset(found)
