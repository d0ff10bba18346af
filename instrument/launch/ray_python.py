"""Environments built in Python: `{"env_vars": {...}}`, `env_vars["WANDB_API_KEY"] = ...`.

The token is added beside the tracker's credentials. In a module that submits Ray jobs it is added to the job's
`env_vars` without such a neighbour too: nothing else of the submitter's environment reaches the job (Ray 2.60).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._environ import READ, import_os
from instrument.launch._job_environment import JobEnvironments, assignments, has_everything
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
    carried = _submitted_by_scripts(ctx)
    for module in modules:
        if any(needle.decode() in module.source.text for needle in _SUBMITS):
            submitted = JobEnvironments(ctx, module, RULE.name)
            submitted.complete()
            jobs |= submitted.seen
            carried |= submitted.carried
            for call in submitted.left:
                _ask_job(ctx, module, call)
            for node in walk(module.tree):
                if isinstance(node, ast.Dict) and id(node) not in jobs and _is_job_environment(module, node):
                    jobs.add(id(node))
                    carried = True
                    _dict(ctx, module, node, wanted=True)
    for module in modules:
        for node in walk(module.tree):
            if carried and _is_drivers(module, node):
                continue
            if isinstance(node, ast.Dict):
                # Where jobs get it anyway, what is handed to them only beside the tracker's key needs no token.
                if id(node) not in jobs and not (jobs and _is_conditional(module, node)):
                    _dict(ctx, module, node, wanted=False)
            elif isinstance(node, ast.Call):
                _call(ctx, module, node)
            elif isinstance(node, ast.Assign):
                _assignment(ctx, module, node)
            elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                _names(ctx, module, node)


def _submitted_by_scripts(ctx: Context) -> bool:
    """Whether a script hands the token to the jobs that it submits."""
    if any(edit.rule == "ray_job" and TOKEN in edit.text for edit in ctx.plan.edits):
        return True
    scripts = ctx.repo.having(b"ray job submit")
    return any(TOKEN.encode() in ctx.repo.read(path) for path in scripts if not path.endswith((".py", ".ipynb")))


def _is_drivers(module: Module, node: ast.AST) -> bool:
    """Whether variables are those of a driver's `ray.init`, where the job has them already.

    A variable in both would end the job before it begins (Ray 2.60: "Failed to merge the Job's runtime env").
    """
    if "ray.init" not in module.source.text:
        return False
    if isinstance(node, ast.Assign):
        return re.search(r"env_vars|runtime_env", ast.unparse(node.targets[0])) is not None
    above: ast.AST | None = node
    while above is not None and not isinstance(above, ast.stmt):
        below, above = above, module.parent(above)
        if isinstance(above, ast.Dict) and below in above.values:
            if constant(above.keys[above.values.index(below)]) == "env_vars":
                return True
        if isinstance(above, ast.keyword) and above.arg in ("env_vars", "runtime_env"):
            return True
    return (
        isinstance(above, ast.Assign) and re.search(r"env_vars|runtime_env", ast.unparse(above.targets[0])) is not None
    )


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


def _ask_job(ctx: Context, module: Module, node: ast.AST) -> None:
    ctx.note(
        "question",
        "token-not-forwarded",
        f"a Ray job is submitted whose environment can't be completed here: {TOKEN} does not reach it",
        path=module.path,
        line=module.source.line_of(module.start(node)),
        next=f'add "{TOKEN}" to the env_vars of its runtime environment',
    )


# -- dictionaries


def _dict(ctx: Context, module: Module, node: ast.Dict, *, wanted: bool) -> None:
    names = [constant(key) or "" for key in node.keys]
    if TOKEN in names or has_everything(node):
        return
    index = best_variable(names)
    if index is not None and not is_credential(names[index]):
        index = None
    if index is None and not wanted:
        return
    if index is not None and not _carries(module, node):
        return
    last = max((i for i, name in enumerate(names) if name), default=None)
    if index is None and last is None:
        return
    read = _read(ctx, module, node, index)
    if read is None:
        if index is not None:
            _ask(ctx, module, node, names[index])
        return
    index = last if index is None else index
    assert index is not None
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


def _call(ctx: Context, module: Module, node: ast.Call) -> None:
    """`dict(WANDB_API_KEY=...)`, where a dictionary could stand."""
    names = [keyword.arg or "" for keyword in node.keywords]
    index = best_variable(names)
    if index is None or not is_credential(names[index]) or TOKEN in names or has_everything(node):
        return
    if not isinstance(node.func, ast.Name) or node.func.id != "dict" or not _carries(module, node):
        return
    read = environment_read(node.keywords[index].value, module.source)
    if read is None and not import_os(ctx, module, RULE.name):
        _ask(ctx, module, node, names[index])
        return
    new = f"{TOKEN}=" + (read[0] if read is not None else READ).format(TOKEN)
    anchor = node.keywords[index]
    offset, added = element_after(module.source, node, anchor, anchor.value, new)
    if not any(e.path == module.path and e.start == offset for e in ctx.plan.edits):
        _edit(ctx, module, offset, added, f"hands {TOKEN} to the processes that this environment is for")


def _read(ctx: Context, module: Module, node: ast.Dict, index: int | None) -> str | None:
    """How the token is read here: as the anchor's value is, else with the module's own `os`."""
    if index is not None:
        found = environment_read(node.values[index], module.source)
        if found is not None:
            return found[0]
        if constant(node.values[index]) is None and not isinstance(node.values[index], (ast.Name, ast.JoinedStr)):
            return None
    return READ if import_os(ctx, module, RULE.name) else None


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
    if _copied(module, node, target.value):
        return  # the token is in it already
    if read is None:
        if not import_os(ctx, module, RULE.name):
            _ask(ctx, module, node, name)
            return
        read = (READ, 'os.environ["{}"]')
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


def _copied(module: Module, node: ast.Assign, base: ast.expr) -> bool:
    """Whether variables are added to a copy of the whole environment."""
    if not isinstance(base, ast.Name):
        return False
    scope = module.function(node) or module.tree
    return any(map(has_everything, assignments(scope, base.id)))


def _added(ctx: Context, module: Module, node: ast.AST, base: str) -> bool:
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
    """Names of variables to hand on: what is done with them can't be proved the same, so a person is asked."""
    names = [constant(item) or "" for item in node.elts]
    index = best_variable(names)
    if TOKEN in names or index is None or not is_credential(names[index]):
        return
    if not all(re.fullmatch(r"[A-Z][A-Z0-9_]+", name) for name in names) or not _hands_on(module, node):
        return
    parent = module.parent(node)
    filled = [t.value for n in walk(parent) if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Subscript)
              ] if isinstance(parent, ast.For) else []  # fmt: skip
    if not any(_added(ctx, module, node, module.source.code(base)) for base in filled):
        _ask(ctx, module, node, names[index])


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
