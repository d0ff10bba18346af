"""timm, used as a package: a train script of timm's own kind, whose summary of each epoch is logged in installed code.

Read in timm 1.0.31: `update_summary(epoch, train_metrics, eval_metrics, filename, lr=, write_header=, log_wandb=)` sends
`train_NAME`, `eval_NAME` and `lr` to W&B where `log_wandb` says so; Probe follows that flag where it is given. In a fork the
function is in the repository, and is mirrored there.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._building import ask, calls_of, insert, refuse_shadowed
from instrument.shapes._callbacks import own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "timm"
_FUNCTION = "record_timm"
_SUMMARY = frozenset({"timm.utils.update_summary", "timm.utils.summary.update_summary"})
#: Calls that do nothing but compute from numbers.
_PURE = frozenset({"sum", "len", "float", "int", "max", "min"})


def plan(context: Context) -> None:
    """Record what every summary is given, behind it."""
    for module in context.modules(b"update_summary", also=(b"timm",)):
        if own_source(context, module, NAME):
            continue
        for call in calls_of(context, module, "update_summary", _SUMMARY):
            _record(context, module, call)


def _record(context: Context, module: Module, call: ast.Call) -> None:
    context.found(NAME)
    site = context.site(NAME, "emit", module, call, f"{module.code(call.func)}(...)", strategy="register")
    given = [place.argument(call, at, name) for at, name in enumerate(("epoch", "train_metrics", "eval_metrics"))]
    flag, rate = place.argument(call, 6, "log_wandb"), place.argument(call, 4, "lr")
    texts = [module.code(node) for node in given if node is not None and _computes(node)]
    line = f"{_FUNCTION}({', '.join(texts)}"
    if f"{line}," in module.source.text or f"{line})" in module.source.text:
        site.outcome, site.why = "already", f"{_FUNCTION} is called behind it"
        context.opened_elsewhere = True
        return
    if refuse_shadowed(context, module, site):
        return
    stmt = module.statement(call)
    plain = isinstance(stmt, ast.Expr) and stmt.value is call and (flag is None or _computes(flag))
    if rate is not None and _computes(rate):
        line += f", lr={module.code(rate)}"
    if flag is not None:
        line += f", log_wandb={module.code(flag)}"
    point = place.after(module, stmt, [f"{line})"]) if plain and len(texts) == len(given) else None
    if point is None:
        ask(
            context, site, "callback-by-hand", f"{site.what}: what it is given can't be written twice",
            f"call {_FUNCTION} of probe_tracking with the epoch and both metrics behind it",
        )  # fmt: skip
        return
    context.tracking.name(module, _FUNCTION, NAME, beside=NAME, at=call)
    insert(context, module, point, NAME, "have Probe get what timm's summary gets, at its epochs")
    context.opened_elsewhere = True
    site.outcome, site.why = "covered", "record_timm gets what the summary gets, at the epoch"


def _computes(node: ast.expr) -> bool:
    """Whether an expression only looks at names and computes, so that it may be evaluated again."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            if not (isinstance(part.func, ast.Name) and part.func.id in _PURE) or part.keywords:
                return False
        elif isinstance(part, ast.expr) and not isinstance(
            part, (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare)
        ):
            return False
    return True


RULE = Rule(name=NAME, title="timm", needles=(b"update_summary",), plan=plan, order=160)
