"""What is done about a finding: the fixes of `instrument audit --fix`, one file a rule.

A module here with an object `FIX` is a fix of the findings of its code; one with a function `whole` is about a framework's
repository as a whole, and finds its places itself. Nothing else has to be registered. A fix is edits, as everywhere: shown,
proved, written and taken back by the same code.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from instrument.plan.edits import Applicability, Edit, NewFile

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.engine import Audit
    from instrument.audit.rule import Finding
    from instrument.commands._common import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """The edits that settle one finding. `safe` changes nothing that a program or a person relies on."""

    edits: tuple[Edit, ...]
    new_files: tuple[NewFile, ...] = ()
    applicability: Applicability


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """The fix of one rule. `make` answers for each finding with its edits, or says why a person must do it."""

    code: str
    make: Callable[[AuditContext, Sequence[Finding]], Iterable[tuple[Finding, Fixed | str]]]


#: Findings of its own, each with its edits.
Whole = Callable[["AuditContext"], Iterable[tuple["Finding", Fixed | str]]]


@cache
def all_fixes() -> tuple[Fix, ...]:
    """Every fix of this package, by code."""
    found = [module.FIX for module in _modules() if hasattr(module, "FIX")]
    return tuple(sorted(found, key=lambda fix: str(fix.code)))


@cache
def all_wholes() -> tuple[Whole, ...]:
    """What is done for a framework's repository as a whole."""
    return tuple(module.whole for module in _modules() if hasattr(module, "whole"))


def _modules() -> list[Any]:
    return [
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    ]


def command(
    ask: Ask, found: Audit, *, form: str, review: bool = False, diff: bool = False, yes: bool = False,
    allow_dirty: bool = False,
) -> int:  # fmt: skip
    """`instrument audit --fix`: shows the fixes, asks, writes. Raises InstrumentError."""
    from instrument.audit.fixes import _command

    return _command.run(ask, found, form=form, review=review, diff=diff, yes=yes, allow_dirty=allow_dirty)
