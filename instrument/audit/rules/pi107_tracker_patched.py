"""PI107: a tracker, or what drives one, is replaced at run time by code of the repository's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.rule import AuditRule, Finding

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

_TRACKERS = "wandb swanlab mlflow trackio tensorboard tensorboardX comet_ml neptune aim clearml".split()
_FRAMEWORKS = "transformers trl accelerate lightning pytorch_lightning megatron verl deepspeed keras ray stable_baselines3".split()
#: Parts of a framework that log: by the name of what is replaced.
_LOGS = re.compile(
    r"wandb|swanlab|mlflow|tensorboard|callback|tracker|tracking|summary_?writer|log_metrics|^log$", re.IGNORECASE
)
_REPORTS = re.compile(
    r"\b(?:wandb|swanlab|mlflow|trackio)\s*\.|\bTracking\(|SummaryWriter\(|\blogger\.log\((?:data=|\{|metrics)"
)
#: Parts of a tracker through which metrics go.
_OWN = re.compile(
    r"^(?:log|init|finish|run|Run|Logger|define_metric|start_run|end_run|add_scalar|SummaryWriter|log_\w+)$|[Cc]allback"
)
#: `x.y = name`, of anything but one's own attributes.
_ASSIGNED = re.compile(
    rb"^[ \t]*(?!self\.|cls\.)(\w[\w.]*)\.(\w+)[ \t]*=[ \t]*(?:lambda\b|[\[(]?[A-Za-z_][\w.]*[\])]?[ \t]*(?:#.*)?$)",
    re.MULTILINE,
)
_CLASS = re.compile(r"(?:^|\.)_*[A-Z]\w*[a-z]\w*$")
_SITE = re.compile(r"(?:^|/)(?:site|user)customize\.py$")


def check(context: AuditContext) -> Iterator[Finding]:
    needles = tuple(name.encode() for name in (*_TRACKERS, *_FRAMEWORKS, "Tracking", "Trainer"))
    for module in context.modules(*needles, where=_may_replace):
        if _SITE.search(module.path):
            yield from _customize(context, module)
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
                yield from _replaced(context, module, node, node.targets[0].value, node.targets[0].attr, node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
                if (
                    len(node.args) == 3
                    and isinstance(node.args[1], ast.Constant)
                    and isinstance(node.args[1].value, str)
                ):
                    yield from _replaced(context, module, node, node.args[0], node.args[1].value, node.args[2])


def _may_replace(data: bytes) -> bool:
    """Whether a file has such an assignment in it, by its text."""
    return (b"setattr(" in data and b"wandb" in data) or any(
        _worth_a_look(found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace"))
        for found in _ASSIGNED.finditer(data)
    )


def _worth_a_look(owner: str, attribute: str) -> bool:
    """A tracker, a class, or a part that logs; everything else is not asked about."""
    return bool(_CLASS.search(owner) or _LOGS.search(attribute) or set(owner.split(".")) & set(_TRACKERS))


def _customize(context: AuditContext, module: Module) -> Iterator[Finding]:
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            hit = next((n for n in names if n.split(".")[0] in _TRACKERS), None)
            if hit is not None:
                yield context.finding(
                    "PI107", module, node, f"«{hit}» is changed for every process that starts here: a second tracker, unseen",
                    file=True,
                )  # fmt: skip
                return


def _replaced(
    context: AuditContext, module: Module, node: ast.AST, owner: ast.expr, attribute: str, value: ast.expr
) -> Iterator[Finding]:
    if not isinstance(owner, (ast.Name, ast.Attribute)) or isinstance(value, (ast.Constant, ast.JoinedStr)):
        return
    if not _worth_a_look(module.code(owner), attribute):
        return
    body = _code_of(context, module, value)
    if body is None:
        return
    names = context.program.resolve(module, owner)
    if not names or any(name.endswith("()") for name in names):
        return  # an object of one's own, not a class or a module
    roots = {name.removeprefix("repo:").split(".")[0] for name in names}
    foreign = {name for name in names if not name.startswith("repo:")}
    what = f"{module.code(owner)}.{attribute}"
    if foreign and roots & set(_TRACKERS):
        if not _OWN.search(attribute):
            return
        message = f"«{what}» of the tracker is replaced at run time"
    elif foreign and roots & set(_FRAMEWORKS) and _imported(module, owner):
        if not _LOGS.search(attribute) and not _REPORTS.search(body):
            return
        message = f"«{what}» of the framework is replaced at run time by what logs in its place"
    elif not foreign and _REPORTS.search(body) and _is_class(context, module, owner):
        message = f"«{what}» is replaced at run time by a copy that builds its own tracker"
    else:
        return
    yield context.finding("PI107", module, node, message, owner=owner, attribute=attribute)


def _code_of(context: AuditContext, module: Module, value: ast.expr) -> str | None:
    """The text of the functions or classes that are put in place; None for data, and for what was there before."""
    if isinstance(value, ast.Lambda):
        return module.code(value)
    if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        texts = [_code_of(context, module, element) for element in value.elts]
        return "\n".join(t for t in texts if t is not None) if all(t is not None for t in texts) else None
    if not isinstance(value, (ast.Name, ast.Attribute)):
        return None
    if isinstance(value, ast.Name) and re.search(r"orig|old|saved|prev|real", value.id, re.IGNORECASE):
        return None
    found = context.program.definitions(module, value)
    if not found:
        return None
    return "\n".join(owner.code(definition) for owner, definition in found[:1])


def _imported(module: Module, owner: ast.expr) -> bool:
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    if not isinstance(owner, ast.Name):
        return False
    found = module.lookup(module.scope_of(owner, inner=False), owner.id)
    return found is not None and any(binding.kind in ("from", "module") for binding in found[1])


def _is_class(context: AuditContext, module: Module, owner: ast.expr) -> bool:
    return any(isinstance(node, ast.ClassDef) for _, node in context.program.definitions(module, owner))


RULE = AuditRule(
    code="PI107",
    name="tracker-patched",
    summary="A tracker, or the part of a framework that logs, is replaced at run time by a copy in this repository.",
    why="What is logged is then decided twice: by the framework's code, which everybody reads, and by the copy, which does not "
    "follow when the framework changes. Whoever instruments the framework misses the copy or records everything twice; a "
    "process that was started without the patch logs something else.",
    bad="from verl.trainer.ppo.ray_trainer import RayPPOTrainer\n\nRayPPOTrainer.fit = fit  # builds its own Tracking",
    good="class SplitTrainer(RayPPOTrainer):\n    def fit(self): ...",
    needles=tuple(name.encode() for name in (*_TRACKERS, *_FRAMEWORKS)),
    check=check,
)
