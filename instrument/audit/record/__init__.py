"""What is judged in a record: the rules of `instrument audit --record`, one file a rule.

A module here with an object `CHECK` is a rule; nothing else has to be registered. Where a rule of the code has the same
subject, its code is used (PI101 to PI199); what only a record shows has a code of its own (PI2xx).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from instrument.audit.record._recorded import Recorded, read
from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.audit.record._report import Judged
    from instrument.commands._common import Ask

#: A note is told and changes no exit code: what is seen may well be meant.
Level = Literal["warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One thing that a record shows."""

    code: str
    #: One sentence: what is there, with numbers, and what it does to the charts.
    message: str
    #: The keys it is about, in the order they were first logged.
    keys: tuple[str, ...] = ()
    #: How many points (or keys, or runs) show it.
    count: int = 0
    level: Level = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule: its code, its title, why it matters (for `instrument rule CODE`), and how a run is judged by it."""

    code: str
    title: str
    why: str
    #: What a run shows. Raises nothing for odd values.
    see: Callable[[Recorded], Iterable[Seen]]
    #: What several runs of one record show together.
    see_all: Callable[[list[Recorded]], Iterable[tuple[Recorded, Seen]]] | None = None


@cache
def all_checks() -> tuple[Check, ...]:
    """Every rule of this package, by its code."""
    found: list[Check] = []
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            found.append(importlib.import_module(f"{__name__}.{info.name}").CHECK)
    return tuple(sorted(found, key=lambda check: (check.code, check.title)))


def page(code: str) -> tuple[str, str, str] | None:
    """(code, title, why) of a rule that only a record shows; None for any other code."""
    wanted = code.strip().upper()
    if wanted == "PI201":
        return wanted, "steps made again after a resume", _AGAIN
    for check in all_checks():
        if check.code == wanted and wanted.startswith("PI2"):
            return check.code, check.title, check.why
    return None


_AGAIN = (
    "A run that is resumed from a checkpoint older than its last step makes some steps again. They carry the numbers they had: "
    "of two points at a step Probe keeps the first. That is no fault, and told as a note."
)


def judge(path: Path, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Judged:
    """What the runs at a path show. Raises InstrumentError where there is no record, or for an unknown code."""
    from instrument.audit.record._report import Judged

    checks = _selected(tuple(select), tuple(ignore))
    wanted = _wanted(tuple(select), tuple(ignore))
    runs = read(path)
    seen = [(run, one) for run in runs for check in checks for one in check.see(run)]
    seen += [pair for check in checks if check.see_all for pair in check.see_all(runs)]
    seen = [(run, one) for run, one in seen if wanted(one.code)]
    seen.sort(key=lambda pair: (runs.index(pair[0]), pair[1].code, pair[1].level != "warning"))
    return Judged(target=str(path), runs=runs, seen=seen, checks=checks)


#: Codes of what one check also sees: its file has another as its own.
_ALSO = ("PI201",)


def _wanted(select: tuple[str, ...], ignore: tuple[str, ...]) -> Callable[[str], bool]:
    def begins(code: str, given: tuple[str, ...]) -> bool:
        return any(code.startswith(one.strip().upper()) for one in given if one.strip())

    return lambda code: (not select or begins(code, select)) and not begins(code, ignore)


def _selected(select: tuple[str, ...], ignore: tuple[str, ...]) -> tuple[Check, ...]:
    from instrument.audit.rule import all_rules

    known = {check.code for check in all_checks()} | set(_ALSO) | {rule.code for rule in all_rules()}
    for given in (*select, *ignore):
        if not any(code.startswith(given.strip().upper()) for code in known):
            raise InstrumentError(
                f"there is no audit rule «{given}»", hint=f"there are: {', '.join(sorted(known))}", code="unknown-rule"
            )
    return all_checks()


def command(ask: Ask, path: Path, *, form: str, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> int:
    """`instrument audit --record`: 1 where something is found, 0 where nothing is. Raises InstrumentError."""
    from instrument.audit.record import _report
    from instrument.commands._common import DONE, FOUND, write_file

    judged = judge(path, select, ignore)
    if form == "json":
        from instrument.report.json import write

        write(_report.document(judged))
    elif form == "sarif":
        write_file(Path("-"), _report.log(judged))
    elif form == "github":
        for line in _report.github(judged):
            ask.out.line(line)
    else:
        _report.write_text(ask.out, judged, quiet=ask.quiet, verbose=ask.verbose)
    return FOUND if judged.found else DONE
