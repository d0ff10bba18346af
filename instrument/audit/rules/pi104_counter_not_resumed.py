"""PI104: a step counter that starts again after a resume; one counter for metrics of several roles."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.axes import is_counter
from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import around, local_values, names_in
from instrument.audit.sinks import NEEDLES, Sink
from instrument.plan.place import has_splat

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module
    from instrument.repo.scopes import Binding, Scope

_ROLE = re.compile(r"(^|_)role(_|$)")
_KEPT = re.compile(r"state|save|load|resum|checkpoint|ckpt|restore|serial", re.IGNORECASE)
#: What a file says that can go on from a checkpoint.
_RESUMES = re.compile(rb"resume|load_checkpoint|load_ckpt|from_checkpoint|restore_checkpoint", re.IGNORECASE)
_CLOCK = frozenset({"time.time", "time.perf_counter", "time.monotonic"})
_COUNTS = re.compile(r"step|iter|epoch|episode|update|count", re.IGNORECASE)


def check(context: AuditContext) -> Iterator[Finding]:
    told: set[int] = set()
    for finding in (*_shared_by_roles(context), *_not_restored(context), *_never_given(context), *_elapsed(context)):
        if finding.node is None or id(finding.node) not in told:
            told.add(id(finding.node))
            yield finding


# -- one counter, several roles


def _shared_by_roles(context: AuditContext) -> Iterator[Finding]:
    for sink in context.sinks:
        if sink.kind != "row":
            continue
        entries = [e for e in context.entries(sink) if e.module is sink.module]
        here = sink.module.function(sink.call)
        own = [e for e in entries if sink.module.function(e.node) is here]
        roles = sorted(
            {name for e in own if isinstance(e.node, ast.JoinedStr) for name in names_in(e.node) if _ROLE.search(name)}
        )
        if not roles:
            continue
        told = context.keys.texts(sink.module, sink.step_key) if sink.step_key is not None else None
        for entry in own:
            if isinstance(entry.node, ast.Constant) and is_counter(entry.key) and (told is None or entry.key in told):
                yield context.finding(
                    "PI104", entry.module, entry.node,
                    f"the keys of this row name a role («{roles[0]}»), their counter «{entry.key}» does not: "
                    "several processes write one axis",
                    sink=sink, entry=entry, kind="role",
                )  # fmt: skip


# -- a counter that starts again


def _not_restored(context: AuditContext) -> Iterator[Finding]:
    if not any(
        _RESUMES.search(context.repo.read(path)) for path in context.repo.having(b"resum", b"load_", b"restore")
    ):
        return
    for module, sinks in _by_module(context):
        told: set[tuple[str, int]] = set()
        for name, node, scope in _counters(context, module):
            if _is_kept(module, name, scope) or (name, id(scope)) in told:
                continue
            told.add((name, id(scope)))
            use = next((text for sink in sinks for text in [_used(context, sink, name, scope)] if text), None)
            if use is not None:
                where = "each instance" if scope.kind == "class" else "the module"
                yield context.finding(
                    "PI104", module, node,
                    f"«{name}» counts from its start in {where} and {use}; nothing restores it on resume",
                    kind="counter", counter=name, scope=scope,
                )  # fmt: skip


def _by_module(context: AuditContext) -> list[tuple[Module, list[Sink]]]:
    found: dict[str, tuple[Module, list[Sink]]] = {}
    for sink in context.sinks:
        found.setdefault(sink.module.path, (sink.module, []))[1].append(sink)
    return list(found.values())


def _counters(context: AuditContext, module: Module) -> Iterator[tuple[str, ast.AugAssign, Scope]]:
    """`self.step += 1` where the class sets it to a constant, `STEP += 1` of the module's own."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
            continue
        if not isinstance(node.value, ast.Constant) or type(node.value.value) is not int:
            continue
        target, scope = node.target, module.scope_of(node, inner=False)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and _COUNTS.search(target.attr):
            owner = next((o.parent for o in scope.chain() if o.self_name == target.value.id), None)
            if owner is None:
                continue
            bound = _bound(context, module, owner, target.attr)
            if bound is not None and _all_constant([b.node for b in bound if b.kind != "annotation"]):
                yield target.attr, node, owner
        elif isinstance(target, ast.Name) and target.id in scope.globals and _COUNTS.search(target.id):
            if _all_constant([b.node for b in module.scope.names.get(target.id, ()) if b.kind != "annotation"]):
                yield target.id, node, module.scope


