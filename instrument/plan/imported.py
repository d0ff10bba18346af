"""The strategy `import`, where it was asked for: no edit; what the trackers record is brought to Probe after the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.plan.context import Context

#: Trackers whose local records `instrument import` reads, by the rule that finds them.
READ = {"wandb": "W&B", "mlflow": "MLflow", "tensorboard": "TensorBoard", "trackio": "trackio", "swanlab": "SwanLab"}


def instead_of_edits(context: Context, kept: frozenset[str]) -> None:
    """Take the edits of a plan back (but those of the rules `kept`) and say what to run after the job."""
    plan = context.plan
    plan.edits = [edit for edit in plan.edits if edit.rule in kept]
    plan.new_files = [new for new in plan.new_files if new.rule in kept]
    why = "left as it is: the tracker's record is imported after the run"
    for site in plan.sites:
        if site.rule not in kept and site.outcome in ("covered", "asked", "refused"):
            site.outcome, site.strategy, site.why = "left", "import", why
    plan.notes = [note for note in plan.notes if note.level not in ("question", "refusal")]
    context.pass_over("register", "only an import was asked for")
    context.pass_over("alongside", "only an import was asked for")
    found = [title for name, title in READ.items() if name in plan.shapes]
    if found:
        context.note(
            "warning", "import-after-run", f"no code is changed; what {' and '.join(found)} records is imported after the run",
            next="after training: instrument import . --run (shows what there is without --run)",
        )  # fmt: skip
    elif plan.shapes:
        context.note(
            "warning", "nothing-to-import", "nothing here is seen to record where `instrument import` could read it",
            next="let it report to wandb (offline is enough) or tensorboard, and after training: instrument import . --run",
        )  # fmt: skip
