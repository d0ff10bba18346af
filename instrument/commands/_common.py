"""What commands share: their common options, where output goes, and how an error ends.

A command is a function `def diff(ask: Ask, *, own: Annotated[...] = ...) -> int` that returns the exit code, made
known by `command(app, example=...)`. The shared options of `Ask` are added to its own.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.patch.diff import FileChange
    from instrument.plan.context import Options
    from instrument.plan.model import Plan
    from instrument.repo.scan import Repository
    from instrument.report.summary import Summary
    from instrument.report.terminal import Screen
    from instrument.settings import Settings

DONE, FOUND, COULD_NOT = 0, 1, 2
#: As shells have it: 128 and the signal's number.
INTERRUPTED, PIPE_CLOSED = 130, 141


def _view(
    path: Annotated[Path, typer.Argument(help="The trainer's folder, or a file of it.", show_default="here")] = Path(),
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else there.")] = False,
    color: Annotated[
        Literal["auto", "always", "never"], typer.Option(help="Colours; auto: on a terminal, NO_COLOR honoured.")
    ] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only errors and what was asked for.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Every place, every edit, every reason.")] = False,
) -> None: ...


def _planning(
    strategy: Annotated[
        Literal["register", "alongside", "import"] | None,
        typer.Option(help="Only this strategy, instead of the best at each place."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Edit only these files (as in .gitignore; repeatable).")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave these files alone (repeatable).")
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Use only these frameworks and trackers (repeatable).")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Leave these frameworks and trackers out (repeatable).")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Probe project to record into.")] = None,
    experiment: Annotated[str | None, typer.Option(help="Probe experiment to record into.")] = None,
    question: Annotated[str | None, typer.Option(help="The question the experiment answers.")] = None,
    name: Annotated[str | None, typer.Option(help="The run's name; by default the tracker's own.")] = None,
    per_sample: Annotated[
        bool, typer.Option("--per-sample", help="Also each sample of a rollout (Miles, slime).")
    ] = False,
    sample_metrics: Annotated[
        list[str] | None,
        typer.Option("--sample-metric", metavar="NAME=PATH", help="A sample's own measurement, by its dotted path."),
    ] = None,
    push: Annotated[
        bool, typer.Option("--push", help="Also hooks for platforms that know a run's state (Airflow, Slurm, ...).")
    ] = False,
    exec: Annotated[
        bool, typer.Option("--exec", help="Wrap commands of trainers that have no code here in `probe exec`.")
    ] = False,
    preflight: Annotated[
        bool, typer.Option("--preflight", help="Also a check of each recording process (PROBE_TRACKING_PREFLIGHT=1).")
    ] = False,
) -> None: ...


@dataclass(kw_only=True)
class Ask:
    """What was asked on the command line, and what follows from it."""

    path: Path = field(default_factory=Path)
    json: bool = False
    color: Literal["auto", "always", "never"] = "auto"
    quiet: bool = False
    verbose: bool = False
    strategy: Literal["register", "alongside", "import"] | None = None
    only: list[str] | None = None
    exclude: list[str] | None = None
    select: list[str] | None = None
    ignore: list[str] | None = None
    project: str | None = None
    experiment: str | None = None
    question: str | None = None
    name: str | None = None
    per_sample: bool = False
    sample_metrics: list[str] | None = None
    push: bool = False
    exec: bool = False
    preflight: bool = False
    #: Paths that edits are limited to, besides `only`; None for all.
    within: frozenset[str] | None = None

    @cached_property
    def out(self) -> Screen:
        """Standard output, for people."""
        from instrument.report.terminal import Screen

        return Screen(sys.stdout, color=self.color)

    @cached_property
    def err(self) -> Screen:
        """Standard error, for people."""
        from instrument.report.terminal import Screen

        return Screen(sys.stderr, color=self.color)

    @cached_property
    def settings(self) -> Settings:
        """[tool.instrument] of the target with the command line laid over it."""
        from dataclasses import fields, replace

        from instrument.settings import load

        settings = load(self.path)
        given = {field.name: getattr(self, field.name) for field in fields(settings)}
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in given.items() if value
        }
        return replace(settings, **values)

    @cached_property
    def options(self) -> Options:
        """The same as the planner takes it. Raises InstrumentError for a rule that there is not."""
        from instrument.plan.context import Options

        settings = self.settings
        return Options(
            strategy=settings.strategy,  # type: ignore[arg-type]  # checked by typer and by settings.parse
            project=settings.project,
            experiment=settings.experiment,
            question=settings.question,
            name=settings.name,
            per_sample=self.per_sample or settings.sample_metrics is not None,
            sample_metrics=_measurements(settings.sample_metrics or ()),
            push=self.push,
            exec=self.exec,
            preflight=self.preflight,
            select=_known(settings.select),
            ignore=_known(settings.ignore),
        )

    @cached_property
    def repo(self) -> Repository:
        """The repository, with progress on a terminal."""
        from instrument.repo.scan import Repository

        progress = None if self.quiet or self.json else self.err.progress("reading")
        return Repository(self.path, only=self.settings.globs, within=self.within, progress=progress)

    def plan(self) -> Plan:
        """A plan made now. Raises InstrumentError."""
        from instrument.plan.planner import make_plan

        try:
            return make_plan(self.repo, self.options)
        finally:
            self.err.clear_progress()

    def replan(self, repo: Repository) -> Plan:
        """The same plan for the repository as it would be; what the proofs ask for."""
        from instrument.plan.planner import make_plan

        return make_plan(repo, self.options)

    @property
    def interactive(self) -> bool:
        """Whether there is a person to ask."""
        return sys.stdin.isatty() and sys.stdout.isatty()


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names, each checked to be a rule's. Raises InstrumentError with the nearest that there is."""
    if names:
        import difflib

        from instrument.plan.rules import all_rules

        rules = [rule.name for rule in all_rules()]
        for name in names:
            if name not in rules:
                close = difflib.get_close_matches(name, rules, n=1)
                hint = f"did you mean «{close[0]}»?" if close else f"there are: {', '.join(rules)}"
                raise InstrumentError(f"there is no rule «{name}»", hint=hint, code="unknown-rule")
    return names


