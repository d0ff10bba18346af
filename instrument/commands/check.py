"""`instrument check`: for CI and pre-commit, is there anything left to do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from instrument.commands._common import DONE, FOUND, Ask, command, write_file

ORDER = 40


def register(app: typer.Typer) -> None:
    command(app, example="instrument check . --sarif instrument.sarif")(check)


def check(
    ask: Ask,
    *,
    since: Annotated[
        str | None, typer.Option(metavar="REV", help="Only files that changed since this revision of git's.")
    ] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what was found as SARIF 2.1.0.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary for a pull request (- is stdout).")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write what was found as JUnit XML.")] = None,
    github: Annotated[bool, typer.Option("--github", help="Print what was found as GitHub annotations.")] = False,
) -> int:
    """For CI: exit 1 if anything is left to do.

    Exit 0 means that every metric that can reach Probe does; 1 that `apply` would change something. Questions and
    refusals are told, but are no failure: nothing that this tool does would settle them.
    """
    from instrument.repo.scan import Repository
    from instrument.report.summary import Summary

    if since is not None:
        changed = Repository(ask.path).changed_since(since)
        if not changed:
            if not ask.quiet:
                ask.err.line(f"nothing changed since {since}")
            return DONE
        ask.within = frozenset(changed)
    plan = ask.plan()
    if ask.within is not None:
        plan.notes = [note for note in plan.notes if note.path is None or note.path in ask.within]
    summary = Summary(plan, ask.repo)
    if sarif is not None:
        from instrument.report.sarif import log

        write_file(sarif, log(summary))
    if junit is not None:
        from instrument.report.junit import suite

        write_file(junit, suite(summary))
    if markdown is not None:
        from instrument.report.markdown import page

        write_file(markdown, page(summary).encode())
    if ask.json:
        from instrument.report.json import document, write

        write(document("check", summary.outcome, summary, whole=ask.verbose))
    elif github:
        from instrument.report.sarif import annotations_of

        for annotation in annotations_of(summary):
            typer.echo(annotation)
    elif not ask.quiet and Path("-") not in (sarif, markdown, junit):
        from instrument.report.terminal import write_plan

        write_plan(ask.out, summary, verbose=ask.verbose)
    return DONE if plan.empty else FOUND
