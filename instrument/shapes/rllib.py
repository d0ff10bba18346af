"""RLlib driven by its own loop: `result = algo.train()` in the driver, old and new API stack (ray 2.9 to 2.60).

The result that the loop holds is mirrored; `algo.train()` is never called again to get it. Under a Tuner the trials
report, see ray_tune.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.alongside import wire_close
from instrument.plan.config import config_at
from instrument.plan.emission import Emission, Opening, Tracker
from instrument.plan.mirror import Mirror
from instrument.plan.opening import open_beside
from instrument.plan.probe_calls import ProbeCalls
from instrument.plan.rules import Rule
from instrument.shapes._building import ask, refuse_shadowed

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "rllib"
#: What gives an algorithm: `PPOConfig()....build()`, `build_algo()`, `PPO(config=...)`, `Algorithm.from_checkpoint()`.
_BUILD = re.compile(
    r"ray\.rllib\.(?:\w+\.)*(?:\w+Config\(\)(?:\.\w+\(\))*\.build(?:_algo)?|\w+\.from_checkpoint|algorithms\.(?:\w+\.)*[A-Z]\w*(?<!Config))"
)


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    config = config_at(context, module, call)
    return [f"config={config}"] if config else []


_OPENING = Opening(arguments=_arguments, ambient=lambda module, call: "", gives_handle=False)
_TRACKER = Tracker(
    name=NAME, title="RLlib", packages=frozenset({"ray"}), needles=(), opens={}, emits={}, closes=frozenset(),
)  # fmt: skip


def plan(context: Context) -> None:
    """Open a run beside the algorithm, mirror each result, close beside `stop`."""
    paths = context.paths(b"rllib", also=(b".train(",))
    paths = [path for path in paths if context.program.finder.find("ray", path) is None]  # else this is Ray itself
    # Where the algorithm comes from elsewhere, its callers would have to be looked at one by one.
    built = (b".build", b"from_checkpoint", b"rllib.algorithms")
    paths = [path for path in paths if any(word in context.repo.read(path) for word in built)]
    for module in context.program.parsed(paths):
        trains = [call for call in module.calls() if _method(context, module, call, "train")]
        if trains:
            _wire(context, module, trains)


def _is_algorithm(context: Context, module: Module, expression: ast.expr) -> bool:
    return any(
        name.endswith("()") and _BUILD.fullmatch(name.removesuffix("()"))
        for name in context.program.resolve(module, expression)
    )


def _method(context: Context, module: Module, call: ast.Call, name: str) -> bool:
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == name and _is_algorithm(context, module, func.value)


def _wire(context: Context, module: Module, trains: list[ast.Call]) -> None:
    context.found(NAME)
    mirror = Mirror(context, _TRACKER, module, "ray", ProbeCalls(context, module))
    sites = [(call, context.site(NAME, "emit", module, call, module.code(call.func))) for call in trains]
    if any(refuse_shadowed(context, module, site) for _, site in sites):
        return
    if b"wandb.init" in module.source.data:
        for _, site in sites:
            site.outcome, site.why = "left", "the file logs to W&B itself, and that is mirrored"
        return
    opened = False
    for call in module.calls():
        value = module.parent(call)
        if isinstance(value, (ast.Assign, ast.AnnAssign)) and _is_algorithm(context, module, call):
            open_beside(mirror, call, _OPENING)
            opened = True
    for call, site in sites:
        stmt = module.statement(call)
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
        if not opened or not isinstance(target, ast.Name) or module.parent(call) is not stmt:
            ask(
                context, site, "result-not-kept", "the result of train() is not kept in a name, or the algorithm is "
                "built elsewhere", "keep it (`result = algo.train()`), then run `instrument apply` again",
            )  # fmt: skip
        elif mirror.existing.counterpart(call, "log"):
            site.outcome, site.why = "already", "probe.log stands beside it"
        elif mirror.log(call, _row(target.id)):
            site.outcome, site.why, site.strategy = "covered", "probe.log gets the numbers of the result", "alongside"
    for call in module.calls():
        if _method(context, module, call, "stop"):
            wire_close(mirror, call)


def _row(name: str) -> Emission:
    """The result without the settings that RLlib repeats in it, at its own iteration."""
    row = f'{{k: v for k, v in {name}.items() if k != "config"}}, step={name}.get("training_iteration")'
    return Emission(uses=(), text=lambda texts: row)


RULE = Rule(name=NAME, title="RLlib", needles=(b"rllib",), plan=plan, order=150)
