"""NeMo RL (NVIDIA-NeMo/RL): `Logger` hands each call on to a list of loggers; the driver builds it.

Read at v0.3.0, v0.5.0, v0.7.0 and 7ea279ab (2026-08-22), `nemo_rl/utils/logger.py`. As a fork the class sends Probe
what it hands on, without a key in the config (every recipe would need it, a unit test checks it) or an entry in the
list (unit tests count it). Code that only imports NeMo RL adds a logger to the one that `setup` returns. `ray/*` stands
at seconds since the start.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._building import insert, refuse_shadowed
from instrument.shapes._fanouts import fanouts, wire_fanout
from instrument.shapes._signatures import list_builders, of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "nemo_rl"


def plan(context: Context) -> None:
    """Edit the class where it is in the repository, else add to the list that `setup` returns."""
    found = [fanout for fanout in fanouts(context) if of(fanout.layer.module, "nemo_rl", "nemo_reinforcer")]
    for fanout in found:
        context.found(NAME, f"class {fanout.layer.node.name}")
        if wire_fanout(context, NAME, fanout):
            context.note(
                "info", "two-axes", "ray/* comes at seconds since the start, all else at training steps, in one run: "
                "a process that goes on in an earlier run sends ray/* from its first second again, which Probe drops",
                path=fanout.layer.module.path, next="give each relaunch a run of its own",
            )  # fmt: skip
            context.note(
                "info", "pictures-stay", "log_plot and log_histogram: pictures stay with the other loggers",
                path=fanout.layer.module.path,
            )  # fmt: skip
    if found:
        list_builders(context, NAME, [fanout.layer for fanout in found])
        return
    for module in context.modules(b"nemo_rl"):
        for call in module.calls():
            names = context.program.resolve(module, call.func)
            if any(name.startswith("nemo_rl.algorithms.") and name.endswith(".setup") for name in names):
                _append(context, module, call)


def _append(context: Context, module: Module, call: ast.Call) -> None:
    context.found(NAME, "imported")
    site = context.site(NAME, "build", module, call, module.code(call.func), process="driver", strategy="register")
    stmt = module.statement(call)
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
    names = [n.id for n in getattr(target, "elts", []) if isinstance(n, ast.Name)]
    if "logger.loggers.append(" in module.source.text:
        site.outcome, site.why = "already", "its list has one more logger"
        return
    if refuse_shadowed(context, module, site):
        return
    config = place.argument(call, 0, "master_config")
    if "logger" in names and isinstance(config, ast.Name):
        alias = context.tracking.alias(module, "core", "adapter", beside="nemo_rl")
        line = f"logger.loggers.append({alias}.Logger(config={config.id}))"
        point = place.after(module, stmt, [line])
        if point is not None:
            insert(context, module, point, NAME, "one more logger, which gets what the others get from here on")
            site.outcome, site.why = "covered", "its logger gets what the others get after setup"
            return
    site.outcome, site.why = "asked", "the logger that setup returns is not in a name `logger`"
    context.note(
        "question", "register-by-hand", site.why, path=module.path, line=site.line,
        next="append probe.Logger() to its list of loggers",
    )  # fmt: skip


RULE = Rule(name=NAME, title="NeMo RL", needles=(b"nemo_rl", b"nemo_reinforcer"), plan=plan, order=127)
