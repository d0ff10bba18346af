"""`instrument skill install|uninstall`: the skill for coding agents, put where they look for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from instrument.commands._common import DONE, FOUND, Ask, guarded
from instrument.errors import InstrumentError

if TYPE_CHECKING:
    from instrument.skill import Copy

ORDER = 90

_Path = Annotated[Path, typer.Argument(help="The repository, for --project.", show_default="here")]
_Project = Annotated[bool, typer.Option("--project/--user", help="For this repository, or for you everywhere.")]
_Agents = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="claude (the default), codex, copilot, cursor, gemini or opencode (repeatable).",
        show_default="claude",
    ),
]
_Force = Annotated[bool, typer.Option("--force", help="Also where a person has edited the installed copy.")]
_Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else there.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands to the app."""
    group = typer.Typer(
        name="skill",
        help="The skill for coding agents, /instrument-code.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.add_typer(group)

    @group.command(epilog="Example: instrument skill install --agent claude --agent codex")
    def install(
        path: _Path = Path(),
        project: _Project = True,
        agent: _Agents = None,
        force: _Force = False,
        json: _Json = False,
    ) -> None:
        """Put the skill where the agent looks for it.

        Installing again updates it. A copy that was edited is replaced only after asking, or with --force.
        """
        from instrument import skill

        def work(ask: Ask, copies: list[Copy]) -> dict[Path, str]:
            wanted = [copy for copy in copies if copy.state != "current"]
            if not _agreed(ask, "Replace", [copy for copy in wanted if copy.state == "edited"], force):
                return {}
            for copy in wanted:
                skill.install(copy)
            said = {"absent": "installed", "current": "up to date", "outdated": "updated", "edited": "replaced"}
            return {copy.path: said[copy.state] for copy in copies}

        _run("install", path, project, agent, json, work)

    @group.command(epilog="Example: instrument skill uninstall --user")
    def uninstall(
        path: _Path = Path(),
        project: _Project = True,
        agent: _Agents = None,
        force: _Force = False,
        json: _Json = False,
    ) -> None:
        """Take the skill away again.

        Files of your own stay. A copy that was edited is removed only after asking, or with --force.
        """
        from instrument import skill

        def work(ask: Ask, copies: list[Copy]) -> dict[Path, str]:
            wanted = [copy for copy in copies if copy.state != "absent"]
            if not _agreed(ask, "Remove", [copy for copy in wanted if copy.state == "edited"], force):
                return {}
            for copy in wanted:
                skill.uninstall(copy)
            return {copy.path: "not there" if copy.state == "absent" else "removed" for copy in copies}

        _run("uninstall", path, project, agent, json, work)


def _agreed(ask: Ask, what: str, edited: list[Copy], force: bool) -> bool:
    """Whether edited copies may go: asked on a terminal. Raises InstrumentError where there is nobody to ask."""
    if force:
        return True
    for copy in edited:
        files = ", ".join(copy.edited)
        if ask.json or not ask.interactive:
            message = f"was edited since it was installed ({files}); nothing was written"
            hint = f"keep it, or give --force to {what.lower()} it"
            raise InstrumentError(message, path=str(copy.path), hint=hint, code="edited-copy")
        ask.out.line(f"{copy.path} was edited since it was installed: {files}", "yellow")
        if not ask.out.ask(f"{what} it?"):
            return False
    return True


def _run(
    command: str,
    path: Path,
    project: bool,
    agents: list[str] | None,
    json: bool,
    work: Callable[[Ask, list[Copy]], dict[Path, str]],
) -> None:
    from instrument import skill

    ask = Ask(path=path, json=json)

    def run() -> int:
        if project and not path.is_dir():
            raise InstrumentError("is no folder", path=str(path), hint="give the repository", code="no-target")
        names = list(dict.fromkeys(agents or ["claude"]))
        for name in names:
            if name not in skill.AGENTS:
                raise InstrumentError(f"there is no agent «{name}»", hint=f"there are: {', '.join(skill.AGENTS)}")
        copies = skill.copies(names, project=path if project else None, home=Path.home(), environ=os.environ)
        states = work(ask, copies)
        if json:
            from instrument.report.json import write

            done = [
                {"path": str(copy.path), "agents": copy.agents, "state": states.get(copy.path, "left")}
                for copy in copies
            ]
            write({"schema": "instrument.skill/1", "command": command, "skill": skill.NAME, "copies": done})
        elif states:
            for copy in copies:
                ask.out.line(f"{copy.path}: {states[copy.path]} ({', '.join(copy.agents)})", "green")
        else:
            ask.out.line("nothing was written")
        return DONE if states else FOUND

    raise typer.Exit(guarded(ask, run))
