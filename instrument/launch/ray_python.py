"""Environments built in Python: `{"env_vars": {...}}`, `env_vars["WANDB_API_KEY"] = ...`.

The token is added beside the tracker's credentials. In a module that submits Ray jobs it is added to the job's
`env_vars` without such a neighbour too: nothing else of the submitter's environment reaches the job (Ray 2.60).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._environ import knows_os
from instrument.launch._names import NEEDLES, TOKEN, best_variable, is_credential
from instrument.launch._python import constant, element_after, environment_read
from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

_SUBMITS = (b"ray job submit", b"submit_job(", b"JobSubmissionClient")
_CARRIES = re.compile(r"env|secret|variables|from_dict", re.IGNORECASE)


def plan(ctx: Context) -> None:
    """Complete the environments that a covered repository's Python builds."""
    if not covered(ctx):
        return
    modules = [module for module in ctx.modules(*NEEDLES, *_SUBMITS) if module.source.kind == "python"]
    jobs: set[int] = set()
    for module in modules:
        if any(needle.decode() in module.source.text for needle in _SUBMITS):
            for node in walk(module.tree):
                if isinstance(node, ast.Dict) and _is_job_environment(module, node):
                    jobs.add(id(node))
                    _dict(ctx, module, node, wanted=True)
    for module in modules:
        for node in walk(module.tree):
            if isinstance(node, ast.Dict):
                # Where jobs get it anyway, what is handed to them only beside the tracker's key needs no token.
                if id(node) not in jobs and not (jobs and _is_conditional(module, node)):
                    _dict(ctx, module, node, wanted=False)
            elif isinstance(node, ast.Assign):
                _assignment(ctx, module, node)
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                _names(ctx, module, node)


def _edit(ctx: Context, module: Module, offset: int, text: str, what: str) -> None:
    ctx.edit(module.path, offset, offset, text, reason=what, rule=RULE.name)


def _ask(ctx: Context, module: Module, node: ast.AST, what: str) -> None:
    line = module.source.line_of(module.start(node))
    ctx.note(
        "question",
        "token-not-forwarded",
        f"{what} is handed on here and {TOKEN} is not",
        path=module.path,
        line=line,
        next=f"hand {TOKEN} on in the same way, if this is what reaches the training process",
    )


# -- dictionaries


def _dict(ctx: Context, module: Module, node: ast.Dict, *, wanted: bool) -> None:
    names = [constant(key) or "" for key in node.keys]
    if TOKEN in names or _has_everything(node):
        return
    index = best_variable(names)
    if index is not None and not is_credential(names[index]):
        index = None
    if index is None and not wanted:
        return
    if index is not None and not _carries(module, node):
        return
    read = _read(module, node, index)
    if read is None:
        if index is not None:
            _ask(ctx, module, node, names[index])
        return
    if index is None:
        index = max((i for i, name in enumerate(names) if name), default=None)
        if index is None:
            return
    key, value = node.keys[index], node.values[index]
    assert key is not None
    quote = '"' if module.source.text[module.start(key)] != "'" else "'"
    new = f"{quote}{TOKEN}{quote}: " + read.format(TOKEN).replace('"', quote)
    offset, added = element_after(module.source, node, key, value, new)
    _edit(ctx, module, offset, added, f"hands {TOKEN} to the processes that this environment is for")


def _is_conditional(module: Module, node: ast.AST) -> bool:
    """`{"WANDB_API_KEY": ...} if os.environ.get("WANDB_API_KEY") else {}`."""
    parent = module.parent(node)
    return isinstance(parent, ast.IfExp) and parent.body is node


def _has_everything(node: ast.Dict) -> bool:
    """`{**os.environ, ...}`: the token is in it already."""
    spreads = (ast.unparse(value) for key, value in zip(node.keys, node.values) if key is None)
    return any(re.fullmatch(r"(?:dict\()?(?:os\.)?environ(?:\.copy\(\))?\)?", spread) for spread in spreads)


def _carries(module: Module, node: ast.AST) -> bool:
    """Whether a dictionary is an environment, by the name that it is given or the argument that it is."""
    above: ast.AST | None = node
    while above is not None and not isinstance(above, ast.stmt):
        below, above = above, module.parent(above)
        if isinstance(above, ast.keyword) and above.arg and _CARRIES.search(above.arg):
            return True
        if isinstance(above, ast.Call) and below in above.args and _CARRIES.search(ast.unparse(above.func)):
            return True
        if isinstance(above, ast.Dict) and below in above.values:
            key = above.keys[above.values.index(below)]
            if _CARRIES.search(constant(key) or ""):
                return True
    targets = above.targets if isinstance(above, ast.Assign) else [getattr(above, "target", None)]
    function = module.function(node)
    owner = getattr(function, "name", "") if isinstance(above, ast.Return) else ""
    return any(t is not None and _CARRIES.search(ast.unparse(t)) for t in targets) or bool(_CARRIES.search(owner))


def _read(module: Module, node: ast.Dict, index: int | None) -> str | None:
    """How the token is read here: as the anchor's value is, else with the module's own `os`."""
    if index is not None:
        found = environment_read(node.values[index], module.source)
        if found is not None:
            return found[0]
        if constant(node.values[index]) is None and not isinstance(node.values[index], (ast.Name, ast.JoinedStr)):
            return None
    return 'os.environ.get("{}", "")' if knows_os(module) else None


