"""Hugging Face Trainer and its kin: TRL, Seq2SeqTrainer, sentence-transformers, SetFit, subclasses of the repository.

Probe's callback is added where a Trainer is built (transformers 4.0 to 5.24: `callbacks=` takes instances). `report_to`
stays as it is: the name "probe" in it raises where the SDK is missing, and replacing "wandb" in it would drop what TRL
logs to W&B by hand. A callback in each Trainer, never one shared by two.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.append import append_argument, append_element
from instrument.plan.place import Insertion
from instrument.plan.rules import Rule
from instrument.shapes._building import after_building, ask, class_calls, insert, refuse_shadowed, target_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module

NAME = "hf_trainer"

_TRAINER = re.compile(
    r"(?:repo:)?(?:transformers|trl|sentence_transformers|setfit|unsloth|optimum|peft|span_marker)(?:\.\w+)*\.\w*Trainer"
)

#: In the order in which an import is looked for: unsloth patches the others and must be imported before them.
_PACKAGES = ("unsloth", "trl", "sentence_transformers", "setfit", "span_marker", "transformers")

#: Trainers of other families that live in these packages' names but take no Hugging Face callback.
_NOT_HF = re.compile(
    r"(?:repo:)?(?:trl\.(?:\w+\.)*(?:DDPOTrainer|AlignPropTrainer)|transformers\.(?:\w+\.)*TF\w*Trainer)"
)

#: Trainers of these packages without an argument `callbacks` that inherit `add_callback` (trl 0.11.4, setfit 1.1.3).
_ONLY_AFTER = re.compile(r"(?:repo:)?(?:trl\.(?:\w+\.)*IterativeSFTTrainer|setfit\.(?:\w+\.)*DistillationTrainer)")
#: Before setfit 1.0 these have no callbacks at all, and since then they are old names of those that have.
_OLD_SETFIT = re.compile(r"(?:repo:)?setfit\.(?:\w+\.)*(?:SetFitTrainer|DistillationSetFitTrainer)")
#: Up to TRL 0.11 PPOTrainer is no Hugging Face Trainer: told by what only that one has (trl 0.11.4).
_PPO = re.compile(r"(?:repo:)?trl\.(?:\w+\.)*PPOTrainer")
_OLD_PPO = re.compile(rb"\blog_with\s*=|\.log_stats\(|\bcreate_reference_model\b|\bPPOConfig\([^)]*\bmodel_name\s*=")


def plan(context: Context) -> None:
    """Add the callback to every Trainer that first-party code builds."""
    for module in context.modules(
        b"Trainer", also=(b"transformers", b"trl", b"setfit", b"unsloth", b"sentence_transformers")
    ):
        for call in class_calls(module):
            names = context.program.resolve(module, call.func)
            if any(_TRAINER.fullmatch(n) and not _NOT_HF.fullmatch(n) for n in names):
                _wire(context, module, call, names)


def _wire(context: Context, module: Module, call: ast.Call, names: frozenset[str]) -> None:
    if context.claimed(module.path, module.start(call)) is not None:
        return  # a trainer framework's own, whose rows it sends itself
    context.found("trl" if any(n.removeprefix("repo:").startswith("trl.") for n in names) else NAME)
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
    if _has_callback(context, module, call):
        site.outcome, site.why = "already", "it has a ProbeCallback"
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
    if any(_PPO.fullmatch(name) for name in names) and _OLD_PPO.search(module.source.data):
        ask(
            context, site, "old-ppo", "this PPOTrainer (TRL up to 0.11) takes no callbacks: it logs through `log_with` and "
            "log_stats, and Probe does not get its metrics", "send the stats that `step` returns to probe.log by hand",
        )  # fmt: skip
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
    if "ProbeCallback" in module.code(call):
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
    if given is None and (hidden or len(call.args) > 7 or not _takes_callbacks(context, module, call)):
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


def _always_a_list(module: Module, name: ast.Name) -> bool:
    """Whether every assignment of a name in the file is a written-out list."""
    values = [
        node.value
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in node.targets)
    ]
    parameters = any(isinstance(node, ast.arg) and node.arg == name.id for node in ast.walk(module.tree))
    return bool(values) and not parameters and all(isinstance(v, (ast.List, ast.ListComp)) for v in values)


_REASON = "register Probe's callback on this Trainer; what it logs reaches Probe from the process that logs"


def _name(context: Context, module: Module, call: ast.Call) -> str:
    """ProbeCallback, imported where the class that is built here is imported."""
    data = module.source.data
    beside = next(
        (p for p in _PACKAGES if f"from {p}".encode() in data or f"import {p}".encode() in data), "transformers"
    )
    return context.tracking.name(module, "ProbeCallback", "huggingface", beside=beside, at=call)


RULE = Rule(name=NAME, title="Hugging Face Trainer", needles=(b"Trainer",), plan=plan, order=100)
