"""Facades over several trackers: L1 holds a list of loggers (NeMo RL), L2 calls each by hand (AReaL).

L1: `log_metrics` goes through a list that the constructor fills. L2: one method opens W&B, SwanLab and others, another
sends the same row to each. Both send it to Probe once, in the same method, whichever of them are on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free
from instrument.plan.edits import Applicability
from instrument.repo.scopes import terminal
from instrument.repo.tree import walk
from instrument.shapes._signatures import (
    Function,
    Layer,
    Wiring,
    below,
    calls_in,
    claim,
    classes,
    mentions_probe,
    opening,
    parameters,
)

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

#: What a method that hands rows on is called, the usual first.
_LOG_METHODS = ("log_metrics", "log", "write", "record")

# -- L1: a list of loggers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fanout:
    """A class that hands each call on to a list of loggers, and the last statement that adds one to the list."""

    layer: Layer
    #: The list, as the class writes it ("self.loggers").
    name: str
    after: ast.stmt
    #: The method that goes through it.
    log: str = "log_metrics"


def fanouts(context: Context) -> list[Fanout]:
    """Classes whose constructor fills a list with loggers and whose `log_metrics`, or the like, goes through it."""
    found = []
    lists = ("loggers", "monitors", "trackers", "backends", "sinks", "writers")
    for module in context.modules(*(f"{name}.append".encode() for name in lists)):
        for layer in classes(module):
            name = next((n for n in _LOG_METHODS if n in layer.methods), "")
            init, log = layer.methods.get("__init__"), layer.methods.get(name)
            if init is None or log is None or parameters(log)[1:2] != ["step"]:
                continue
            added = [(stmt, call.func.value) for stmt in init.body for call in calls_in(stmt)
                     if isinstance(call.func, ast.Attribute) and call.func.attr == "append" and call.args]  # fmt: skip
            looped = {module.code(f.iter) for f in walk(log) if isinstance(f, ast.For | ast.AsyncFor)}
            mine = [(stmt, module.code(value)) for stmt, value in added if module.code(value) in looped]
            if len({id(stmt) for stmt, _ in mine}) > 1:
                found.append(Fanout(layer, mine[-1][1], mine[-1][0], name))
    return found


def wire_fanout(context: Context, rule: str, found: Fanout, *, applicability: Applicability = "safe") -> bool:
    """Send to Probe what the class hands on. One more logger in its list would fail tests that count them."""
    module, node, methods = found.layer.module, found.layer.node, found.layer.methods
    wiring = Wiring(context, rule, module, node, f"{node.name}: {found.name}", applicability)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        settings, log = methods.get("log_hyperparams"), methods[found.log]
        if settings is not None and parameters(settings):
            line = opening(context, alias, None, parameters(settings)[0])
            wiring.put(place.at_top_of(module, settings, [line]), "open Probe's run with the settings")
        else:
            given = next((p for p in parameters(methods["__init__"]) if p in ("config", "cfg", "args")), None)
            line = opening(context, alias, None, given)
            wiring.put(below(module, found.after, [line]), "open Probe's run once the loggers are open")
        names = parameters(log)
        row = names[0]
        if "prefix" in names:
            other = " if k != step_metric" if "step_metric" in names else ""
            row = f'{{f"{{prefix}}/{{k}}" if prefix else k: v for k, v in {row}.items(){other}}}'
        wiring.put(place.at_top_of(module, log, [f"{alias}.log({row}, step=step)"]), "send each row that it hands on")
        closer = methods.get("finish") or methods.get("close")
        if closer is not None:
            closing = place.at_top_of(module, closer, [f"{alias}.finish()"])
            wiring.put(closing, "close it with the loggers: as failed while an exception passes")

    done = wiring.write(mentions_probe(found.layer.methods[found.log]), fill)
    claim(context, rule, module)
    return done


# -- L2: several trackers, each called by hand ------------------------------------------------------------------------

_OPENS = {"wandb.init", "swanlab.init", "trackio.init"}
_LOGS = {"wandb.log", "swanlab.log", "trackio.log"}
_CLOSES = {"wandb.finish", "swanlab.finish", "trackio.finish"}


@dataclass(frozen=True, slots=True)
class Inline:
    """A class that opens several trackers in one method and sends each row to all of them in another."""

    layer: Layer
    opener: Function
    opens: list[ast.Call]
    logs: list[ast.Call]
    closes: list[ast.Call]


def inlines(context: Context) -> list[Inline]:
    """Classes that send the same row to two trackers or more, side by side."""
    found = []
    for module in context.modules(b"swanlab", b"trackio"):
        for layer in classes(module):
            opener, opens = _most(context, layer, _OPENS)
            _, logs = _most(context, layer, _LOGS)
            _, closes = _most(context, layer, _CLOSES)
            same = {module.code(row) for call in logs if (row := place.argument(call, 0, "data")) is not None}
            if opener is not None and len(opens) > 1 and len(logs) > 1 and len(same) == 1:
                found.append(Inline(layer, opener, opens, logs, closes))
    return found


def _most(context: Context, layer: Layer, names: set[str]) -> tuple[Function | None, list[ast.Call]]:
    """The method that calls most of these functions, and its calls."""
    best: tuple[Function | None, list[ast.Call]] = (None, [])
    for method in layer.methods.values():
        calls = [
            call
            for call in calls_in(method)
            if _may_be(layer.module, call.func, names) and context.program.resolve(layer.module, call.func) & names
        ]
        calls.sort(key=layer.module.start)
        if len(calls) > len(best[1]):
            best = (method, calls)
    return best


def _may_be(module: Module, func: ast.expr, names: set[str]) -> bool:
    """Whether a callee is called like one of these functions, or by a name that the file gave it."""
    last = terminal(func)
    called = last is not None and any(name.endswith(f".{last}") for name in names)
    return called or (isinstance(func, ast.Name) and func.id in module.aliases)


def wire_inline(
    context: Context, rule: str, found: Inline, *, name: str | None = None, applicability: Applicability = "safe"
) -> bool:  # fmt: skip
    """One call to Probe where the first of the trackers is called, under none of the trackers' own switches."""
    module, node = found.layer.module, found.layer.node
    wiring = Wiring(context, rule, module, node, node.name, applicability)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        config = place.argument(found.opens[0], None, "config")
        text = module.code(config) if config is not None and effect_free(config) else None
        first = module.statement(found.opens[0])
        line = opening(context, alias, name, text)
        wiring.put(place.before(module, first, [line]), "open Probe's run before the trackers, whatever their modes")
        log = found.logs[0]
        row, step = place.argument(log, 0, "data"), place.argument(log, 1, "step")
        if row is None or not effect_free(row):
            wiring.put(None, "")
            return
        sent = f"{alias}.log({module.code(row)}" + (f", step={module.code(step)})" if step is not None else ")")
        wiring.put(place.before(module, module.statement(log), [sent]), "send each row once, at the trackers' step")
        if found.closes:
            closing = place.before(module, module.statement(found.closes[0]), [f"{alias}.finish()"])
            wiring.put(closing, "close it with the trackers: as failed while an exception passes")

    done = wiring.write(mentions_probe(found.opener), fill)
    claim(context, rule, module)
    return done