def _is_job_environment(module: Module, node: ast.Dict) -> bool:
    """Whether a dictionary is the `env_vars` of a job's runtime environment, in place or by the name it is given."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict):
        return _is_env_vars(parent, node) and _is_runtime_environment(module, parent)
    if not (isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node):
        return False
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    function = module.function(node)
    scope: ast.AST = function if function is not None else module.tree
    return any(
        isinstance(inner, ast.Dict)
        and any(
            constant(key) == "env_vars" and isinstance(value, ast.Name) and value.id in names
            for key, value in zip(inner.keys, inner.values)
        )
        and _is_runtime_environment(module, inner)
        for inner in walk(scope)
    )


def _is_env_vars(parent: ast.Dict, node: ast.Dict) -> bool:
    return any(constant(key) == "env_vars" and value is node for key, value in zip(parent.keys, parent.values))


def _is_runtime_environment(module: Module, node: ast.AST) -> bool:
    """Whether `{"env_vars": ...}` goes to `json.dumps` or `submit_job(runtime_env=)`: a job's, not an actor's."""
    parent = module.parent(node)
    if isinstance(parent, ast.Call):
        return ast.unparse(parent.func).endswith("dumps")
    if isinstance(parent, ast.keyword):
        call = module.parent(parent)
        return isinstance(call, ast.Call) and ast.unparse(call.func).endswith("submit_job")
    return isinstance(parent, ast.Assign) and "runtime_env" in ast.unparse(parent.targets[0])


# -- assignments


def _assignment(ctx: Context, module: Module, node: ast.Assign) -> None:
    """`env_vars["WANDB_API_KEY"] = ...`, alone or as the reason of an `if`."""
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
        return
    name = constant(target.slice)
    if name is None or not is_credential(name):
        return
    base = module.source.code(target.value)
    if "environ" in base or not _CARRIES.search(base):
        return
    text = module.source.text
    if re.search(re.escape(base) + r"\[[\"']" + TOKEN, text) or _added(ctx, module, node, base):
        return
    read = environment_read(node.value, module.source)
    anchor: ast.stmt = node
    parent = module.parent(node)
    guarded = False
    if isinstance(parent, ast.If) and node in parent.body and name in ast.unparse(parent.test):
        anchor, guarded = parent, True
        read = read or environment_read(parent.test, module.source)
    if read is None:
        if not knows_os(module):
            _ask(ctx, module, node, name)
            return
        read = ('os.environ.get("{}", "")', 'os.environ["{}"]')
    quote = module.source.code(target.slice)[0]
    with_default, without = (part.format(TOKEN).replace('"', quote) for part in read)
    key = f"{base}[{quote}{TOKEN}{quote}]"
    lines = [f"{key} = {with_default}"]
    if guarded:
        lines = [f"if {with_default}:", place.indent_unit(module) + f"{key} = {without}"]
    if isinstance(anchor, ast.If) and (anchor.orelse or _is_elif(module, anchor)):
        _ask(ctx, module, node, name)
        return
    made = place.after(module, anchor, lines)
    if made is None:
        _ask(ctx, module, node, name)
        return
    _edit(ctx, module, made.offset, made.text, f"hands {TOKEN} on as {name} is")


def _added(ctx: Context, module: Module, node: ast.Assign, base: str) -> bool:
    """Whether the token joins the same variables already, beside an earlier credential of the same function."""
    function = module.function(node)
    start, end = (
        (module.start(function), module.end(function)) if function is not None else (0, len(module.source.text))
    )
    return any(
        edit.path == module.path and edit.rule == RULE.name and start <= edit.start <= end and f"{base}[" in edit.text
        for edit in ctx.plan.edits
    )


def _is_elif(module: Module, node: ast.If) -> bool:
    parent = module.parent(node)
    return isinstance(parent, ast.If) and node in parent.orelse and module.source.code(node).startswith("elif")


# -- lists of names


def _names(ctx: Context, module: Module, node: ast.List | ast.Tuple | ast.Set) -> None:
    """Names of variables to hand on: what is done with them can't be seen, so a person is asked."""
    names = [constant(item) or "" for item in node.elts]
    if TOKEN in names or not any(is_credential(name) for name in names):
        return
    if all(re.fullmatch(r"[A-Z][A-Z0-9_]+", name) for name in names) and _hands_on(module, node):
        _ask(ctx, module, node, next(name for name in names if is_credential(name)))


def _hands_on(module: Module, node: ast.AST) -> bool:
    """Whether names are read from the environment where they are used: a loop over them, or a constant of names."""
    parent = module.parent(node)
    if isinstance(parent, (ast.For, ast.comprehension)):
        body = ast.unparse(module.statement(node))
        return "environ" in body or "getenv" in body
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return _CARRIES.search(ast.unparse(parent)[:80]) is not None
    return False


RULE = Rule(
    name="ray_python",
    title="Environments built in Python",
    needles=(*NEEDLES, *_SUBMITS),
    plan=plan,
    order=ORDER + 10,
)
