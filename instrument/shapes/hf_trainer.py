"""Hugging Face Trainer and its kin: TRL, Seq2SeqTrainer, sentence-transformers, SetFit, subclasses of the repository.

Probe's callback is added where a Trainer is built (transformers 4.0 to 5.24: `callbacks=` takes instances). `report_to`
stays as it is: the name "probe" in it raises where the SDK is missing, and replacing "wandb" in it would drop what TRL
logs to W&B by hand. A callback in each Trainer, never one shared by two.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.append import append_argument, append_element
from instrument.plan.emission import Tracker
from instrument.plan.mirror import Mirror
from instrument.plan.place import Insertion
from instrument.plan.probe_calls import ProbeCalls
from instrument.plan.rules import Rule
from instrument.shapes._building import after_building, ask, calls_of, class_calls, insert, refuse_shadowed, target_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module

NAME = "hf_trainer"

_TRAINER = re.compile(
    r"(?:repo:)?(?:transformers|trl|sentence_transformers|setfit|unsloth|optimum|peft|span_marker|adapters|gliner)"
    r"(?:\.\w+)*\.\w*Trainer"
)
#: What a file says that has one of them to do with.
_WORDS = (
    b"transformers", b"trl", b"setfit", b"unsloth", b"optimum", b"span_marker", b"gliner",
    b"from adapters", b"import adapters",
)  # fmt: skip

_CALLBACK = re.compile(r"(?:repo:)?transformers\.(?:\w+\.)*TrainerCallback")

#: In the order in which an import is looked for: unsloth patches the others and must be imported before them.
_PACKAGES = ("unsloth", "trl", "sentence_transformers", "setfit", "span_marker", "transformers")

#: Trainers of other families that live in these packages' names but take no Hugging Face callback.
_NOT_HF = re.compile(r"(?:repo:)?transformers\.(?:\w+\.)*TF\w*Trainer")

#: Trainers of these packages without an argument `callbacks` that inherit `add_callback` (trl 0.11.4, setfit 1.1.3).
_ONLY_AFTER = re.compile(r"(?:repo:)?(?:trl\.(?:\w+\.)*IterativeSFTTrainer|setfit\.(?:\w+\.)*DistillationTrainer)")
#: Before setfit 1.0 these have no callbacks at all, and since then they are old names of those that have.
_OLD_SETFIT = re.compile(r"(?:repo:)?setfit\.(?:\w+\.)*(?:SetFitTrainer|DistillationSetFitTrainer)")
#: TRL's own, which are no Hugging Face Trainers: they log through an Accelerator of theirs, which `log_with` of their
#: configuration names the trackers of (trl 0.7.11 to 0.19.1; gone by 0.24).
#: Those of optimum-habana 1.18.1 are made from them.
_LOG_WITH = re.compile(
    r"(?:repo:)?(?:trl\.(?:\w+\.)*(?:DDPOTrainer|AlignPropTrainer)|optimum\.(?:\w+\.)*Gaudi(?:DDPO|PPO)Trainer)"
)
#: Up to TRL 0.11 so is PPOTrainer: told by what only that one has (trl 0.11.4).
_PPO = re.compile(r"(?:repo:)?trl\.(?:\w+\.)*PPOTrainer")
_OLD_PPO = re.compile(
    rb"\blog_with\s*=|\.log_stats\(|\bcreate_reference_model\b|\bPPOConfig\([^)]*\bmodel_name\s*=|WithValueHead"
    rb"|\.step\(\s*\w*quer"
)

#: What writes `probe.finish` into a file that opens W&B.
_CLOSES = Tracker(
    name=NAME, title="Hugging Face Trainer", packages=frozenset({"transformers"}), needles=(), opens={}, emits={},
    closes=frozenset(), parts=("core", "wandb"),
)  # fmt: skip


def plan(context: Context) -> None:
    """Add the callback to every Trainer that first-party code builds."""
    context.own_steps.append(partial(_step_at, context))
    for module in context.modules(b"Trainer", also=_WORDS):
        for call in class_calls(module):
            names = context.program.resolve(module, call.func)
            if any(_TRAINER.fullmatch(n) and not _NOT_HF.fullmatch(n) for n in names):
                _wire(context, module, call, names)
        if b".hyperparameter_search(" in module.source.data:
            _close_before_search(context, module)


def _wire(context: Context, module: Module, call: ast.Call, names: frozenset[str]) -> None:
    if context.claimed(module.path, module.start(call)) is not None:
        return  # a trainer framework's own, whose rows it sends itself
    context.found("trl" if any(n.removeprefix("repo:").startswith("trl.") for n in names) else NAME)
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
    if _has_callback(context, module, call):
        site.outcome, site.why = "already", "Probe is registered on it"
        context.opened_elsewhere = True
        return
    if refuse_shadowed(context, module, site):
        return
    if any(_OLD_SETFIT.fullmatch(name) for name in names):
        ask(
            context, site, "callback-by-hand", "this Trainer of SetFit's takes no callbacks",
            "build setfit.Trainer in its place, with callbacks=[ProbeCallback()] of probe_tracking",
        )  # fmt: skip
        return
    if any(_LOG_WITH.fullmatch(name) for name in names) or (
        any(_PPO.fullmatch(name) for name in names) and _OLD_PPO.search(module.source.data)
    ):
        _add_tracker(context, module, call, site)
        return
    if any(_ONLY_AFTER.fullmatch(name) for name in names):
        if _add_after(context, module, call, site):
            context.opened_elsewhere = True
            site.outcome, site.why = "covered", "ProbeCallback gets what the Trainer logs, on the process that logs"
        return
    if _add(context, module, call, site):
        context.opened_elsewhere = True
        site.outcome, site.why = "covered", "ProbeCallback gets what the Trainer logs, on the process that logs"


def _has_callback(context: Context, module: Module, call: ast.Call) -> bool:
    if "ProbeCallback" in module.code(call) or ".accelerator.trackers.append(ProbeTracker(" in module.source.text:
        return True
    given = place.argument(call, None, "callbacks")
    if isinstance(given, ast.Name) and re.search(
        rf"\b{given.id}\b[^\n]*(?:=|append\(|extend\()[^\n]*ProbeCallback", module.source.text
    ):
        return True  # `callbacks = [..., ProbeCallback()]` above
    target = target_of(module, call)
    if target and re.search(rf"{re.escape(target)}\.add_callback\(\s*ProbeCallback", module.source.text):
        return True
    return bool(re.search(r"report_to\s*=\s*[^\n]*[\"']probe[\"']", module.source.text))


def _takes_callbacks(context: Context, module: Module, call: ast.Call) -> bool:
    """Whether a subclass of the repository hands `callbacks` on, as far as its own `__init__` shows."""
    found = context.program.definition(module, call.func)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return True
    for item in found[1].body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            arguments = item.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            return arguments.kwarg is not None or any(a.arg == "callbacks" for a in every)
    return True


def _add(context: Context, module: Module, call: ast.Call, site: Site) -> bool:
    given = place.argument(call, None, "callbacks")
    hidden = any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args)
    # How many arguments stand before it: 8 in transformers, 7 in most of TRL, 4 in its AsyncDistillationTrainer (1.16).
    most = 4 if any(n.startswith("trl.") for n in context.program.resolve(module, call.func)) else 7
    if given is None and (hidden or len(call.args) > most or not _takes_callbacks(context, module, call)):
        return _add_after(context, module, call, site)
    text = f"{_name(context, module, call)}()"
    if given is None:
        insert(context, module, append_argument(module, call, f"callbacks=[{text}]"), NAME, _REASON)
    elif isinstance(given, ast.List):
        insert(context, module, append_element(module, given, text), NAME, _REASON)
    elif isinstance(given, ast.Constant) and given.value is None:
        context.edit(
            module.path, module.start(given), module.end(given), f"[{text}]", rule=NAME, reason=_REASON,
        )  # fmt: skip
    else:
        plain = isinstance(given, ast.Name) and _always_a_list(module, given)
        head, tail = ("[*", f", {text}]") if plain else ("[*(", f" or []), {text}]")
        group = f"{module.path}:{module.start(call)}"
        insert(context, module, Insertion(module.start(given), head), NAME, _REASON, group)
        insert(context, module, Insertion(module.end(given), tail), NAME, _REASON, group)
    return True


def _add_after(context: Context, module: Module, call: ast.Call, site: Site) -> bool:
    line = f"{{}}.add_callback({_name(context, module, call)}())"
    if after_building(context, module, call, line, NAME, _REASON):
        return True
    ask(
        context, site, "callback-by-hand",
        "this Trainer's arguments can't be read and no statement can stand beside it: add ProbeCallback by hand",
    )  # fmt: skip
    return False


def _step_at(context: Context, module: Module, node: ast.AST) -> str | None:
    """The trainer's step where a method of a callback, or of a Trainer's subclass, has it at hand."""
    function = module.function(node)
    around = module.parent(function) if isinstance(function, ast.FunctionDef) else None
    if not isinstance(function, ast.FunctionDef) or not isinstance(around, ast.ClassDef) or not function.args.args:
        return None
    kinds = frozenset[str]().union(*(context.program.resolve(module, base) for base in around.bases))
    if any(_CALLBACK.fullmatch(kind) for kind in kinds):
        given = any(a.arg == "state" for a in (*function.args.args, *function.args.kwonlyargs))
        bound = any(
            isinstance(n, ast.Name) and n.id == "state" and isinstance(n.ctx, ast.Store) for n in ast.walk(function)
        )
        return "state.global_step" if given and not bound else None
    if function.name != "__init__" and any(_TRAINER.fullmatch(kind) and not _NOT_HF.fullmatch(kind) for kind in kinds):
        return f"{function.args.args[0].arg}.state.global_step"
    return None


def _close_before_search(context: Context, module: Module) -> None:
    """`trainer.hyperparameter_search(...)` in a file that opens W&B: transformers closes that run and opens one a trial.

    A run of Probe's that is still open would be joined by every trial (read in transformers 5.24, WandbCallback.setup).
    """
    if not any(True for _ in calls_of(context, module, "init", frozenset({"wandb.init"}))):
        return
    mirror = Mirror(context, _CLOSES, module, "wandb", ProbeCalls(context, module))
    for call in module.calls():
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "hyperparameter_search"):
            continue
        if mirror.existing.counterpart(call, "finish"):
            continue
        point = place.before(module, module.statement(call), [f"{mirror.alias}.finish()"])
        if point is not None:
            mirror.insert(point, "close Probe's run where transformers closes W&B's: each trial opens its own")


def _add_tracker(context: Context, module: Module, call: ast.Call, site: Site) -> None:
    """One more tracker behind those of a trainer's own Accelerator, the first of which its image hooks are given.

    Not in `log_with`: TRL compares it with "wandb" and "tensorboard" for what else it logs, and at which steps.
    """
    tracker = context.tracking.name(module, "ProbeTracker", "accelerate", beside="trl", at=call)
    line = f"{{0}}.accelerator.trackers.append({tracker}(config=vars({{0}}.config)))"
    if after_building(context, module, call, line, NAME, _TRACKED):
        context.opened_elsewhere = True
        site.outcome, site.why = "covered", "ProbeTracker gets what the trainer's Accelerator logs, on the main process"
        return
    ask(
        context, site, "no-place",
        "this trainer logs through an Accelerator of its own, and is built where no statement can stand beside it",
        "keep it in a name, then run `instrument apply` again",
    )  # fmt: skip


def _always_a_list(module: Module, name: ast.Name) -> bool:
    """Whether every assignment of a name in the file is a written-out list."""
    values = [
        node.value
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in node.targets)
    ]
    parameters = any(isinstance(node, ast.arg) and node.arg == name.id for node in ast.walk(module.tree))
    return bool(values) and not parameters and all(isinstance(v, (ast.List, ast.ListComp)) for v in values)


_TRACKED = "register Probe's tracker on the Accelerator that this trainer logs through, behind those of `log_with`"
_REASON = "register Probe's callback on this Trainer; what it logs reaches Probe from the process that logs"


def _name(context: Context, module: Module, call: ast.Call) -> str:
    """ProbeCallback, imported where the class that is built here is imported."""
    data = module.source.data
    beside = next(
        (p for p in _PACKAGES if f"from {p}".encode() in data or f"import {p}".encode() in data), "transformers"
    )
    return context.tracking.name(module, "ProbeCallback", "huggingface", beside=beside, at=call)


RULE = Rule(name=NAME, title="Hugging Face Trainer", needles=(b"Trainer",), plan=plan, order=100)
