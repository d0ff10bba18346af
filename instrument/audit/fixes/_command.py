"""`instrument audit --fix`: the fixes as a diff, asked for and written; what is left to a person, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from instrument.audit import engine
from instrument.audit.fixes._settle import Settled, settle
from instrument.commands._common import DONE, FOUND, Ask
from instrument.report.text import plural

if TYPE_CHECKING:
    from instrument.plan.model import Plan
    from instrument.repo.scan import Repository

SCHEMA = "instrument.audit-fix/1"


def run(ask: Ask, found: engine.Audit, *, form: str, review: bool, diff: bool, yes: bool, allow_dirty: bool) -> int:
    """0 where everything that may be fixed is; 1 where something is to do and was not written. Raises InstrumentError."""
    from instrument.commands.apply import _refuse_dirty
    from instrument.patch.diff import changes, git_prefix, patch
    from instrument.patch.proofs import prove
    from instrument.patch.write import apply as write

    settled = settle(found, review=review)
    repo, plan = ask.repo, settled.plan
    if plan.empty:
        if diff and form != "json":
            _show(ask, settled, form, b"")
        else:
            _tell(ask, settled, form, "clean", b"")
        return FOUND if settled.left else DONE
    prove(repo, plan, _again(found, settled, review))
    text = patch(changes(repo, plan), git_prefix(repo))
    if diff:
        _show(ask, settled, form, text)
        return DONE
    if not allow_dirty:
        _refuse_dirty(repo, plan)
    if not yes:
        _tell(ask, settled, form, "found", text)
        if not ask.interactive or form == "json":
            ask.err.line()
            ask.err.line("nothing was written: there is no terminal to ask on; --yes writes it", "yellow")
            return FOUND
        ask.out.line()
        ask.out.patch(text)
        ask.out.line()
        if not ask.out.ask("Write this?"):
            ask.out.line("nothing was written")
            return FOUND
        write(repo, plan)
        ask.out.line(f"{plural(len({edit.path for edit in plan.edits}), 'file')} written", "green")
        return FOUND if settled.left else DONE
    write(repo, plan)
    _tell(ask, settled, form, "done", text)
    return FOUND if settled.left else DONE


def _again(found: engine.Audit, settled: Settled, review: bool) -> Callable[[Repository], Plan]:
    """Fixing again, for the proof that nothing is left to do; what waits for the next time does not count."""
    from instrument.audit.fixes._settle import CONFLICT

    waiting = {(finding.path, finding.code) for finding, why in settled.left if why == CONFLICT}

    def replan(repo: Repository) -> Plan:
        assert found.context is not None
        again = settle(engine.audit(repo, found.context.settings), review=review)
        plan = again.plan
        plan.edits = [edit for edit in plan.edits if (edit.path, edit.rule) not in waiting]
        return plan

    return replan


def _show(ask: Ask, settled: Settled, form: str, text: bytes) -> None:
    """Only the patch goes to standard output."""
    if form == "json":
        _tell(ask, settled, form, "found", text)
        return
    if not ask.quiet:
        _lines(ask.err, settled, done=False)
        ask.err.line()
    if ask.out.is_terminal or ask.color == "always":
        ask.out.patch(text)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def _tell(ask: Ask, settled: Settled, form: str, outcome: str, text: bytes) -> None:
    if form == "json":
        from instrument.report.json import write

        write(
            {
                "schema": SCHEMA,
                "command": "audit",
                "outcome": outcome,
                "target": str(ask.repo.target),
                "fixed": [
                    {
                        "code": finding.code,
                        "path": finding.path,
                        "line": finding.line,
                        "message": finding.message,
                        "reasons": list(dict.fromkeys(edit.reason for edit in fixed.edits)),
                        "fix": fixed.applicability,
                    }
                    for finding, fixed in settled.fixed
                ],
                "left": [
                    {
                        "code": finding.code,
                        "path": finding.path,
                        "line": finding.line,
                        "message": finding.message,
                        "why": why,
                    }
                    for finding, why in settled.left
                ],
                "files": sorted(
                    {edit.path for edit in settled.plan.edits} | {new.path for new in settled.plan.new_files}
                ),
                "patch": text.decode("utf-8", "surrogateescape"),
            }
        )
    elif not ask.quiet:
        _lines(ask.out, settled, done=outcome == "done")


def _lines(screen: object, settled: Settled, *, done: bool) -> None:
    from instrument.report.terminal import Screen

    assert isinstance(screen, Screen)
    for finding, fixed in settled.fixed:
        mark = " [review]" if fixed.applicability == "review" else ""
        reasons = "; ".join(dict.fromkeys(edit.reason for edit in fixed.edits))
        screen.line(f"{finding.path}:{finding.line}: {finding.code}{mark} {reasons}", "green" if done else "")
    if settled.left:
        screen.heading("Left to a person")
        for finding, why in settled.left:
            screen.line(f"  {finding.path}:{finding.line}: {finding.code} {finding.message}")
            screen.paragraph(why, indent="      ")
    screen.line()
    files = len({edit.path for edit in settled.plan.edits} | {new.path for new in settled.plan.new_files})
    if settled.fixed:
        what = "fixed" if done else "can be fixed"
        screen.line(f"{plural(len(settled.fixed), 'finding')} {what} in {plural(files, 'file')}, "
                    f"{len(settled.left)} left", "bold")  # fmt: skip
        if done:
            screen.line("`instrument undo` takes it back, byte for byte")
    elif settled.left:
        screen.line(f"nothing to write: {plural(len(settled.left), 'finding')} left to a person", "yellow")
    else:
        screen.line("nothing to fix", "green")