def _bound(context: AuditContext, module: Module, owner: Scope, name: str) -> list[Binding] | None:
    """All that a class and its bases give an attribute; None where a base is foreign and may do more."""
    found: list[Binding] = []
    if not isinstance(owner.node, ast.ClassDef):
        return None
    family = context.program.mro(module, owner.node)
    bases = sum(len(node.bases) for _, node in family)
    known = len(family) - 1 + sum(_plain(base) for _, node in family for base in node.bases)
    if bases > known:
        return None
    for other, node in family:
        scope = other.index.inner[node]
        found += [*scope.self_attributes.get(name, ()), *scope.names.get(name, ())]
    return found


def _plain(base: ast.expr) -> bool:
    """A base that keeps no state of its own."""
    last = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    return last in ("ABC", "object", "Protocol", "Generic", "Enum")


def _all_constant(values: list[ast.AST]) -> bool:
    """Whether a counter is only ever given constants (what `+= 1` adds is one of them)."""
    return len(values) > 1 and all(isinstance(v, ast.Constant) and type(v.value) is int for v in values)


def _is_kept(module: Module, name: str, scope: Scope) -> bool:
    """Whether the counter is read in what saves or loads a state, or is named in one."""
    if re.search(rf"""["']{re.escape(name.strip("_"))}["']""", module.text):
        return True
    for node in ast.walk(module.tree):
        if (
            isinstance(node, (ast.Name, ast.Attribute))
            and (node.id if isinstance(node, ast.Name) else node.attr) == name
        ):
            function = module.function(node)
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and _KEPT.search(function.name):
                return True
    # Set from outside: `trainer.step = ...`
    return name in module.index.attributes


def _used(context: AuditContext, sink: Sink, name: str, scope: Scope) -> str | None:
    """What a counter is to a sink: its step, or a counter in its row."""
    module = sink.module
    if scope.kind == "class" and module.enclosing_class(sink.call) is not scope.node:
        return None
    step = sink.step
    if step is not None and _reads(module, step, name):
        return "is the step of what is logged"
    for entry in context.entries(sink):
        if (
            entry.module is module
            and entry.value is not None
            and is_counter(entry.key)
            and _reads(module, entry.value, name)
        ):
            return f"is logged as «{entry.key}»"
    for node in ast.walk(scope.node):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and is_counter(key.value):
                    if name in names_in(value):
                        return f"is written as «{key.value}»"
    if step is None:
        for holder in around(module, sink.call):
            if isinstance(holder, ast.If) and _paced(holder.test, name):
                return "says when a row is logged"
    return None


def _paced(test: ast.expr, name: str) -> bool:
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and name in names_in(part.left)
        for part in ast.walk(test)
    )


def _reads(module: Module, value: ast.expr, name: str) -> bool:
    if name in names_in(value):
        return True
    return isinstance(value, ast.Name) and any(name in names_in(v) for v in local_values(module, value))


# -- seconds as steps


