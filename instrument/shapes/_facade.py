"""Trackers that are functions without a registry: `init_tracking`, `log(args, metrics, step_key)`, `finish_tracking`.

Miles until 2026-05-04 and its LLM360 fork (3684c6da), slime v0.2.0 to v0.3.1 and 624b824a. Their source takes Probe's
Miles backend beside the other trackers, in every process that imports it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site, SiteKind
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module

FUNCTIONS = ("init_tracking", "log", "finish_tracking")
_KINDS: dict[str, SiteKind] = {"init_tracking": "open", "log": "emit", "finish_tracking": "close"}

_WHY = "the backend is opened and fed in every process that imports this module"

#: Calls of trackers that a fork's own tracking code makes; rules that run later leave them alone.
_TRACKER_NEEDLES = (b"wandb", b"SummaryWriter", b"mlflow", b"swanlab", b"trackio")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one of the functions: which one, and whether the file that defines it was edited."""

    module: Module
    call: ast.Call
    function: str
    inside: bool

    def site(self, context: Context, rule: str) -> Site:
        """Record it."""
        what = self.module.code(self.call.func)
        return context.site(
            rule, _KINDS[self.function], self.module, self.call, what, process=self.process, strategy="register"
        )

    @property
    def process(self) -> str:
        """The interpreter that it runs in, as far as the file shows."""
        owner = self.module.enclosing_class(self.call)
        primary = place.argument(self.call, 1, "primary")
        if isinstance(primary, ast.Constant) and primary.value is False:
            return f"Ray actor {owner.name}" if owner is not None else "Ray actor"
        if owner is not None:
            remote = any("ray.remote" in self.module.code(decorator) for decorator in owner.decorator_list)
            return f"Ray actor {owner.name}" if remote else f"where {owner.name} runs"
        return "where it is called" if self.module.package else "driver"


def calls(
    context: Context, needles: tuple[bytes, ...], done: set[str], pattern: re.Pattern[str]
) -> Iterator[Call]:  # fmt: skip
    """Calls of the functions: of those defined in the edited files `done`, or whose qualified name matches."""
    for module in context.modules(*needles):
        if module.path in done:
            continue
        names = set(FUNCTIONS)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                names |= {alias.asname for alias in node.names if alias.asname and alias.name in FUNCTIONS}
        for call in module.calls():
            func = call.func
            name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            if name not in names:
                continue
            resolved = context.program.resolve(module, func)
            own = any(value.startswith("repo:") for value in resolved)
            owner = context.program.definition(module, func) if own else None
            matched = next((m for value in sorted(resolved) if (m := pattern.fullmatch(value))), None)
            if owner is not None and owner[0].path in done and owner[1].name in FUNCTIONS:
                yield Call(module, call, owner[1].name, inside=True)
            elif matched is not None:
                yield Call(module, call, matched[1], inside=False)


def is_facade(module: Module) -> bool:
    """Whether a file has the functions, with the parameters that are relied on."""
    log = module.definition("log")
    opener = module.definition("init_tracking")
    return (
        isinstance(log, ast.FunctionDef) and isinstance(opener, ast.FunctionDef)
        and len(log.args.args) == 3 and log.args.args[0].arg == "args" and bool(opener.args.args)
    )  # fmt: skip


def wire(context: Context, rule: str, module: Module) -> bool:
    """Edit the file. False where a person must look first."""
    opener, log = module.definition("init_tracking"), module.definition("log")
    assert isinstance(opener, ast.FunctionDef) and isinstance(log, ast.FunctionDef)
    site = context.site(
        rule, "registry", module, opener, "init_tracking, log", process="every process", strategy="register"
    )
    if "ProbeBackend" in module.names or "probe" in module.names:
        from instrument.shapes.miles import say_sample_metrics_missing

        site.outcome, site.why = "already", "Probe's backend is fed here"
        say_sample_metrics_missing(context, module, site, module.tree)
        return True
    if refuse_shadowed(context, rule, module, site):
        return False
    from instrument.shapes.miles import settings  # what the person asked for is written the same way

    handle = next(name for name in ("_probe", "_probe_backend", "_probe_tracking_backend") if name not in module.names)
    given = settings(context).removeprefix(", ")
    made = _made(module, f"{handle} = {context.tracking.name(module, 'ProbeBackend', 'miles')}({given})")
    opened = _opened(module, opener, f"{handle}.init({_passed_on(opener)})")
    metrics, key = (a.arg for a in log.args.args[1:3])
    logged = place.at_top_of(module, log, [f"{handle}.log({metrics}, step={metrics}.get({key}), step_key={key})"])
    if made is None or opened is None or logged is None:
        site.outcome, site.why = "asked", "no statement can stand where these functions begin"
        return False
    _insert(context, rule, module, made, "one backend of Probe's a process")
    _insert(context, rule, module, opened, "open it with the other trackers, as primary or secondary")
    _insert(context, rule, module, logged, "feed it before the other trackers, one of which may raise")
    finish = module.definition("finish_tracking")
    if isinstance(finish, ast.FunctionDef):
        closed = place.at_top_of(module, finish, [f"{handle}.finish()"])
        if closed is not None:
            _insert(context, rule, module, closed, "close it also where W&B is off and the function returns early")
    site.outcome, site.why = "covered", _WHY
    say_what_it_needs(context)
    return True


