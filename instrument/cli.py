"""The command line: builds the app out of `commands/`. What a command does is in its own file there."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from instrument import __version__, commands

#: The same keys and exit codes for every command; said once, in `instrument --help`.
EPILOG = "Exit codes: 0 done or clean, 1 something to do or found, 2 could not. Example: instrument diff PATH"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"probe-instrument {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The app with every command that `commands/` has, in the order of their ORDER (100 where there is none)."""
    app = typer.Typer(
        name="instrument",
        help="Wire Probe into a machine-learning trainer: read it, show the change, prove it, apply it, take it back.",
        epilog=EPILOG,
        no_args_is_help=True,
        # Help without boxes: it reads the same in a terminal, a pipe and a log, and does not load rich.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )

    @app.callback()
    def root(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
        ] = False,
    ) -> None:
        pass

    modules = [
        importlib.import_module(f"{commands.__name__}.{info.name}")
        for info in pkgutil.iter_modules(commands.__path__)
        if not info.name.startswith("_")
    ]
    for module in sorted(modules, key=lambda module: (getattr(module, "ORDER", 100), module.__name__)):
        module.register(app)
    return app


def main() -> None:
    """Entry point of the console script; leaves the process with the command's exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A file name that does not decode, or a terminal that can't show it, must not end in a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    build()(prog_name="instrument")


if __name__ == "__main__":
    main()
