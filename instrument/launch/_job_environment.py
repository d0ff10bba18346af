"""The runtime environment of `JobSubmissionClient.submit_job(...)` in Python, in whatever form it is given (Ray 2.60).

A job sees nothing of its submitter's environment: the token is added to `env_vars`, which is added where there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.launch._environ import READ, import_os
from instrument.launch._names import TOKEN, best_variable
from instrument.launch._python import constant, element_after, environment_read
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

_DEPTH = 4


class JobEnvironments:
    """Completes the environments of the jobs that a module submits."""

    def __init__(self, ctx: Context, module: Module, rule: str) -> None:
        self.ctx, self.module, self.rule = ctx, module, rule
        #: Dictionaries of variables that were looked at, by `id`.
        self.seen: set[int] = set()
        #: Calls whose environment could not be completed.
        self.left: list[ast.Call] = []
        #: A submitted job has the token, by now or by an edit.
        self.carried = False

    def complete(self) -> None:
        """Every `submit_job` of the module."""
        for call in self.module.calls():
            if isinstance(call.func, ast.Attribute) and call.func.attr == "submit_job":
                if self._submission(call):
                    self.carried = True
                else:
                    self.left.append(call)

    def _submission(self, call: ast.Call) -> bool:
        given = next((keyword for keyword in call.keywords if keyword.arg == "runtime_env"), None)
        if given is not None:
            return self._environment(call, given.value, _DEPTH)
        if any(keyword.arg is None for keyword in call.keywords) or not call.keywords:
            return False
        return self._insert(call, call.keywords[-1], f'runtime_env={{"env_vars": {self._pair()}}}')

    def _pair(self) -> str:
        return f'{{"{TOKEN}": {READ.format(TOKEN)}}}'

    def _environment(self, call: ast.Call, value: ast.expr, depth: int) -> bool:
        """A runtime environment: a dictionary, `dict(...)`, `RuntimeEnv(...)`, or a name for one."""
        if isinstance(value, ast.Dict):
            names = [constant(key) for key in value.keys]
            if "env_vars" in names:
                return self._variables(call, value.values[names.index("env_vars")], depth)
            if None in value.keys:
                return False
            return self._grown(value, f'"env_vars": {self._pair()}')
        if isinstance(value, ast.Call) and _name(value.func) in ("dict", "RuntimeEnv"):
            given = next((keyword for keyword in value.keywords if keyword.arg == "env_vars"), None)
            if given is not None:
                return self._variables(call, given.value, depth)
            if value.args or any(keyword.arg is None for keyword in value.keywords) or not value.keywords:
                return False
            return self._insert(value, value.keywords[-1], f"env_vars={self._pair()}")
        if isinstance(value, ast.Name):
            later = list(self._set_later(call, value.id))
            if later:  # `env["env_vars"] = {...}`, after it was made
                return len(later) == 1 and later[0] is not None and self._variables(call, later[0], depth)
        made = self._made(call, value)
        return made is not None and depth > 0 and self._environment(call, made, depth - 1)

    def _set_later(self, call: ast.Call, name: str) -> Iterator[ast.expr | None]:
        """What `name["env_vars"]` is set to in the same scope; None for `name.update(...)`, which may set it too."""
        function = self.module.function(call)
        for node in walk(function or self.module.tree):
            if isinstance(node, (ast.Assign, ast.Call)) and self.module.function(node) is not function:
                continue  # another scope's
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Subscript) and _name(target.value) == name:
                    if constant(target.slice) == "env_vars":
                        yield node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
                if _name(node.func.value) == name:
                    yield None

    def _variables(self, call: ast.Call, value: ast.expr, depth: int) -> bool:
        """Its `env_vars`."""
        self.seen.add(id(value))
        if has_everything(value):
            return True
        if isinstance(value, ast.Dict):
            names = [constant(key) or "" for key in value.keys]
            if TOKEN in names:
                return True
            at = best_variable(names)
            read = environment_read(value.values[at], self.module.source) if at is not None else None
            text = f'"{TOKEN}": ' + (read[0] if read is not None else READ).format(TOKEN)
            if at is None:
                at = max((i for i, name in enumerate(names) if name), default=None)
            if read is None and not import_os(self.ctx, self.module, self.rule, self._group):
                return False
            if at is None:
                return not value.keys and self._insert(value, None, text)
            key = value.keys[at]
            assert key is not None
            if self.module.source.text[self.module.start(key)] == "'":
                text = text.replace('"', "'")
            return self._insert(value, value.values[at], text, first=key)
        if isinstance(value, ast.Call) and _name(value.func) == "dict" and value.keywords and not value.args:
            if any(keyword.arg == TOKEN for keyword in value.keywords):
                return True
            names = [keyword.arg or "" for keyword in value.keywords]
            at = best_variable(names)
            anchor = value.keywords[at if at is not None else -1]
            return anchor.arg is not None and self._insert(value, anchor, f"{TOKEN}={READ.format(TOKEN)}")
        made = self._made(call, value)
        return made is not None and depth > 0 and self._variables(call, made, depth - 1)

    # -- text --------------------------------------------------------------------------------------------------------

    @property
    def _group(self) -> str:
        return f"job:{self.module.path}"

    def _grown(self, value: ast.Dict, text: str) -> bool:
        if not value.keys:
            return self._insert(value, None, text)
        key = value.keys[-1]
        assert key is not None
        return self._insert(value, value.values[-1], text, first=key)

    def _insert(self, container: ast.AST, after: ast.AST | None, text: str, *, first: ast.AST | None = None) -> bool:
        """Add an element after another, or as the only one. True also where an earlier call added it."""
        source = self.module.source
        if READ.format(TOKEN) in text and not import_os(self.ctx, self.module, self.rule, self._group):
            return False
        if after is None:
            offset, added = source.start(container) + 1, text
            if source.text[offset : source.end(container) - 1].strip():
                return False  # comments
        else:
            end = after.value if isinstance(after, ast.keyword) else after
            offset, added = element_after(source, container, first or after, end, text)
        what = f"hands {TOKEN} to the job, which sees nothing of this environment by itself"
        if not any(e.path == self.module.path and e.start == offset and TOKEN in e.text for e in self.ctx.plan.edits):
            self.ctx.edit(
                self.module.path, offset, offset, added, reason=what, rule=self.rule, group=self._group
            )  # fmt: skip
        return True

    def _made(self, call: ast.Call, value: ast.expr) -> ast.expr | None:
        """What a name stands for: its one assignment in the function or, else, at the top of the file."""
        if not isinstance(value, ast.Name):
            return None
        function = self.module.function(call)
        for scope in (function, None) if function is not None else (None,):
            if scope is not None and any(arg.arg == value.id for arg in ast.walk(scope) if isinstance(arg, ast.arg)):
                return None
            nodes = [node for node in walk(scope or self.module.tree) if self._is_of(node, scope)]
            loops = (node.target for node in nodes if isinstance(node, (ast.For, ast.AsyncFor)))
            if any(_name(target) == value.id for target in loops):
                return None
            made = [made for node in nodes for made in _assigned(node, value.id)]
            if made:
                return made[0] if len(made) == 1 else None
        return None

    def _is_of(self, node: ast.AST, scope: ast.AST | None) -> bool:
        """Whether a node stands in a scope itself, not in a function or class in it."""
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.AsyncFor)):
            return False
        owner = self.module.parent(node)
        while owner is not None and not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            owner = self.module.parent(owner)
        return owner is scope


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            yield node.value


def assignments(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """The values that are assigned to a name anywhere inside a node."""
    for node in walk(scope):
        yield from _assigned(node, name)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def has_everything(node: ast.AST | None) -> bool:
    """Whether an expression is this process's whole environment, with more or without."""
    if node is None:
        return False
    if isinstance(node, ast.Dict):
        return any(key is None and has_everything(value) for key, value in zip(node.keys, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return has_everything(node.left) or has_everything(node.right)
    if isinstance(node, ast.Call):
        inner = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]
        if _name(node.func) in ("dict", "copy", "deepcopy", "OrderedDict") and inner:
            return any(map(has_everything, inner))
        return _name(node.func) == "copy" and isinstance(node.func, ast.Attribute) and has_everything(node.func.value)
    return ast.unparse(node) in ("os.environ", "environ") if isinstance(node, (ast.Attribute, ast.Name)) else False
