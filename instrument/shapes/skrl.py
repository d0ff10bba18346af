"""skrl: what an agent writes to TensorBoard, from where the agent, or the Runner that builds it, is built.

Read in skrl 0.10.2, 1.4.3 and 2.1.1: a trainer calls `agent.init`, which opens the writer, on rank 0 alone (elsewhere
`write_interval` is 0); each series goes through `agent.writer.add_scalar` at the timestep. W&B is opened in there with
`sync_tensorboard`, so that nothing of it is mirrored elsewhere. Where several agents train side by side, or in processes
of their own, one run would get them mixed: that is asked about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import ask, class_calls
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "skrl"
_RECORDER = Recorder(
    rule=NAME, title="skrl", base="agent",
    why="what the agent writes to TensorBoard goes to Probe, at its timesteps",
)  # fmt: skip
_AGENTS = "A2C AMP CEM DDPG DDQN DQN IPPO MAPPO PPO Q_LEARNING RPO SAC SARSA TD3 TRPO".split()
_AGENT = re.compile(
    rf"skrl\.(?:multi_)?agents\.\w+\.(?:\w+\.)*(?:(?:{'|'.join(_AGENTS)})(?:_RNN)?|Agent|MultiAgent)"
    r"|skrl\.utils\.runner\.\w+\.(?:\w+\.)*Runner"
)
_TRAINS = re.compile(rb"\.train\(|\.run\((?!\s*(?:mode\s*=\s*)?[\"']eval)|\.post_interaction\(")
_EVALUATES = re.compile(rb"\.eval\(|\.run\(\s*(?:mode\s*=\s*)?[\"']eval")


def plan(context: Context) -> None:
    """Have every agent recorded that may be trained."""
    for module in context.modules(b"skrl"):
        data = module.source.data
        if own_source(context, module, NAME) or (_EVALUATES.search(data) and not _TRAINS.search(data)):
            continue
        for call in class_calls(module):
            if any(_AGENT.fullmatch(name) for name in context.program.resolve(module, call.func)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
                if _several(module):
                    ask(
                        context, site, "callback-by-hand",
                        f"{site.what}: several agents train side by side, which would share one run",
                        f"call {_RECORDER.function} of probe_tracking with the one that is to be recorded",
                    )  # fmt: skip
                    continue
                record_built(context, module, call, _RECORDER, site, NAME)


def _several(module: Module) -> bool:
    return b"ParallelTrainer(" in module.source.data or b"agents_scope" in module.source.data


RULE = Rule(name=NAME, title="skrl", needles=(b"skrl",), plan=plan, order=160)
