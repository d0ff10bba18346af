"""`instrument diff`: the change as a patch."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from instrument.commands._common import DONE, FOUND, Ask, command, proved, write_file

ORDER = 20


def register(app: typer.Typer) -> None:
    command(app, example="instrument diff ~/src/cleanrl | git -C ~/src/cleanrl apply")(diff)


def diff(
    ask: Ask,
    *,
    plan_file: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Save the plan, for `instrument apply --plan FILE`.")
    ] = None,
    patch_file: Annotated[
        Path | None, typer.Option("--patch", metavar="FILE", help="Write the patch to a file instead of stdout.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a summary for a pull request (- is stdout).")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with the processes and the edits side by side.")
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 1 when there is something to do.")] = False,
) -> int:
    """Show the change as a patch.

    It is the change that `apply` would make, in the form that `git apply` takes. Only the patch goes to stdout; what it
    means goes to stderr. Every proof is made before anything is shown.
    """
    from instrument.patch.diff import git_prefix, patch

    plan = ask.plan()
    summary, changes = proved(ask, plan)
    text = patch(changes, git_prefix(ask.repo))
    if plan_file is not None:
        from instrument.patch.planfile import save

        write_file(plan_file, save(plan, ask.repo))
    if patch_file is not None:
        write_file(patch_file, text)
    if markdown is not None:
        from instrument.report.markdown import page

        write_file(markdown, page(summary, text).encode())
    if html is not None:
        from instrument.report import html as report

        write_file(html, report.page(summary, changes).encode())
    if ask.json:
        from instrument.report.json import document, write

        said = text.decode("utf-8", "surrogateescape")
        write(document("diff", summary.outcome, summary, whole=ask.verbose, patch=said))
    else:
        from instrument.report.terminal import write_plan

        if not ask.quiet:
            write_plan(ask.err, summary, verbose=ask.verbose)
            ask.err.line()
        if patch_file is None and markdown != Path("-"):
            if ask.out.is_terminal or ask.color == "always":
                ask.out.patch(text)
            else:
                sys.stdout.flush()
                sys.stdout.buffer.write(text)
                sys.stdout.buffer.flush()
    return FOUND if exit_code and not plan.empty else DONE
