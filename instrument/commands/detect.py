"""`instrument detect`: what is there, and what would happen to it."""

from __future__ import annotations

import typer

from instrument.commands._common import DONE, Ask, command

ORDER = 10


def register(app: typer.Typer) -> None:
    command(app, example="instrument detect ~/src/trl --json | jq .plan.shapes")(detect)


def detect(ask: Ask) -> int:
    """Say what is there and what can be done.

    Which trainers and trackers the repository has, where its metrics are emitted, and what would become of each place.
    Nothing of the repository is imported, run or written. Exits 0.
    """
    from instrument.report.summary import Summary

    plan = ask.plan()
    summary = Summary(plan, ask.repo)
    if ask.json:
        from instrument.report.json import document, write

        write(document("detect", summary.outcome, summary, whole=ask.verbose))
    else:
        from instrument.report.processes import write_processes
        from instrument.report.terminal import write_plan

        write_plan(ask.out, summary, verbose=ask.verbose)
        write_processes(ask.out, plan.processes, verbose=ask.verbose)
    return DONE
