"""ms-swift (modelscope/ms-swift): callbacks by name; its Megatron trainer calls them on every rank.

Read in ms-swift 4.6.0 and 3602360a (2026-08-22), `swift/megatron/trainers/base.py`. As a fork its Megatron trainer
sends what it hands its callbacks, with the names that they give (`rewrite_logs`), from the last rank, which has the
losses. An entry in `megatron_callbacks_map` would have to be named by every command. Trainers of the Hugging Face path
take Probe's callback where a script builds them; `swift sft` itself builds them in a way that names no class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._signatures import Layer, Wiring, calls_in, claim, classes, mentions_probe, of, opening

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "ms_swift"
_MAP = "megatron_callbacks_map"


def plan(context: Context) -> None:
    """Edit the Megatron trainer where it is in the repository."""
    for module in context.modules(b"megatron_callbacks_map"):
        for layer in classes(module):
            if of(module, "swift") and {"on_log", "call_event"} <= set(layer.methods):
                _wire(context, layer)
    if NAME not in context.plan.shapes:
        return
    for module in context.modules(b"wandb", b"swanlab", b"SummaryWriter", b"Dummy"):
        if of(module, "swift") and ("megatron" in module.path.split("/") or not _opens(context, module)):
            claim(context, NAME, module)
    context.note(
        "info", "completions-stay", "tables of completions, and the profiling rows, which have no step, stay with W&B "
        "and SwanLab",
    )  # fmt: skip
    _ask_about_the_mixin(context)


def _opens(context: Context, module: Module) -> bool:
    return any(
        context.program.resolve(module, call.func) & {"wandb.init", "swanlab.init"} for call in module.calls()
    )  # fmt: skip


def _wire(context: Context, layer: Layer) -> None:
    module, methods = layer.module, layer.methods
    loop = next((s for s in ast.walk(methods["__init__"]) if isinstance(s, ast.For) and _MAP in module.code(s)), None)
    event = next((c for c in calls_in(methods["on_log"]) if module.code(c.func) == "self.call_event"), None)
    imported = next(
        (s for s in module.tree.body if isinstance(s, ast.ImportFrom) and any(a.name == _MAP for a in s.names)), None
    )
    if loop is None or event is None or imported is None or not imported.module:
        return
    context.found(NAME, f"class {layer.node.name}")
    wiring = Wiring(
        context, NAME, module, layer.node, layer.node.name, process="last rank",
        why="what the callbacks are handed is sent, under the names that they give it",
    )  # fmt: skip

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        line = opening(context, alias, "args.wandb_exp_name", "args")
        lines = ["if is_last_rank():", f"    {line}"]
        wiring.put(place.after(module, loop, lines), "open Probe's run on the rank that logs")
        needed = f"from {imported.module}.utils import rewrite_logs"
        wiring.put(place.after(module, imported, [needed]), "the names that W&B's and TensorBoard's callbacks give")
        sent = f"{alias}.log(rewrite_logs(logs), step=self.state.iteration)"
        point = place.before(module, module.statement(event), [sent])
        wiring.put(point, "before the callbacks, one of which writes strings into the logs")
        finalize = methods.get("finalize_training")
        if finalize is not None:
            wiring.put(place.at_top_of(module, finalize, [f"{alias}.finish()"]), "close it when training has ended")

    if "is_last_rank" in module.names:
        wiring.write(mentions_probe(layer.node), fill)


def _ask_about_the_mixin(context: Context) -> None:
    for module in context.modules(b"_get_callbacks"):
        for layer in classes(module):
            method = layer.methods.get("_get_callbacks")
            if of(module, "swift") and method is not None and "ProbeCallback" not in module.source.text:
                context.note(
                    "question", "hugging-face-path", "`swift sft` and `swift rlhf` build trainers without naming a "
                    "class: Probe gets nothing from them", path=module.path, line=method.lineno,
                    next="append ProbeCallback() to what _get_callbacks returns, and leave it out where scripts "
                    "build a trainer themselves",
                )  # fmt: skip


RULE = Rule(name=NAME, title="ms-swift", needles=(b"megatron_callbacks_map",), plan=plan, order=90)
