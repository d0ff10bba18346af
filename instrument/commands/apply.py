"""`instrument apply`: the change, shown, asked for and written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrument.commands._common import COULD_NOT, DONE, FOUND, Ask, command, proved, write_file
from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.plan.model import Plan
    from instrument.repo.scan import Repository
    from instrument.report.summary import Summary

ORDER = 30


def register(app: typer.Typer) -> None:
    command(app, example="instrument apply ~/src/cleanrl --yes")(apply)


def apply(
    ask: Ask,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
    allow_dirty: Annotated[
        bool, typer.Option("--allow-dirty", help="Also edit files that have changes git does not hold yet.")
    ] = False,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Apply this saved plan if its sources still match.")
    ] = None,
    patch_file: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="Also write the change as a patch.")
    ] = None,
    one_by_one: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for each edit; what needs another follows it.")
    ] = False,
    commit: Annotated[
        bool, typer.Option("--commit", help="Commit what was written, with a message that lists the edits.")
    ] = False,
) -> int:
    """Write the change, all of it or nothing.

    Proves it, shows it as a diff and asks. `undo` takes it back. Without a terminal and without --yes nothing is
    written, and the exit code is 1.
    """
    from instrument.patch import commit as committing
    from instrument.patch.diff import git_prefix, patch
    from instrument.patch.write import apply as write
    from instrument.report.summary import Summary

    repo = ask.repo
    plan = _loaded(ask, plan_file) if plan_file else ask.plan()
    summary = Summary(plan, repo)
    if plan.empty:
        _tell(ask, summary, summary.outcome)
        return COULD_NOT if summary.blocked else DONE
    if not allow_dirty:
        _refuse_dirty(repo, plan)
    if commit:
        committing.check(repo)
    replan = _same_scope(ask, plan) if plan_file else ask.replan
    if one_by_one:
        chosen = _chosen(ask, plan, yes)
        if chosen is None or chosen[0].empty:
            ask.out.line("nothing was written")
            return FOUND
        plan, replan = chosen
        yes = True
    summary, changes = proved(ask, plan, replan)
    text = patch(changes, git_prefix(repo))
    if patch_file is not None:
        write_file(patch_file, text)
    if not yes:
        _tell(ask, summary, "found")
        if not ask.interactive:
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
        if commit:
            committing.commit(repo, summary)
        _written(ask, summary)
        return DONE
    write(repo, plan)
    if commit:
        committing.commit(repo, summary)
    _tell(ask, summary, "done")
    return DONE


def _chosen(ask: Ask, plan: Plan, yes: bool) -> tuple[Plan, Callable[[Repository], Plan]] | None:
    """What `--interactive` leaves of a plan. Raises InstrumentError where nobody can be asked."""
    if yes or ask.json:
        raise InstrumentError("--interactive asks: it goes with neither --yes nor --json", code="not-interactive")
    if not ask.interactive:
        raise InstrumentError(
            "--interactive needs a terminal",
            hint="--only GLOB takes some of the files without asking",
            code="not-interactive",
        )
    from instrument.commands._choose import choose

    return choose(ask, plan)


def _loaded(ask: Ask, file: Path) -> Plan:
    from instrument.patch.planfile import load

    try:
        data = file.read_bytes()
    except OSError as error:
        raise InstrumentError(f"can't be read: {error.strerror}", path=str(file)) from None
    return load(data, ask.repo)


def _same_scope(ask: Ask, saved: Plan) -> Callable[[Repository], Plan]:
    """Planning again for a saved plan, which may be part of what there is to do: only what it was about counts."""

    def replan(repo: Repository) -> Plan:
        plan = ask.replan(repo)
        scope = {(edit.path, edit.rule) for edit in saved.edits}
        plan.edits = [edit for edit in plan.edits if (edit.path, edit.rule) in scope]
        created = {new.path for new in saved.new_files}
        plan.new_files = [new for new in plan.new_files if new.path in created]
        return plan

    return replan


def _tell(ask: Ask, summary: Summary, outcome: str) -> None:
    if ask.json:
        from instrument.report.json import document, write

        write(document("apply", outcome, summary, whole=ask.verbose))
    elif not ask.quiet:
        from instrument.report.terminal import write_plan

        write_plan(ask.out, summary, verbose=ask.verbose, applied=outcome == "done")


def _written(ask: Ask, summary: Summary) -> None:
    """After the plan was shown and agreed to: only what is new."""
    from instrument.report.terminal import write_steps
    from instrument.report.text import plural

    ask.out.line(f"{plural(len(summary.files), 'file')} written", "green")
    write_steps(ask.out, summary.next_steps(applied=True))


def _refuse_dirty(repo: Repository, plan: Plan) -> None:
    """Raise InstrumentError where a file that the plan edits has changes that git does not hold.

    A file that git does not track at all is not dirty: `undo` is what takes its edits back.
    """
    from instrument.patch.write import dirty

    paths = dirty(repo, [*(edit.path for edit in plan.edits), *(new.path for new in plan.new_files)])
    if paths:
        more = f", and so have {len(paths) - 1} more" if len(paths) > 1 else ""
        raise InstrumentError(
            f"has changes that are not committed{more}; nothing was written",
            path=paths[0],
            hint="commit or stash them, or give --allow-dirty",
            code="dirty-tree",
        )
