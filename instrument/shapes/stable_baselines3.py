"""Stable-Baselines3, sb3-contrib and sbx: a callback in `model.learn`, which adds an output format to the model's logger.

Read in stable-baselines3 2.9.2: `learn` makes a new Logger unless one was set, then starts the callbacks; every series
goes through `Logger.dump(step=num_timesteps)` to each output format. `callback=` takes None, a callback, a list or a
plain function. Learning on (`reset_num_timesteps=False`) goes on in the same run. W&B's WandbCallback with
`sync_tensorboard` reads TensorBoard's files, so that nothing of it is mirrored elsewhere.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "stable_baselines3"
_DOOR = Door(
    rule=NAME,
    title="Stable-Baselines3",
    callback="ProbeSB3Callback",
    part=NAME,
    keyword="callback",
    position=1,
    helper="sb3_callback",
    single=True,
    one=r"(?:stable_baselines3|sb3_contrib|wandb)\.(?:\w+\.)*\w*(?:Callback|CallbackList)\(\)",
    why="ProbeSB3Callback gets what the model's logger writes, at its timesteps",
)
_PACKAGES = ("stable_baselines3", "sb3_contrib", "sbx")
_MODEL = re.compile(rf"(?:{'|'.join(_PACKAGES)})\.(?:\w+\.)*[A-Z]\w*(?:\.load)?\(\)")


def plan(context: Context) -> None:
    """Add the callback to every `learn` of a model."""
    needles = tuple(package.encode() for package in _PACKAGES)
    for module in context.modules(b".learn(", also=needles):
        if own_source(context, module, *_PACKAGES):
            continue
        for call in module.calls():
            if not isinstance(call.func, ast.Attribute) or call.func.attr != "learn":
                continue
            if any(_MODEL.fullmatch(name) for name in context.program.resolve(module, call.func.value)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
                data = module.source.data
                beside = next(
                    (p for p in _PACKAGES if f"from {p}".encode() in data or f"import {p}".encode() in data), ""
                )
                add_callback(context, module, call, _DOOR, site, beside)


RULE = Rule(name=NAME, title="Stable-Baselines3", needles=tuple(p.encode() for p in _PACKAGES), plan=plan, order=160)