def _never_given(context: AuditContext) -> Iterator[Finding]:
    """A parameter that takes the step of a resume, where no call gives one."""
    for module, _ in _by_module(context):
        for _, function in module.definitions:
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            name = _resumed_by(function)
            if name is None:
                continue
            position = [a.arg for a in function.args.args].index(name) - 1
            pattern = re.compile(rb"\." + function.name.encode() + rb"(?:\.\w+)?\(")
            for other in context.modules(function.name.encode(), where=pattern.search):
                for call in other.calls():
                    if _calls(call, function.name) and len(call.args) <= position and not has_splat(call):
                        if not any(keyword.arg == name for keyword in call.keywords):
                            yield context.finding(
                                "PI104", other, call,
                                f"{function.name} takes «{name}» for a resume and is not given it: steps start at 0 again",
                                kind="given",
                            )  # fmt: skip


def _resumed_by(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The parameter `global_step: int = 0` that a method keeps, and says that it is for resuming."""
    arguments = function.args.args
    defaults = dict(zip((a.arg for a in reversed(arguments)), reversed(function.args.defaults)))
    if "resum" not in (ast.get_docstring(function) or "").lower() or not arguments or arguments[0].arg != "self":
        return None
    for name, default in defaults.items():
        if is_counter(name) and isinstance(default, ast.Constant) and default.value == 0:
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
                    if any(isinstance(t, ast.Attribute) for t in node.targets):
                        return name
    return None


def _calls(call: ast.Call, name: str) -> bool:
    """`x.name(...)`, `x.name.remote(...)`, `x.name.call_one(...)`."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return False
    return func.attr == name or (isinstance(func.value, ast.Attribute) and func.value.attr == name)


def _elapsed(context: AuditContext) -> Iterator[Finding]:
    """`{"step": int(time.time() - self.start_time), "metrics": ...}`, `log(row, step=int(elapsed))`."""
    for module, sinks in _by_module(context):
        if "time()" not in module.text and "perf_counter()" not in module.text and "monotonic()" not in module.text:
            continue
        given = [(sink.call, sink.step) for sink in sinks if sink.step is not None]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Dict):
                keys = {k.value: v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)}
                if "step" in keys and ("metrics" in keys or "data" in keys):
                    given.append((node, keys["step"]))  # type: ignore[arg-type]
        for _, step in given:
            if _is_elapsed(context, module, step):
                yield context.finding(
                    "PI104", module, step,
                    f"the step is «{' '.join(module.code(step).split())}», the seconds since this process started: "
                    "a resume starts them again",
                    kind="elapsed",
                )  # fmt: skip


def _is_elapsed(context: AuditContext, module: Module, step: ast.expr, depth: int = 0) -> bool:
    if (
        isinstance(step, ast.Call)
        and isinstance(step.func, ast.Name)
        and step.func.id in ("int", "round")
        and step.args
    ):
        return _is_elapsed(context, module, step.args[0], depth)
    if isinstance(step, ast.Name) and depth < 3:
        values = local_values(module, step)
        return bool(values) and all(_is_elapsed(context, module, value, depth + 1) for value in values)
    if not isinstance(step, ast.BinOp) or not isinstance(step.op, ast.Sub):
        return False
    now = step.left
    if isinstance(now, ast.Name):
        now = next(iter(local_values(module, now)), now)
    clock = isinstance(now, ast.Call) and bool(context.program.resolve(module, now.func) & _CLOCK)
    return clock and bool(re.search(r"start|begin|t0", " ".join(names_in(step.right))))


RULE = AuditRule(
    code="PI104",
    name="counter-not-resumed",
    summary="A step counter starts again after a resume, or is shared by roles whose metrics it should tell apart.",
    why="A counter that lives in a module or an object and is in no checkpoint is 0 again after a kill and a resume. The "
    "curve then runs over its own beginning, and a tracker that takes one point a step drops all of it. A counter that an "
    "actor and a critic both write under one key is two counts on one axis.",
    bad="""
class Logger:
    def __init__(self):
        self.step = 0

    def log(self, row):
        wandb.log(row, step=self.step)
        self.step += 1
""",
    good="""
class Logger:
    ...

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]
""",
    fix="The counter is kept in the trainer's checkpoint state; a role's counter carries the role.",
    applicability="review",
    needles=NEEDLES,
    check=check,
)
