"""Modal apps: the secret beside the tracker's, filled from the environment of whoever deploys.

`Secret.from_dict` with an empty default, because a missing named secret or variable would stop the deployment
(`from_name`, `from_local_environ`; modal 1.0). The SDK treats an empty token as none. A container sees nothing of the
environment it is started from, so that a function that records gets the secret without such a neighbour too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._environ import READ, import_os
from instrument.launch._names import TOKEN, is_credential
from instrument.launch._python import constant, element_after, may_grow
from instrument.plan.process_map import map_python
from instrument.plan.rules import Rule
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

NEEDLES = (b"import modal", b"from modal")
_REASON = f"hands {TOKEN} to the container from the environment of whoever deploys it"


def plan(ctx: Context) -> None:
    """Add the token's secret wherever the tracker's is listed, and to functions that record and have none."""
    if not covered(ctx):
        return
    modules = [module for module in ctx.modules(*NEEDLES) if module.source.kind == "python"]
    for module in modules:
        for node in walk(module.tree):
            if isinstance(node, (ast.List, ast.Tuple)):
                _secrets(ctx, module, node)
            elif isinstance(node, ast.keyword) and node.arg == "secret" and _is_trackers(module, node.value):
                _ask(ctx, module, node.value, "one secret is given to a Modal function, the tracker's")
    if modules:
        _recording(ctx, {module.path: module for module in modules})


def _secrets(ctx: Context, module: Module, listed: ast.List | ast.Tuple) -> None:
    """A list of secrets with the tracker's in it, wherever it stands."""
    anchor = next((item for item in listed.elts if _is_trackers(module, item)), None)
    if anchor is None or TOKEN in _written(module, listed):
        return
    call = _call(module, anchor)
    if call is None or (isinstance(call.func, ast.Attribute) and call.func.attr == "from_dict"):
        return  # the dictionary gains it
    secret = module.source.code(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    _add(ctx, module, listed, anchor, secret)


def _add(ctx: Context, module: Module, listed: ast.AST, anchor: ast.AST, secret: str) -> None:
    grows = isinstance(listed, (ast.List, ast.Tuple)) and may_grow(module.tree, listed)
    if not grows or not import_os(ctx, module, RULE.name, f"modal:{module.path}"):
        _ask(ctx, module, listed, "a Modal function's secrets are listed here")
        return
    offset, added = element_after(module.source, listed, anchor, anchor, _secret(secret))
    ctx.edit(module.path, offset, offset, added, reason=_REASON, rule=RULE.name, group=f"modal:{module.path}")


def _secret(secret: str) -> str:
    return f'{secret}.from_dict({{"{TOKEN}": {READ.format(TOKEN)}}})'


def _written(module: Module, node: ast.AST) -> str:
    """A node's text with that of the names in it: a secret may be made above."""
    names = {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}
    values = [ast.unparse(stmt.value) for stmt in module.tree.body if _assigns(stmt, names)]  # type: ignore[attr-defined]
    return " ".join([module.source.code(node), *values])


def _assigns(stmt: ast.stmt, names: set[str]) -> bool:
    return isinstance(stmt, ast.Assign) and any(isinstance(t, ast.Name) and t.id in names for t in stmt.targets)


def _call(module: Module, item: ast.expr) -> ast.Call | None:
    """The call that makes a secret: in place, or where the name is assigned at the top of the file."""
    if isinstance(item, ast.Name):
        made = [stmt.value for stmt in module.tree.body if isinstance(stmt, ast.Assign) and _assigns(stmt, {item.id})]
        return made[0] if len(made) == 1 and isinstance(made[0], ast.Call) else None
    return item if isinstance(item, ast.Call) else None


def _is_trackers(module: Module, item: ast.expr) -> bool:
    """`Secret.from_name("wandb-secret")`, `Secret.from_local_environ(["WANDB_API_KEY"])`, or a name for one."""
    call = _call(module, item)
    if call is None or not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    if not ast.unparse(call.func.value).endswith("Secret"):
        return False
    strings = [constant(part) or "" for part in ast.walk(call)]
    if call.func.attr == "from_name":
        return "wandb" in (constant(call.args[0]) or "").lower() or any(map(is_credential, strings))
    return call.func.attr in ("from_local_environ", "from_dict") and any(map(is_credential, strings))


# -- functions that record


def _recording(ctx: Context, modules: dict[str, Module]) -> None:
    """Modal functions and classes in which something is recorded, and to which no secret of the token is given."""
    for process in map_python(ctx).processes.values():
        if process.kind != "modal" or not any(e.coverage == "covered" for e in process.emitters):
            continue
        path = process.id.removeprefix("modal ").rpartition(":")[0]
        module = modules.get(path)
        if module is not None:
            for start in process.starts:
                _decorated(ctx, module, start.line)


def _decorated(ctx: Context, module: Module, line: int) -> None:
    call = next((c for c in module.calls() if c.lineno == line and _is_modal(ctx, module, c)), None)
    if call is None or _has_token(ctx, module, call):
        return
    secret = _secret_class(module)
    given = next((keyword for keyword in call.keywords if keyword.arg == "secrets"), None)
    if secret is None or (given is not None and not isinstance(given.value, ast.List)) or _opaque(call):
        _ask(ctx, module, call, "a Modal function records here, and its container sees nothing of this environment")
    elif given is not None and isinstance(given.value, ast.List) and given.value.elts:
        _add(ctx, module, given.value, given.value.elts[-1], secret)
    elif import_os(ctx, module, RULE.name, f"modal:{module.path}"):
        offset = module.end(call) - 1
        lead = ""
        if given is not None:
            offset, new = module.start(given.value) + 1, _secret(secret)
        else:
            new = f"secrets=[{_secret(secret)}]"
            last = max((*call.args, *(k.value for k in call.keywords)), key=module.end, default=None)
            if last is not None:
                offset, new = element_after(module.source, call, _whole(module, call, last), last, new)
        ctx.edit(module.path, offset, offset, lead + new, reason=_REASON, rule=RULE.name, group=f"modal:{module.path}")
    else:
        _ask(ctx, module, call, "a Modal function records here, and its container sees nothing of this environment")


def _whole(module: Module, call: ast.Call, last: ast.expr) -> ast.AST:
    """The argument that a value belongs to: its keyword starts the line."""
    return next((keyword for keyword in call.keywords if keyword.value is last), last)


def _opaque(call: ast.Call) -> bool:
    """`**options`: what is given can't be seen."""
    return any(keyword.arg is None for keyword in call.keywords) or any(k.arg == "secret" for k in call.keywords)


def _is_modal(ctx: Context, module: Module, call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("function", "cls"):
        return False
    return any(name.startswith("modal.") for name in ctx.program.resolve(module, call.func))


def _has_token(ctx: Context, module: Module, call: ast.Call) -> bool:
    """Whether the token is given to it, or to the whole app, by now or by an edit of this plan."""
    apps = [
        c for c in module.calls()
        if isinstance(c.func, (ast.Name, ast.Attribute)) and ast.unparse(c.func).rpartition(".")[2] in ("App", "Stub")
    ]  # fmt: skip
    for node in (call, *apps):
        start, end = module.start(node), module.end(node)
        added = any(e.path == module.path and start <= e.start <= end and TOKEN in e.text for e in ctx.plan.edits)
        names = {inner.id for inner in walk(node) if isinstance(inner, ast.Name)}
        lists = [stmt for stmt in module.tree.body if _assigns(stmt, names)]
        named = any(
            e.path == module.path and TOKEN in e.text and module.start(stmt) <= e.start <= module.end(stmt)
            for stmt in lists
            for e in ctx.plan.edits
        )
        if added or named or TOKEN in _written(module, node):
            return True
    return False


def _secret_class(module: Module) -> str | None:
    """How this file names `modal.Secret`."""
    for stmt in module.tree.body:
        if isinstance(stmt, ast.Import):
            for alias in stmt.names:
                if alias.name == "modal":
                    return f"{alias.asname or 'modal'}.Secret"
        if isinstance(stmt, ast.ImportFrom) and stmt.module == "modal":
            for alias in stmt.names:
                if alias.name == "Secret":
                    return alias.asname or "Secret"
    return None


def _ask(ctx: Context, module: Module, node: ast.AST, what: str) -> None:
    ctx.note(
        "question",
        "token-not-forwarded",
        f"{what}: {TOKEN} does not reach it",
        path=module.path,
        line=module.source.line_of(module.start(node)),
        next=f'add modal.Secret.from_dict({{"{TOKEN}": os.environ.get("{TOKEN}", "")}}) to its secrets',
    )


RULE = Rule(name="modal_app", title="Modal apps", needles=NEEDLES, plan=plan, order=ORDER + 10)
