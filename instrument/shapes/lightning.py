"""Lightning's Trainer, by both import names (1.9 to 2.6): Probe's logger is added last, the first one stays.

The first logger names the checkpoint folder and is `self.logger`, and `logger=` left out or True brings Lightning's
default logger (read in lightning 2.6.6, `_LoggerConnector.configure_logger`): so where the loggers are written out the
list grows by one, and everywhere else the built trainer's list does (`trainer.loggers` is the live list since 1.6).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.append import append_element
from instrument.plan.place import Insertion
from instrument.plan.rules import Rule
from instrument.shapes._building import after_building, ask, class_calls, insert, refuse_shadowed, target_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module

NAME = "lightning"

_TRAINER = re.compile(r"(?:lightning(?:\.pytorch)?|pytorch_lightning)(?:\.trainer)*\.Trainer")
_LOGGER = re.compile(r"(?:lightning(?:\.pytorch|\.fabric)?|pytorch_lightning)\.loggers(?:\.\w+)*\.\w+\(\)")
#: What sends numbers through `logger.experiment` (W&B's run, a SummaryWriter, MLflow's client, Comet, Neptune).
_PAST = frozenset({"log", "add_scalar", "add_scalars", "log_metric", "log_metrics"})
_REASON = "register Probe's logger last, so that the first one stays what `self.logger` and checkpoints use"


def plan(context: Context) -> None:
    """Add the logger to every Trainer that first-party code builds."""
    for module in context.modules(b"lightning", also=(b"Trainer(",)):
        for call in class_calls(module):
            if any(_TRAINER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                _wire(context, module, call)
        _past_the_logger(context, module)


def _past_the_logger(context: Context, module: Module) -> None:
    """`self.logger.experiment.log(...)`: sent to one tracker's own object, which no other logger sees."""
    if b".experiment." not in module.source.data:
        return
    for call in module.calls():
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in _PAST):
            continue
        held = call.func.value
        if isinstance(held, ast.Attribute) and held.attr == "experiment" and "logger" in module.code(held.value):
            if context.claimed(module.path, module.start(call)):
                continue
            why = "it goes to one logger's own object; self.log(...) reaches every logger"
            context.site(NAME, "emit", module, call, module.code(call.func), outcome="left", why=why)


def _wire(context: Context, module: Module, call: ast.Call) -> None:
    context.found(NAME)
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
    if _has_logger(module, call):
        site.outcome, site.why = "already", "it has a ProbeLogger"
        context.opened_elsewhere = True
        return
    if refuse_shadowed(context, module, site):
        return
    logger = place.argument(call, None, "logger")
    if (isinstance(logger, ast.Constant) and logger.value is False) or (
        isinstance(logger, ast.List) and not logger.elts
    ):
        ask(
            context, site, "logging-off", "this Trainer is told to log nowhere (`logger=False`): Probe is left off too",
            "give it a logger, or append ProbeLogger() to trainer.loggers by hand",
        )  # fmt: skip
        return
    if _add(context, module, call, logger, site):
        context.opened_elsewhere = True
        site.outcome, site.why = "covered", "ProbeLogger gets what the Trainer's loggers get, on the process that logs"
    else:
        ask(
            context,
            site,
            "logger-by-hand",
            "this Trainer is built where no statement can stand beside it: add ProbeLogger by hand",
        )


def _has_logger(module: Module, call: ast.Call) -> bool:
    if "ProbeLogger" in module.code(call):
        return True
    target = target_of(module, call)
    text = module.source.text
    if target and re.search(rf"{re.escape(target)}\.loggers?(?:\s*=|\.append\()[^\n]*ProbeLogger", text):
        return True
    given = place.argument(call, None, "logger")
    return isinstance(given, ast.Name) and bool(
        re.search(rf"\b{re.escape(given.id)}\b(?:\s*\+?=|\.append\(|\.extend\()[^\n]*ProbeLogger", text)
    )


def _add(context: Context, module: Module, call: ast.Call, logger: ast.expr | None, site: Site) -> bool:
    text = f"{_name(context, module, call)}()"
    if isinstance(logger, ast.List):
        insert(context, module, append_element(module, logger, text), NAME, _REASON)
        return True
    head = None
    if logger is not None:
        values = context.program.resolve(module, logger)
        if isinstance(logger, ast.Name) and _lists(module, logger):
            head = "[*"
        elif (isinstance(logger, ast.Call) and any(_LOGGER.fullmatch(v) for v in values)) or (
            isinstance(logger, ast.Name) and _one_object(context, module, logger)
        ):
            head = "["
    if head is not None:
        assert logger is not None
        group = f"{module.path}:{module.start(call)}"
        insert(context, module, Insertion(module.start(logger), head), NAME, _REASON, group)
        insert(context, module, Insertion(module.end(logger), f", {text}]"), NAME, _REASON, group)
        return True
    return after_building(context, module, call, f"{{0}}.loggers.append({text})", NAME, _REASON)


def _assigned(module: Module, name: ast.Name) -> list[ast.expr] | None:
    """Every value that a name is given in the file; None where it has others that can't be seen."""
    values: list[ast.expr] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.arg) and node.arg == name.id:
            return None
        if isinstance(node, (ast.For, ast.withitem, ast.NamedExpr, ast.Import, ast.ImportFrom)):
            target = getattr(node, "target", None) or getattr(node, "optional_vars", None)
            if isinstance(target, ast.Name) and target.id == name.id:
                return None
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id == name.id:
                    values.append(node.value)
                elif isinstance(target, (ast.Tuple, ast.List)) and any(
                    isinstance(e, ast.Name) and e.id == name.id for e in target.elts
                ):
                    return None
        elif (
            isinstance(node, (ast.AnnAssign, ast.AugAssign))
            and isinstance(node.target, ast.Name)
            and node.target.id == name.id
            and node.value is not None
        ):
            values.append(node.value)
    return values


def _lists(module: Module, name: ast.Name) -> bool:
    values = _assigned(module, name)
    return bool(values) and all(isinstance(v, (ast.List, ast.ListComp)) for v in values or ())


def _one_object(context: Context, module: Module, name: ast.Name) -> bool:
    """Whether a name always holds one logger, never None, a flag or a list."""
    values = _assigned(module, name)
    if not values:
        return False
    return all(
        isinstance(v, ast.Call) and any(_LOGGER.fullmatch(r) for r in context.program.resolve(module, v))
        for v in values
    )


def _name(context: Context, module: Module, call: ast.Call) -> str:
    beside = "pytorch_lightning" if b"pytorch_lightning" in module.source.data else "lightning"
    return context.tracking.name(module, "ProbeLogger", "lightning", beside=beside, at=call)


RULE = Rule(name=NAME, title="Lightning", needles=(b"lightning",), plan=plan, order=110)
