"""`apply --interactive`: the edits one by one, as `git add --patch` asks for hunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from instrument.plan.choice import Unit, following, part, units
from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.commands._common import Ask
    from instrument.plan.edits import Edit
    from instrument.plan.model import Plan
    from instrument.repo.scan import Repository

_HELP = """\
y  make this edit
n  leave it out
a  make this one and all that follow
d  leave this one out and all that follow
q  stop, and write nothing
?  this help"""


def choose(ask: Ask, plan: Plan) -> tuple[Plan, Callable[[Repository], Plan]] | None:
    """Ask for each edit of a plan. None where the person stops; else the part that was chosen, and how to plan it again
    (without what was left out), which the proofs need.
    """
    repo = ask.repo

    def line_of(edit: Edit) -> int:
        return repo.source(edit.path).line_of(edit.start)

    waiting = units(plan, line_of)
    total, chosen, left_out = len(waiting), list[Unit](), list[Unit]()
    while waiting:
        unit = waiting.pop(0)
        if unit.launch and not any(not one.launch for one in chosen):
            left_out += [unit, *waiting]
            break
        _show(ask, plan, unit, f"{total - len(waiting)} of {total}", line_of(unit.edits[-1]))
        answer = _answer(ask)
        if answer == "q":
            return None
        if answer in ("y", "a"):
            chosen.append(unit)
        else:
            left_out.append(unit)
        if answer == "a":
            chosen += waiting
            break
        if answer == "d":
            left_out += waiting
            break
        if answer == "n":
            falling = following(unit, chosen, waiting)
            if falling:
                ask.out.line(f"left out with it: {plural(len(falling), 'edit')} that would have no run", "yellow")
                left_out += falling
                waiting = [one for one in waiting if one not in falling]
    signatures = {unit.signature for unit in left_out} - {unit.signature for unit in chosen}
    again = {unit.signature for unit in left_out}

    def replan(repository: Repository) -> Plan:
        fresh = ask.replan(repository)
        return part(fresh, again, lambda edit: repository.source(edit.path).line_of(edit.start))

    if signatures == again:
        return part(plan, again, line_of), replan
    # Edits with the same text, of which some were chosen: those that were not are taken out by their place.
    out = {id(edit) for unit in left_out for edit in unit.edits}
    some = replace(plan, edits=[edit for edit in plan.edits if id(edit) not in out])
    return part(some, signatures, line_of), replan


def _show(ask: Ask, plan: Plan, unit: Unit, number: str, line: int) -> None:
    from instrument.patch.diff import changes, patch

    ask.out.line()
    ask.out.line(f"{shown(unit.path)}:{line} ({number}, {unit.applicability}): {unit.reason}", "bold")
    alone = replace(plan, edits=unit.edits, new_files=[])
    for text in patch(changes(ask.repo, alone)).decode("utf-8", "surrogateescape").splitlines():
        if not text.startswith(("diff --git ", "index ", "--- ", "+++ ")):
            ask.out.line(shown(text, keep="\t"), {"+": "green", "-": "red", "@": "cyan"}.get(text[:1], ""))


def _answer(ask: Ask) -> str:
    """One of y, n, a, d, q; the end of input and an interrupt stop, as q does."""
    while True:
        ask.out.console.print("Make this edit? [y,n,a,d,q,?] ", end="", markup=False, highlight=False)
        ask.out.stream.flush()
        try:
            given = input().strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            ask.out.line()
            return "q"
        if given and given in "yndaq":
            return given
        for text in _HELP.splitlines():
            ask.out.line(text)
