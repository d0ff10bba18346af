"""PI109: a run opened on every rank; a run in a Ray actor that nothing closes; a metric where no run reaches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.rule import AuditRule, Finding
from instrument.audit.rules._shared import around
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

_OPENS = frozenset({"wandb.init", "swanlab.init", "trackio.init", "probe.init", "mlflow.start_run"})
_CLOSES = re.compile(
    r"\b(?:wandb|swanlab|trackio|probe|run|_run|wandb_run|mlflow)\.(?:finish|end_run|join)\b|\.finish\(|\.end_run\("
)
_RANK = re.compile(
    r"rank|main_process|is_main|is_master|master|primary|world_process_zero|global_zero|process_index|local_leader|coordinator|is_chief|"
    r"process_id|is_last|rank_zero|should_log|is_logging|leader|num_processes|world_size",
    re.IGNORECASE,
)
#: What makes a script one of several processes that all run it.
_RANKS = re.compile(r"init_process_group\(|deepspeed\.init_distributed\(|initialize_megatron\(")
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def check(context: AuditContext) -> Iterator[Finding]:
    for module in context.modules(b"wandb", b"swanlab", b"trackio", b"mlflow", b"probe"):
        opens = [call for call in module.calls() if _opens(context, module, call)]
        yield from _every_rank(context, module, opens)
        yield from _in_actors(context, module, opens)


def _opens(context: AuditContext, module: Module, call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("init", "start_run"):
        return False
    return bool(context.program.resolve(module, func) & _OPENS)


# -- on every rank


def _every_rank(context: AuditContext, module: Module, opens: list[ast.Call]) -> Iterator[Finding]:
    if not _RANKS.search(module.text):
        return
    for call in opens:
        text = module.code(call)
        if _RANK.search(text) or argument(call, None, "group") is not None or _guarded(context, module, call):
            continue
        yield context.finding(
            "PI109", module, call,
            f"{module.code(call.func)} runs on every rank: this file starts a process group and asks for no rank here", kind="ranks",
        )  # fmt: skip


def _guarded(context: AuditContext, module: Module, node: ast.AST, depth: int = 0) -> bool:
    """Whether a rank decides about a place: a condition around it, one that returns before it, or one around its callers."""
    for holder in around(module, node):
        if isinstance(holder, (ast.If, ast.IfExp, ast.While)) and _about_rank(module, holder.test):
            return True
    function = module.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _returns_before(module, module.tree.body, node)
    if _RANK.search(function.name) or any(_RANK.search(module.code(d)) for d in function.decorator_list):
        return True
    if _returns_before(module, function.body, node):
        return True
    owner = module.enclosing_class(function)
    if owner is not None and _RANK.search(module.code(owner)):
        return True  # the class knows of ranks: who makes it decides
    if depth > 3:
        return True
    sites = context.program.sites(module, function)
    if not sites:
        # Nobody calls it here: who does decides. A script's own main is called below it.
        return True
    return any(_guarded(context, site.module, site.call, depth + 1) for site in sites)


def _about_rank(module: Module, test: ast.expr) -> bool:
    if _RANK.search(module.code(test)):
        return True
    # `if use_wandb:` where `use_wandb = use_wandb and rank == 0` above.
    for part in ast.walk(test):
        if isinstance(part, ast.Name):
            found = module.lookup(module.scope_of(part, inner=False), part.id)
            for binding in found[1] if found else ():
                if (
                    isinstance(binding.node, ast.expr)
                    and binding.kind == "value"
                    and _RANK.search(module.code(binding.node))
                ):
                    return True
                if binding.kind == "param":
                    return True
        elif isinstance(part, ast.Attribute):
            # A flag of somebody else's: `if self.logging:`, `if cfg.wandb.enabled`. Set by rank, perhaps.
            pattern = re.compile(rf"\.{re.escape(part.attr)}\s*=[^=\n]*")
            if any(_RANK.search(found) for found in pattern.findall(module.text)):
                return True
    return False


def _returns_before(module: Module, body: list[ast.stmt], node: ast.AST) -> bool:
    """`if rank != 0: return` above."""
    start = module.start(node)
    for stmt in body:
        if isinstance(stmt, ast.If) and module.start(stmt) < start and _RANK.search(module.code(stmt.test)):
            if any(isinstance(part, (ast.Return, ast.Raise, ast.Continue)) for part in stmt.body):
                return True
    return False


# -- in Ray actors


def _in_actors(context: AuditContext, module: Module, opens: list[ast.Call]) -> Iterator[Finding]:
    """A run that is opened in an actor and finished nowhere; a metric sent in one that opens none."""
    if "ray" not in module.text or "remote" not in module.text:
        return
    for stmt in ast.walk(module.tree):
        if not isinstance(stmt, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not _remote(
            context, module, stmt
        ):
            continue
        inside = [call for call in opens if _within(module, call, stmt)]
        code = module.code(stmt)
        if inside and not _CLOSES.search(code) and not re.search(r"(?:finish|shutdown|close|end)\w*\(", code):
            kind = "actor" if isinstance(stmt, ast.ClassDef) else "task"
            yield context.finding(
                "PI109", module, inside[0],
                f"a run is opened in the Ray {kind} «{stmt.name}» and finished nowhere in it: Ray ends the process without closing it",
                kind="open",
            )  # fmt: skip
        elif not inside and not (isinstance(stmt, ast.ClassDef) and _has_own_bases(stmt)):
            yield from _no_run(context, module, stmt)


def _no_run(context: AuditContext, module: Module, stmt: ast.ClassDef | _FUNCTION) -> Iterator[Finding]:
    """`wandb.log` in a task, where the run was opened in the driver: another process has none."""
    code = module.code(stmt)
    if re.search(r"wandb\.run|active_run|init_|setup|\binit\(|attach", code):
        return
    for sink in context.sinks:
        if (
            sink.module is module
            and sink.tracker in ("wandb", "swanlab", "trackio", "probe")
            and _within(module, sink.call, stmt)
        ):
            func = sink.call.func
            base = func.value if isinstance(func, ast.Attribute) else None
            if isinstance(base, ast.Name) and base.id == sink.tracker:
                yield context.finding(
                    "PI109", module, sink.call,
                    f"{module.code(func)} runs in the Ray process «{stmt.name}», where no run is opened", kind="reach",
                )  # fmt: skip


def _has_own_bases(node: ast.ClassDef) -> bool:
    return any(not (isinstance(base, ast.Name) and base.id in ("object", "ABC")) for base in node.bases)


def _remote(context: AuditContext, module: Module, node: ast.ClassDef | _FUNCTION) -> bool:
    """Decorated with `@ray.remote`, with arguments or without."""
    for decorator in node.decorator_list:
        inner = decorator.func if isinstance(decorator, ast.Call) else decorator
        if "ray.remote" in context.program.resolve(module, inner):
            return True
    return False


def _within(module: Module, node: ast.AST, owner: ast.AST) -> bool:
    parent = module.parent(node)
    while parent is not None:
        if parent is owner:
            return True
        parent = module.parent(parent)
    return False


RULE = AuditRule(
    code="PI109",
    name="run-not-reached",
    summary="A run is opened on every rank, is not finished where its process ends, or does not reach a process that logs.",
    why="Every rank that opens a run makes one: eight half-empty runs for one training. A run in a Ray actor ends with the "
    "actor, without a word to the tracker, and is counted as crashed. A metric sent in a process without a run raises there, or is "
    "lost.",
    bad='dist.init_process_group("nccl")\nwandb.init(project="toy")',
    good='dist.init_process_group("nccl")\nif dist.get_rank() == 0:\n    wandb.init(project="toy")',
    needles=(b"wandb", b"swanlab", b"trackio", b"mlflow", b"probe"),
    check=check,
)
