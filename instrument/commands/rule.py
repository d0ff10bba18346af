"""`instrument rule PI105`: what a rule of the audit finds, and why that matters."""

from __future__ import annotations

from typing import Annotated

import typer

from instrument.commands._common import DONE, Ask, guarded

ORDER = 61


def register(app: typer.Typer) -> None:
    """Add the command to the app."""

    @app.command(name="rule", epilog="Example: instrument rule PI105")
    def rule(
        code: Annotated[str | None, typer.Argument(help="A code or a name.", show_default=False)] = None,
        every: Annotated[bool, typer.Option("--all", help="Every rule, one line each; with --json in full.")] = False,
        json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    ) -> None:
        """Say what a rule of `instrument audit` finds, and why that matters."""
        ask = Ask(json=json)
        raise typer.Exit(guarded(ask, lambda: _rule(ask, code, every)))


def _rule(ask: Ask, code: str | None, every: bool) -> int:
    from instrument.audit import report
    from instrument.audit.rule import all_rules, rule_of

    every = every or code is None
    if not every and code is not None and _of_records(ask, code):
        return DONE
    rules = list(all_rules()) if every else [rule_of(code or "")]
    if ask.json:
        from instrument.report.json import write

        write(report.rule_document(rules))
    elif every:
        for one in rules:
            ask.out.paragraph(f"{one.code} {one.name}: {one.summary}", indent="      ", first="")
    else:
        report.write_page(ask.out, rules[0])
    return DONE


def _of_records(ask: Ask, code: str) -> bool:
    """Say what a rule finds that only `audit --record` has; False where it is another one."""
    from instrument.audit.record import page

    found = page(code)
    if found is None:
        return False
    code, title, why = found
    if ask.json:
        from instrument.report.json import write

        only = {"bad": "", "good": "", "fix": "", "applicability": None}
        rule = {"code": code, "name": title.replace(" ", "-"), "summary": title, "why": why, **only}
        write({"schema": "instrument.rules/1", "command": "rule", "rules": [rule]})
    else:
        ask.out.line(f"{title} ({code})", "bold")
        ask.out.line()
        ask.out.paragraph(why)
        ask.out.line()
        ask.out.paragraph("Seen by `instrument audit --record RUN` only.")
    return True
