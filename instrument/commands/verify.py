"""`instrument verify PATH -- COMMAND...`: run the trainer once, offline, and compare both records."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from instrument.verify.run import Request

ORDER = 70


def register(app: typer.Typer) -> None:
    """Add the command to the app."""

    @app.command(
        name="verify",
        epilog="Exit codes: 0 equal, 1 not equal or the command failed, 2 could not. "
        "Example: instrument verify . --steps 20 -- python train.py --lr 1e-3",
    )
    def verify(
        path: Annotated[Path, typer.Argument(help="The repository; the command runs in it.", show_default=False)],
        command: Annotated[
            list[str], typer.Argument(help="What you would type to train, after --.", metavar="-- COMMAND...")
        ],
        steps: Annotated[int | None, typer.Option(min=1, help="Stop politely after this many logged steps.")] = None,
        timeout: Annotated[float | None, typer.Option(min=0.1, help="Stop politely after this many seconds.")] = None,
        grace: Annotated[
            float, typer.Option(min=0, help="Seconds to end in after an interrupt, before SIGTERM.")
        ] = 30.0,
        tolerance: Annotated[
            float, typer.Option(min=0, help="Relative and absolute; the default demands equal floats.")
        ] = 0.0,
        ignore: Annotated[
            list[str] | None, typer.Option(help="A key (or glob) not to compare.", metavar="GLOB")
        ] = None,
        keep_env: Annotated[
            list[str] | None,
            typer.Option(help="A credential that the command keeps (HF_TOKEN for gated data).", metavar="NAME"),
        ] = None,
        env: Annotated[
            list[str] | None,
            typer.Option(help="A variable that the command gets, whatever else is set.", metavar="NAME=VALUE"),
        ] = None,
        against: Annotated[
            str | None,
            typer.Option(help="Also run it on this git revision, from before the edit, and compare.", metavar="REV"),
        ] = None,
        cwd: Annotated[Path | None, typer.Option(help="Run somewhere else than in PATH.")] = None,
        records: Annotated[
            Path | None,
            typer.Option(help="Keep both records in this folder (default: a private one, kept unless equal)."),
        ] = None,
        html: Annotated[Path | None, typer.Option(help="Write a page with the curves of both sides.")] = None,
        as_json: Annotated[
            bool, typer.Option("--json", help="The report as JSON on stdout; the command's stdout goes to stderr.")
        ] = False,
        dry: Annotated[bool, typer.Option("--dry", help="Say what would be run, and run nothing.")] = False,
    ) -> None:
        """Run the trainer once, offline, and show that Probe got what the tracker got."""
        from instrument.errors import InstrumentError
        from instrument.verify.run import Request

        place = (cwd or (path if path.is_dir() else path.parent)).resolve()
        folder = Path(tempfile.mkdtemp(prefix="instrument-verify-")) if records is None else records.resolve()
        request = Request(
            command=command,
            cwd=place,
            folder=folder,
            steps=steps,
            timeout=timeout,
            grace=grace,
            keep=tuple(keep_env or ()),
            extra=dict(pair.split("=", 1) for pair in env or () if "=" in pair),
            stdout="stderr" if as_json else "stdout",
            copy_stdout=against is not None,
        )
        passed = False
        try:
            if not path.exists():
                raise InstrumentError(
                    "there is no such file or folder", path=str(path), hint="give the trainer's folder"
                )
            folder.mkdir(parents=True, exist_ok=True)
            if dry:
                from instrument.verify.dry import explain

                passed = True
                typer.echo("\n".join(explain(request, against)))
                return
            if against is not None:
                from instrument.verify.against import commit_of

                commit_of(place, against)
            passed = _verify(request, path, tolerance, tuple(ignore or ()), against, html, as_json)
        except InstrumentError as error:
            if as_json:
                from instrument.report.json import write_error

                write_error(error)
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(2) from None
        finally:
            if records is None and (passed or not any(folder.rglob("*.*"))):
                shutil.rmtree(folder, ignore_errors=True)
        if not passed:
            if records is None:
                typer.echo(f"both records are kept in {folder}", err=True)
            raise typer.Exit(1)


def _verify(
    request: Request,
    path: Path,
    tolerance: float,
    ignore: tuple[str, ...],
    against: str | None,
    html: Path | None,
    as_json: bool,
) -> bool:
    from rich.console import Console

    from instrument.errors import InstrumentError
    from instrument.verify import report
    from instrument.verify.session import verify

    verification = verify(request, path, tolerance=tolerance, ignore=ignore)
    if against is not None:
        from instrument.verify.against import before

        verification.against = before(verification.outcome, request, against, tolerance)
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:  # a log file is not as narrow as the 80 columns that rich assumes
        console.width = 120
    report.show(verification, console)
    if as_json:
        sys.stdout.write(json.dumps(report.as_json(verification), indent=2, allow_nan=False) + "\n")
    if html is not None:
        from instrument.verify.picture import page

        try:
            html.write_text(page(verification), "utf-8")
        except OSError as error:
            raise InstrumentError(f"can't be written: {error.strerror}", path=str(html)) from None
    return verification.passed
