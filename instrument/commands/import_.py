"""`instrument import PATH`: finished runs of other trackers, shown, written down as a script, or brought to Probe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from instrument.commands._common import DONE, FOUND, Ask, command, write_file

if TYPE_CHECKING:
    from instrument.imports.hosted import Hosted
    from instrument.imports.model import Finished
    from instrument.imports.send import Target
    from instrument.imports.work import Outcome

ORDER = 75
SCHEMA = "instrument.import/1"


def register(app: typer.Typer) -> None:
    command(app, example="instrument import runs/ --project toys --run", plans=False, name="import")(import_)


def import_(
    ask: Ask,
    *,
    run: Annotated[bool, typer.Option("--run", help="Carry it out: import what is not at Probe yet.")] = False,
    script: Annotated[
        Path | None, typer.Option("--script", metavar="FILE", help="Write the import as a script to review and run.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Probe project to import into.")] = None,
    experiment: Annotated[str | None, typer.Option(help="Probe experiment to import into.")] = None,
    question: Annotated[str | None, typer.Option(help="The question the experiment answers.")] = None,
    tracker: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only runs of this tracker (repeatable).")
    ] = None,
    unfinished: Annotated[bool, typer.Option("--unfinished", help="Also runs that may still be going.")] = False,
) -> int:
    """Bring finished runs of other trackers to Probe.

    Finds W&B, MLflow, TensorBoard, trackio and SwanLab records below a folder and shows them; writes nothing without
    --script or --run. Importing twice stores a run once. With PROBE_MODE=offline it goes into the SDK's offline queue.
    """
    from instrument.imports import hosted as at_wandb
    from instrument.imports.find import runs
    from instrument.imports.ledger import Ledger
    from instrument.imports.send import Target
    from instrument.imports.work import carry_out, is_offline

    ledger = Ledger()
    found = runs(ask.path, ledger, _sources(tracker))
    named = at_wandb.projects(ask.path) if not tracker or "wandb" in tracker else []
    target = Target(
        project=project or ask.settings.project,
        experiment=experiment or ask.settings.experiment,
        question=question or ask.settings.question,
        offline=is_offline(),
    )
    if script is not None:
        from instrument.imports.script import render

        text = render(ask.path, found, named, target, script if script != Path("-") else Path("import_to_probe.py"))
        write_file(script, text.encode("utf-8"))
    if not ask.json and not ask.quiet and script != Path("-"):
        _show(ask, found, named)
    outcome = None
    if run:
        from instrument.imports.show import bar, told

        wanted = [one for one in found if one.state != "running" or unfinished]
        with bar(ask.err, wanted) as progress:
            outcome = carry_out(found, target, ledger, unfinished=unfinished, progress=progress)
        if not ask.json:
            told(ask.err, outcome, target)
    if ask.json:
        from instrument.report.json import write

        write(_document(ask, found, named, target, outcome, script))
    elif not ask.quiet and script != Path("-") and not run:
        from instrument.report.terminal import write_steps

        write_steps(ask.out, _next(ask, found, named, script))
    return FOUND if outcome is not None and outcome.failed else DONE


def _sources(names: list[str] | None) -> Any:
    """The sources of these names, None for all. Raises InstrumentError for one that there is not."""
    if not names:
        return None
    from instrument.errors import InstrumentError
    from instrument.imports.sources import all_sources

    known = {source.name: source for source in all_sources()}
    for name in names:
        if name not in known:
            raise InstrumentError(
                f"there is no tracker «{name}»", hint=f"there are: {', '.join(known)}", code="unknown-rule"
            )
    return [known[name] for name in names]


def _show(ask: Ask, found: list[Finished], named: list[Hosted]) -> None:
    from instrument.imports import show

    if found:
        show.table(ask.out, found)
    else:
        ask.out.line("no record of a tracker here")
    for one in found:
        for damage in one.run.damage:
            ask.out.paragraph(f"{one.path}: {damage}", indent="  ", first="", style="yellow")
    show.hosted(ask.out, named)


def _next(ask: Ask, found: list[Finished], named: list[Hosted], script: Path | None) -> list[tuple[str, str]]:
    steps = []
    if script is not None:
        steps.append((f"python {script}", "after reading it"))
    elif any(one.state in ("new", "partial") for one in found):
        steps.append((f"instrument import {ask.path} --script FILE", "the import as a script to review"))
        steps.append((f"instrument import {ask.path} --run", "imports them now; twice is once"))
    if named:
        steps.append((f"probe import wandb {named[0].name}/RUN --run RUN", "a run at W&B, with your account"))
    return steps


def _document(
    ask: Ask, found: list[Finished], named: list[Hosted], target: Target, outcome: Outcome | None, script: Path | None
) -> dict[str, Any]:
    new = any(one.state in ("new", "partial") for one in found)
    state = "clean"
    if outcome is not None:
        state = "failed" if outcome.failed else "done"
    elif new:
        state = "found"
    return {
        "schema": SCHEMA,
        "command": "import",
        "outcome": state,
        "target": str(ask.path),
        "next": [{"action": action, "why": why} for action, why in _next(ask, found, named, script)]
        if outcome is None
        else [],
        "offline": target.offline,
        "runs": [
            {
                "external_id": one.external_id,
                "tracker": one.run.tracker,
                "id": one.run.id,
                "name": one.name,
                "project": one.project,
                "path": one.path,
                "state": one.state,
                "status": one.run.status,
                "tier": one.tier,
                "steps": one.run.steps,
                "keys": len(one.run.series),
                "points": one.points,
                "media": one.media,
                "damage": one.run.damage,
            }
            for one in found
        ],
        "hosted": [{"project": one.project, "entity": one.entity, "at": one.at} for one in named],
        "imported": None
        if outcome is None
        else {
            "runs": outcome.imported,
            "already": outcome.already,
            "points": outcome.points,
            "failed": [{"external_id": key, "why": why} for key, why in outcome.failed.items()],
        },
        "script": None if script is None else str(script),
    }
