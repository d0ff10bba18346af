"""PI108: a key that is logged again at the same step; several axes in one Probe run that may be resumed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.keys import WILD, shown
from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import Loop, around, called, loops, names_in, stored_in
from instrument.audit.sinks import NEEDLES, Sink
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

_WAITS = frozenset({"sleep", "wait", "wait_for"})
_PASSES = re.compile(r"==|%|\blast\b|\bfinal\b|\bdone\b|\bis_main|\brank\b|>=")


def check(context: AuditContext) -> Iterator[Finding]:
    for sink in context.sinks:
        if sink.step is not None:
            message = _on_a_timer(sink) or _in_a_loop(context, sink)
            if message:
                yield context.finding("PI108", sink.module, sink.call, message, sink=sink)
    yield from _several_axes(context)


def _on_a_timer(sink: Sink) -> str | None:
    """A row sent each so many seconds, at a step that something else moves on."""
    module, step = sink.module, sink.step
    assert step is not None
    for loop in loops(module, sink.call):
        if isinstance(loop, ast.While) and any(called(n) in _WAITS for n in _own(loop)):
            moved = stored_in(loop)
            if not _read(step) or _read(step) & moved or any(isinstance(n, ast.Call) for n in ast.walk(step)):
                return None
            return f"sent on a timer at step «{module.code(step)}», which this loop does not move: the same step again and again"
    return None


def _own(loop: Loop) -> Iterator[ast.AST]:
    for stmt in loop.body:
        yield from ast.walk(stmt)
    if isinstance(loop, ast.While):
        yield from ast.walk(loop.test)


def _in_a_loop(context: AuditContext, sink: Sink) -> str | None:
    """The same keys for each of several, all at one step."""
    module, step = sink.module, sink.step
    assert step is not None
    inside = loops(module, sink.call)
    if not inside or isinstance(inside[0], ast.While):
        return None
    loop = inside[0]
    if _left(module, sink.call, loop) or not isinstance(step, (ast.Name, ast.Constant)):
        return None
    moved = stored_in(loop)
    if _read(step) & moved or (isinstance(step, ast.Constant) and step.value is None):
        return None
    if isinstance(step, ast.Name) and not _plain(module, step):
        return None
    if isinstance(loop.iter, (ast.List, ast.Tuple)) and len(loop.iter.elts) < 2:
        return None
    entries = context.entries(sink)
    if not entries or any(
        e.module is not module or WILD in e.key or not isinstance(e.node, ast.Constant) for e in entries
    ):
        return None
    if any(loop not in loops(module, e.node) for e in entries):
        return None
    over = module.code(loop.target)
    return f"«{shown(entries[0].key)}» is logged for each {over} at the one step «{module.code(step)}»: one of them is kept"


def _left(module: Module, call: ast.Call, loop: Loop) -> bool:
    """Whether the loop ends after the call, or makes it in one pass alone."""
    stmt = module.statement(call)
    for holder in around(module, call):
        if holder is loop:
            break
        if isinstance(holder, (ast.If, ast.IfExp)) and _PASSES.search(module.code(holder.test)):
            return True
        if isinstance(holder, (ast.ExceptHandler, ast.Try)):
            return True
    block, position = module.block(stmt)
    later = [n for s in block[position + 1 :] for n in ast.walk(s)]
    return any(isinstance(n, (ast.Break, ast.Return, ast.Raise)) for n in later) or isinstance(stmt, ast.Return)


def _read(step: ast.expr) -> set[str]:
    return names_in(step) - {"self", "int", "float"}


def _plain(module: Module, step: ast.Name) -> bool:
    """Whether a name is a number by all that is seen: a parameter or a local one, nothing that counts by itself."""
    found = module.lookup(module.scope_of(step, inner=False), step.id)
    return found is not None and found[0].kind == "function" and "counter" not in step.id


def _several_axes(context: AuditContext) -> Iterator[Finding]:
    """`probe.init(axes={...})` with several axes, in a run that is joined again after a resume."""
    for module in context.modules(b"probe"):
        for call in module.calls():
            if called(call) != "init" or not context.program.resolve(module, call.func) & {"probe.init"}:
                continue
            axes = argument(call, None, "axes")
            again = argument(call, None, "external_id") or argument(call, None, "resume")
            if isinstance(axes, ast.Dict) and again is not None:
                named = {v.value for v in axes.values if isinstance(v, ast.Constant)}
                if len(named) > 1:
                    yield context.finding(
                        "PI108", module, call,
                        f"{len(named)} step axes in one run that is resumed: Probe keeps one floor a run, and drops the points of a "
                        "slower axis below it",
                        kind="axes",
                    )  # fmt: skip


RULE = AuditRule(
    code="PI108",
    name="key-logged-again",
    summary="A key is logged again at the same step, or several step axes share one Probe run that is resumed.",
    why="A point is known by its key and step. Probe keeps the first of two, W&B the last: what is sent again at the same step is "
    "lost in one of them, and which one is seen depends on the tracker. After a resume Probe drops what lies below the run's last "
    "step, whatever axis that step was on.",
    bad='for name, loader in loaders.items():\n    wandb.log({"eval/acc": evaluate(loader)}, step=step)',
    good='row = {f"eval/{name}/acc": evaluate(loader) for name, loader in loaders.items()}\nwandb.log(row, step=step)',
    needles=(*NEEDLES, b"probe"),
    check=check,
)
