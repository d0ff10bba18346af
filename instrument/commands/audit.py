"""`instrument audit PATH`: metrics that can't be read as they are meant; with --record in what a run recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from instrument.commands._common import DONE, FOUND, Ask, command, write_file

ORDER = 60


def register(app: typer.Typer) -> None:
    command(app, example="instrument audit . --output-format sarif > audit.sarif", plans=False)(audit)


def audit(
    ask: Ask,
    *,
    record: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Look at what a run recorded (Probe or W&B, offline) instead.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Show the fixes, ask, and write them.")] = False,
    review: Annotated[
        bool, typer.Option("--review", help="With --fix: also those that a person should look at.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="With --fix: only print the patch, write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --fix: write without asking.")] = False,
    allow_dirty: Annotated[
        bool, typer.Option("--allow-dirty", help="With --fix: also files with changes git does not hold yet.")
    ] = False,
    select: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only these rules: PI105, PI1, or a name (repeatable).")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Leave these rules out.")] = None,
    output_format: Annotated[
        Literal["text", "json", "sarif", "github"], typer.Option(help="How to say what was found.")
    ] = "text",
) -> int:
    """Find metrics whose charts would lie.

    Reads the trainer's code and names each place with its rule; `instrument rule CODE` says why it matters. Nothing is
    run or written. Exits 0 when nothing was found, 1 when something was. # noqa: PI105 on a line leaves it out.
    """
    from instrument.audit import engine, report
    from instrument.audit.settings import load

    form = "json" if ask.json else output_format
    ask.json = form == "json"  # errors, too
    if record is not None:
        from instrument.audit import record as records

        return records.command(ask, record, form=form, select=_codes(select), ignore=_codes(ignore))
    settings = load(ask.path)
    settings = replace(
        settings,
        select=tuple(_codes(select)) or settings.select,
        ignore=(*settings.ignore, *_codes(ignore)),
    )
    try:
        found = engine.audit(ask.repo, settings)
    finally:
        ask.err.clear_progress()
    if fix:
        from instrument.audit import fixes

        return fixes.command(ask, found, form=form, review=review, diff=diff, yes=yes, allow_dirty=allow_dirty)
    if found.findings:
        from instrument.audit.fixes._settle import marked

        found.findings = marked(found)
    if form == "json":
        from instrument.report.json import write

        write(report.document(found, str(ask.repo.target)))
    elif form == "sarif":
        write_file(Path("-"), report.log(found, ask.repo))
    elif form == "github":
        for line in report.github(found):
            typer.echo(line)
    else:
        report.write_text(ask.out, found, quiet=ask.quiet, verbose=ask.verbose)
    return FOUND if found.findings else DONE


def _codes(given: list[str] | None) -> list[str]:
    """Codes as they are given: repeated, or in one word with commas."""
    return [code for word in given or () for code in word.split(",") if code.strip()]
