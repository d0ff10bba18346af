"""Modal apps: the secret beside the tracker's, filled from the environment of whoever deploys.

`Secret.from_dict` with an empty default, because a missing named secret or variable would stop the deployment
(`from_name`, `from_local_environ`; modal 1.0). The SDK treats an empty token as none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._names import TOKEN, is_credential
from instrument.launch._python import constant, element_after
from instrument.launch.ray_python import knows_os
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

NEEDLES = (b"import modal", b"from modal")


def plan(ctx: Context) -> None:
    """Add the token's secret wherever the tracker's is listed."""
    if not covered(ctx):
        return
    for module in ctx.modules(*NEEDLES):
        if module.source.kind != "python":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.keyword) and node.arg == "secrets" and isinstance(node.value, ast.List):
                _secrets(ctx, module, node.value)


def _secrets(ctx: Context, module: Module, listed: ast.List) -> None:
    text = module.source.code(listed)
    if TOKEN in text:
        return
    anchor = next((item for item in listed.elts if _is_trackers(item)), None)
    if not isinstance(anchor, ast.Call) or not isinstance(anchor.func, ast.Attribute):
        return
    secret = module.source.code(anchor.func.value)
    if not secret.endswith("Secret"):
        return
    if anchor.func.attr == "from_dict":
        return  # the dictionary gains it
    if not knows_os(module):
        _import_os(ctx, module)
    new = f'{secret}.from_dict({{"{TOKEN}": os.environ.get("{TOKEN}", "")}})'
    offset, added = element_after(module.source, listed, anchor, anchor, new)
    ctx.edit(
        module.path,
        offset,
        offset,
        added,
        reason=f"hands {TOKEN} to the container from the environment of whoever deploys it",
        rule=RULE.name,
        group=f"modal:{module.path}",
    )


def _is_trackers(item: ast.expr) -> bool:
    """`Secret.from_name("wandb-secret")`, `Secret.from_local_environ(["WANDB_API_KEY"])`."""
    if not (isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.args):
        return False
    if item.func.attr == "from_name":
        return "wandb" in (constant(item.args[0]) or "").lower()
    names = [constant(part) for part in ast.walk(item.args[0])]
    return item.func.attr in ("from_local_environ", "from_dict") and any(is_credential(n or "") for n in names)


def _import_os(ctx: Context, module: Module) -> None:
    """`import os` above the import of modal."""
    for stmt in module.tree.body:
        names = [alias.name for alias in stmt.names] if isinstance(stmt, ast.Import) else []
        if isinstance(stmt, ast.ImportFrom) and stmt.module:
            names = [stmt.module]
        if any(name.split(".")[0] == "modal" for name in names):
            start = module.start(stmt)
            ctx.edit(
                module.path,
                start,
                start,
                f"import os{module.source.newline}",
                reason="the environment is read below",
                rule=RULE.name,
                group=f"modal:{module.path}",
            )
            return


RULE = Rule(name="modal_app", title="Modal apps", needles=NEEDLES, plan=plan, order=ORDER + 10)