def _measurements(given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """NAME=DOTTED.PATH in its two parts; a name given twice has its last path. Raises InstrumentError."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, path = (part.strip() for part in text.partition("="))
        if not name or not equals or not path or not all(part.strip() == part and part for part in path.split(".")):
            raise InstrumentError(
                f"«{text}» is no measurement of a sample", code="sample-metric",
                hint="NAME=DOTTED.PATH, from the sample on: agent/turns=metadata.agent_metrics.turns",
            )  # fmt: skip
        found[name] = path
    return tuple(found.items())


def command(
    app: typer.Typer, *, example: str, plans: bool = True, name: str | None = None
) -> Callable[[Callable[..., int]], Callable[..., None]]:
    """Make `function(ask, **own options) -> exit code` a command of the app; its docstring is the help.

    `example` closes the help; `plans` adds the options that change a plan.
    """

    def wrap(function: Callable[..., int]) -> Callable[..., None]:
        own = list(_parameters(function)[1:])
        shared = [*_parameters(_view), *(_parameters(_planning) if plans else ())]
        fields = {parameter.name for parameter in shared}

        @functools.wraps(function)
        def run(**given: Any) -> None:
            ask = Ask(**{key: value for key, value in given.items() if key in fields})
            rest = {key: value for key, value in given.items() if key not in fields}
            raise typer.Exit(guarded(ask, lambda: function(ask, **rest)))

        # The path first, then the command's own options, then the shared ones: as the help should read.
        parameters = [shared[0], *own, *shared[1:]]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        del run.__wrapped__
        app.command(name or function.__name__.rstrip("_"), epilog=f"Example: {example}")(run)
        return run

    return wrap


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    return [
        parameter.replace(annotation=hints.get(parameter.name, parameter.annotation))
        for parameter in inspect.signature(function).parameters.values()
    ]


def guarded(ask: Ask, work: Callable[[], int]) -> int:
    """Run a command's work; every way it can end is an exit code and at most one clear line."""
    try:
        code = work()
        sys.stdout.flush()
        return code
    except InstrumentError as error:
        ask.err.clear_progress()
        if ask.json:
            from instrument.report.json import write_error

            write_error(error)
        ask.err.error(error)
        return COULD_NOT
    except KeyboardInterrupt:
        ask.err.clear_progress()
        ask.err.line("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has enough. Python would complain at exit when it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        # A fault of ours: Python's own exit code for it, 1, would read as "something to do".
        ask.err.clear_progress()
        if ask.verbose:
            import traceback

            ask.err.raw(traceback.format_exc())
        if ask.json:
            from instrument.report.json import write_error

            write_error(InstrumentError(f"internal error: {type(error).__name__}: {error}", code="internal"))
        ask.err.line(f"instrument: internal error: {type(error).__name__}: {error}", "red")
        ask.err.line("  this is a fault of probe-instrument; -v shows where, please report it")
        return COULD_NOT


def proved(
    ask: Ask, plan: Plan, replan: Callable[[Repository], Plan] | None = None
) -> tuple[Summary, list[FileChange]]:
    """A plan's summary and the files it changes, after every proof was made. Raises ProofError or ConflictError."""
    from instrument.patch.diff import changes
    from instrument.patch.proofs import prove
    from instrument.report.summary import Summary

    return Summary(plan, ask.repo, prove(ask.repo, plan, replan or ask.replan)), changes(ask.repo, plan)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that was asked for; "-" is standard output. Raises InstrumentError where it can't be written."""
    if path == Path("-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InstrumentError(f"can't be written: {error.strerror}", path=str(path)) from None
