"""ART (OpenPipe/ART, openpipe-art): metrics leave through a private method of a pydantic model.

Read in openpipe-art 0.5.18, `art/model.py`; until 0.5.0 the method is the backend's, and W&B's calls are mirrored. As a
fork each row of a model's history is sent, with W&B on or off. Runs that W&B is opened for only to move checkpoints,
and the trainer inside the backend, whose rows the model sends, are left alone. Code that only imports ART has one run a
model in one process, which Probe's ambient run is not: the plan says what to do.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._signatures import (
    Function,
    Layer,
    Wiring,
    calls_in,
    claim,
    classes,
    mentions_probe,
    of,
    opening,
    parameters,
)

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "art"
_SINK = "_log_metrics"


def plan(context: Context) -> None:
    """Edit the model where it is in the repository, else ask."""
    done = False
    for module in context.modules(b"def _log_metrics"):
        for layer in classes(module):
            if (
                of(module, "art")
                and _SINK in layer.methods
                and {"metrics", "step"} <= set(parameters(layer.methods[_SINK]))
            ):
                done |= _wire(context, layer, layer.methods[_SINK])
    if done:
        for module in context.modules(b"wandb", b"Trainer"):
            if of(module, "art"):
                claim(context, NAME, module)
        return
    for module in context.modules(b"TrainableModel"):
        for call in module.calls():
            if context.program.resolve(module, call.func) & {"art.TrainableModel", "art.model.TrainableModel"}:
                context.found(NAME, "imported")
                site = context.site(NAME, "build", module, call, module.code(call.func), outcome="asked")
                site.why = "the model sends its metrics itself, by a private method of the installed package"
                context.note(
                    "question", "installed-tracker", f"{site.what}: {site.why}", path=module.path, line=site.line,
                    next="call probe.init() once and probe.log(metrics, step=await model.get_step()) beside model.train; "
                    "or import .art/<project>/models/<name>/history.jsonl afterwards",
                )  # fmt: skip
                return


def _wire(context: Context, layer: Layer, sink: Function) -> bool:
    """The rows as the model names them, at ART's own step, whether W&B is on or not."""
    module = layer.module
    written = next((c for c in calls_in(sink) if module.code(c.func) == "os.makedirs"), None)
    row = next((s for s in ast.walk(sink) if isinstance(s, ast.Name) and s.id == "prefixed"), None)
    if written is None or row is None or not _has_name(module):
        return False
    context.found(NAME, f"class {layer.node.name}")
    wiring = Wiring(
        context, NAME, module, layer.node, f"{layer.node.name}.{sink.name}", applicability="review",
        process="script", why="each row that the model writes to its history is sent",
    )  # fmt: skip

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        line = opening(context, alias, "self.name", None)
        lines = [
            f"if {alias}.active_run() is None:", f"    {line}",
            f'{alias}.log({{k: v for k, v in prefixed.items() if k != "training_step"}}, step=step)',
        ]  # fmt: skip
        wiring.put(place.before(module, module.statement(written), lines), "send what the model's history gets")

    if wiring.write(mentions_probe(sink), fill):
        context.note(
            "warning", "one-run-a-process", "models of one script share one run of Probe: rows of two models at one "
            "step can't be told apart", path=module.path, line=sink.lineno, next="train one model in a process",
        )  # fmt: skip
    return True


def _has_name(module: Module) -> bool:
    return "self.name" in module.source.text


RULE = Rule(name=NAME, title="ART", needles=(b"_log_metrics", b"TrainableModel"), plan=plan, order=91)
