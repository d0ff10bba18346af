"""Shared by shapes whose framework keeps its logger, agent or runner in an object: one line of Probe's beside it.

`record_NAME(object)` of the generated module has the object's own way of logging tell Probe too. It is written after the
object is built or before it trains; where no statement can stand there, around the expression that builds it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.place import Insertion
from instrument.shapes._building import after_building, ask, insert, refuse_shadowed, target_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module

_RAY = re.compile(rb"^[ \t]*(?:from|import)[ \t]+ray\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """A function of the generated module that has an object of a framework recorded."""

    rule: str
    title: str
    #: What such an object is called where it has no name yet.
    base: str
    why: str

    @property
    def function(self) -> str:
        return f"record_{self.rule}"


def record_built(context: Context, module: Module, call: ast.Call, recorder: Recorder, site: Site, beside: str) -> None:
    """Have an object recorded right after it is built; the site says what came of it."""
    if _may(context, module, target_of(module, call), call, recorder, site):
        _built(context, module, call, recorder, site, beside)


def record_before(
    context: Context, module: Module, call: ast.Call, built: ast.expr, recorder: Recorder, site: Site, beside: str
) -> None:
    """Have an object recorded before a call that has it train: `model` in `model.train()`."""
    code = module.code(built)
    if not _may(context, module, code, built, recorder, site):
        return
    if not isinstance(built, (ast.Name, ast.Attribute)):
        _built(context, module, built, recorder, site, beside)
        return
    line = f"{recorder.function}({code})"
    point = place.before(module, module.statement(call), [line]) if place.evaluated_once(module, call) else None
    if point is None:
        _ask(context, recorder, site)
        return
    insert(context, module, point, recorder.rule, _reason(recorder))
    _done(context, module, call, recorder, site, beside)


def _is_recorded(module: Module, node: ast.expr, target: str, recorder: Recorder) -> bool:
    """Whether the object is handed to the function already: in the same function, or anywhere if it is an attribute."""
    return any(
        call.args
        and module.code(call.func) == recorder.function
        and module.code(call.args[0]) == target
        and ("." in target or module.function(call) is module.function(node))
        for call in module.calls()
    )


def _built(context: Context, module: Module, node: ast.expr, recorder: Recorder, site: Site, beside: str) -> None:
    line, reason = f"{recorder.function}({{}})", _reason(recorder)
    written = isinstance(node, ast.Call) and after_building(
        context, module, node, line, recorder.rule, reason, base=recorder.base
    )
    if not written and _handed_on(module, node):
        group = f"{module.path}:{module.start(node)}"
        insert(context, module, Insertion(module.start(node), line[:-3]), recorder.rule, reason, group)
        insert(context, module, Insertion(module.end(node), ")"), recorder.rule, reason, group)
        written = True
    if written:
        _done(context, module, node, recorder, site, beside)
    else:
        _ask(context, recorder, site)


def _handed_on(module: Module, node: ast.expr) -> bool:
    """Whether a value is only handed on where it stands, so that a function around it, which returns it, may stand too."""
    parent = module.parent(node)
    if isinstance(parent, ast.IfExp):
        return parent.test is not node and _handed_on(module, parent)
    if isinstance(parent, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in parent.targets)
    return isinstance(parent, (ast.keyword, ast.Return)) or (isinstance(parent, ast.Call) and parent.func is not node)


def _ask(context: Context, recorder: Recorder, site: Site) -> None:
    ask(
        context, site, "callback-by-hand", f"{site.what}: no statement can stand beside it",
        f"call {recorder.function} of probe_tracking with the {recorder.base} by hand",
    )  # fmt: skip


def _may(context: Context, module: Module, target: str | None, node: ast.expr, recorder: Recorder, site: Site) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Call) and module.code(parent.func) == recorder.function:
        target = module.code(node)
    if target is not None and _is_recorded(module, node, target, recorder):
        site.outcome, site.why = "already", f"{recorder.function} is called with it"
        context.opened_elsewhere = True
        return False
    if _RAY.search(module.source.data):
        site.outcome, site.why = "left", "in a file that runs on Ray, what is reported to Ray is recorded"
        return False
    return not refuse_shadowed(context, module, site)


def _reason(recorder: Recorder) -> str:
    return f"have Probe get what {recorder.title} logs, at {recorder.title}'s own steps"


def _done(context: Context, module: Module, at: ast.AST, recorder: Recorder, site: Site, beside: str) -> None:
    context.tracking.name(module, recorder.function, recorder.rule, beside=beside, at=at)
    context.opened_elsewhere = True
    site.outcome, site.why = "covered", recorder.why