def _made(module: Module, line: str) -> Insertion | None:
    """Below the last assignment above the first function, else right above that function."""
    body = module.tree.body
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    first = next(i for i, stmt in enumerate(body) if isinstance(stmt, definitions))
    above = body[first - 1] if first else None
    if isinstance(above, ast.Assign | ast.AnnAssign):
        return place.after(module, above, [line])
    return place.before(module, body[first], [line, "", ""])


def _opened(module: Module, opener: ast.FunctionDef, line: str) -> Insertion | None:
    """At the end, when W&B has an id to link to; at the start of a function that may return before its end."""
    returns = any(isinstance(node, ast.Return) and module.function(node) is opener for node in ast.walk(opener))
    last = opener.body[-1]
    if returns or place.ends_block(last):
        return place.at_top_of(module, opener, [line])
    return place.after(module, last, ["", line] if place.is_compound(last) else [line])


def _passed_on(opener: ast.FunctionDef) -> str:
    """The function's own parameters as arguments of a call."""
    arguments = opener.args
    texts = [arguments.args[0].arg]
    texts += [f"{a.arg}={a.arg}" for a in (*arguments.args[1:], *arguments.kwonlyargs)]
    return ", ".join([*texts, *([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])])


def claim_trackers(context: Context, rule: str, trackers: Iterable[Module]) -> None:
    """Keep later rules off what the framework's own tracking code sends to W&B, TensorBoard and others.

    The registered backend gets those rows. What other files of the framework send to W&B directly goes past every
    tracker, and past Probe: the report says so.
    """
    folders = {tracker.path.rpartition("/")[0] for tracker in trackers}
    for module in context.modules(*_TRACKER_NEEDLES):
        inside = module.path.rpartition("/")[0] in folders
        direct = [] if inside else _direct_logs(context, module)
        for call in module.calls() if inside else direct:
            context.claim(module.path, module.start(call), rule)
        for call in direct:
            why = "it goes straight to W&B, past the trackers, and names no step"
            site = context.site(rule, "emit", module, call, module.code(call.func), outcome="asked", why=why)
            context.note(
                "question", "past-the-trackers", f"{site.what}: {why}; Probe does not get it", path=module.path,
                line=site.line, next="send it with the framework's own log(args, metrics, step_key)",
            )  # fmt: skip


def _direct_logs(context: Context, module: Module) -> list[ast.Call]:
    """`wandb.log` in a file that opens no run itself."""
    found = []
    for call in module.calls():
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("log", "init"):
            names = context.program.resolve(module, func)
            if "wandb.init" in names:
                return []
            if "wandb.log" in names:
                found.append(call)
    return found


def refuse_shadowed(context: Context, rule: str, module: Module, site: Site) -> bool:
    """Whether something in the repository is called `probe` and would be imported in place of the SDK."""
    shadow = context.tracking.shadowed(module)
    if shadow is None:
        return False
    site.outcome, site.why = "refused", f"{shadow} shadows the SDK's package `probe`"
    context.note(
        "refusal", "probe-shadowed", f"{shadow} shadows the SDK, so {module.path} is left alone", path=shadow,
        next=f"rename {shadow}, then run `instrument apply` again",
    )  # fmt: skip
    return True


def say_what_it_needs(context: Context) -> None:
    """What the launch must provide, and how Probe is switched off."""
    context.note(
        "info", "miles-queue",
        "every process queues its rows under args.save/probe/metrics (a folder that all nodes see; without --save "
        "below the working directory), and the driver alone sends them: it needs PROBE_TOKEN, which `ray job submit` "
        "hands on only through env_vars of its runtime environment",
        next="`use_probe: false` through --custom-config-path, or PROBE_MODE=disabled, leaves Probe off",
    )  # fmt: skip
    context.note(
        "info", "miles-relaunch",
        "a relaunch under the same id (MILES_RUN_ID, else the Ray or Slurm job's) goes on in the same run, where Probe "
        "drops points at or below the highest step of any axis: rollout and eval rows stand behind train/step",
        next="give each relaunch a MILES_RUN_ID of its own",
    )  # fmt: skip


def _insert(context: Context, rule: str, module: Module, point: Insertion, reason: str) -> None:
    context.edit(
        module.path, point.offset, point.offset, point.text, reason=reason, rule=rule, group=f"{module.path}:{rule}"
    )
