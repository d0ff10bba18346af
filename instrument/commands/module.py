"""`instrument module`: the guards that `apply` adds, for who wires a place by hand."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from instrument.commands._common import DONE, Ask, guarded
from instrument.errors import InstrumentError

ORDER = 80


def register(app: typer.Typer) -> None:
    """Add the command to the app."""

    @app.command(epilog="Example: instrument module --part huggingface > probe_tracking.py")
    def module(
        part: Annotated[
            list[str] | None,
            typer.Option(metavar="PART", help="A part that it must have (repeatable; core is the default)."),
        ] = None,
    ) -> None:
        """Print probe_tracking.py, for edits by hand.

        The module that `apply` puts beside the code: Probe's calls, which never raise and cost nothing where Probe is
        missing or off. `apply` itself writes it where it needs it.
        """

        def work() -> int:
            from instrument.plan.render import PARTS, render_module

            for name in part or ():
                if name not in PARTS:
                    raise InstrumentError(f"there is no part «{name}»", hint=f"there are: {', '.join(PARTS)}")
            sys.stdout.write(render_module(part or ["core"]))
            return DONE

        raise typer.Exit(guarded(Ask(), work))
