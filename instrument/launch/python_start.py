"""Starts of processes in Python that hand variables on, or keep them back: argument lists, `env=`, clients of clusters.

`["docker", "run", "-e", "WANDB_API_KEY", ...]` gains the token by name. The rest is asked: an `env=` that is not this
environment, `V1EnvVar(name="WANDB_API_KEY")`, a command in one string, a driver on a cluster that runs already.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._job_environment import assignments, has_everything
from instrument.launch._names import TOKEN, is_credential
from instrument.launch._python import constant, element_after, may_grow
from instrument.plan.rules import Rule
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module

NEEDLES = (
    b"subprocess", b"os.exec", b"os.spawn", b"EnvVar", b"ray job", b'"docker"', b"'docker'", b"os.system", b"ray.init",
    b'"ray"', b"'ray'", b"slurm_",
)  # fmt: skip
_CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
_STARTS = frozenset(("run", "Popen", "call", "check_call", "check_output"))
_EXECS = frozenset(("execve", "execvpe", "execle", "execlpe", "spawnve", "spawnvpe", "posix_spawn"))
_OPTION = re.compile(r"(?:-e|--env)(?:[ =]|\Z)")


#: What a file has in it that has any of this: an environment that is handed over, a credential's name, a job's command,
#: a running cluster's address. A `subprocess.run(["git", ...])` alone is in half of all repositories.
_WORTH = re.compile(
    rb"\benv\s*=|\bexecv\w*e\b|\bexecle\b|\bspawnv?\w*e\b|\bposix_spawn|_(?:API_|ACCESS_)?(?:KEY|TOKEN)\b|_USERNAME\b"
    rb"|_PASSWORD\b|_URI\b|ray job|[\"']ray[\"']|slurm_|[\"']auto[\"']|ray://"
)


def plan(ctx: Context) -> None:
    """Look at every call that starts something, in the files that are ours."""
    targets = covered(ctx)
    if not targets:
        return
    for module in ctx.modules(*NEEDLES, where=_WORTH.search):
        if module.source.kind != "python":
            continue
        nodes = list(walk(module.tree))
        for node in nodes:
            if isinstance(node, ast.Dict):
                _slurm(ctx, module, node)
            elif isinstance(node, ast.List):
                _arguments(ctx, module, node)
        for node in nodes:  # after the lists in them
            if isinstance(node, ast.Call):
                _start(ctx, module, node)
                _cluster_variable(ctx, module, node)
        _driver(ctx, module, targets)


def _ask(ctx: Context, module: Module, node: ast.AST, message: str, next_: str = "") -> None:
    line = module.source.line_of(module.start(node))
    if any(n.path == module.path and n.line == line and n.code == "token-not-forwarded" for n in ctx.plan.notes):
        return
    ctx.note(
        "question", "token-not-forwarded", message, path=module.path, line=line,
        next=next_ or f"hand {TOKEN} on in the same way, by name",
    )  # fmt: skip


def _leading(node: ast.expr) -> str:
    """What a string begins with: the whole of a constant, the first part of an f-string."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return constant(node.values[0]) or ""
    return constant(node) or ""


def _arguments(ctx: Context, module: Module, node: ast.List) -> None:
    """`["docker", "run", "-e", "WANDB_API_KEY", "img"]`."""
    words = [_leading(item) for item in node.elts]
    for i, word in enumerate(words[:-1]):
        name = re.match(r"[A-Z_]*", words[i + 1])
        if word not in ("-e", "--env") or name is None or not is_credential(name[0]) or any(TOKEN in w for w in words):
            continue
        if not _CONTAINERS & set(words[:4]) or not may_grow(module.tree, node):
            _ask(ctx, module, node.elts[i], f"{name[0]} is handed on here and {TOKEN} is not")
            return
        option, value = node.elts[i], node.elts[i + 1]
        quote = module.source.code(option)[0]
        new = f"{quote}{word}{quote}, {quote}{TOKEN}{quote}"
        offset, added = element_after(module.source, node, option, value, new)
        what = f"hands {TOKEN} on by name, as {name[0]} is"
        ctx.edit(module.path, offset, offset, added, reason=what, rule=RULE.name)
        return


def _start(ctx: Context, module: Module, call: ast.Call) -> None:
    """`subprocess.run(..., env=...)`, `os.execve(...)`, `os.system("docker run -e ...")`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    text = module.source.code(call)
    if name in _STARTS | {"system"}:
        words = " ".join(_leading(n) for n in walk(call) if isinstance(n, (ast.Constant, ast.JoinedStr)))
        fixed = not any(isinstance(n, (ast.FormattedValue, ast.Name)) for argument in call.args for n in walk(argument))
        if re.search(r"\bray job submit\b", words) and TOKEN not in text and (fixed or not _handles(ctx, module)):
            _ask(ctx, module, call, f"a Ray job is submitted here, which sees nothing of this environment: {TOKEN} does not reach it",
                 f'add "{TOKEN}" to the env_vars of its runtime environment')  # fmt: skip
        named = next((m for m in re.finditer(r"(?:-e|--env)[ =]([A-Z_]+)", words) if is_credential(m[1])), None)
        if named is not None and TOKEN not in text and not _inside(ctx, module, call):
            _ask(ctx, module, call, f"{named[1]} is handed on here and {TOKEN} is not")
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "env"), None)
    if name in _EXECS and len(call.args) > 2:
        given = call.args[-1]
    elif name not in _STARTS:
        return
    if given is None or not _runs_python(call) or TOKEN in text or _inside(ctx, module, call):
        return
    if _keeps_back(ctx, module, call, given):
        _ask(ctx, module, call, f"what is started here gets another environment than this one: {TOKEN} is not in it",
             f'add "{TOKEN}": os.environ.get("{TOKEN}", "") to it')  # fmt: skip


def _handles(ctx: Context, module: Module) -> bool:
    """Whether the token is in the file, or put there by this plan: the environment is made elsewhere in it."""
    return TOKEN in module.source.text or any(e.path == module.path and TOKEN in e.text for e in ctx.plan.edits)


def _inside(ctx: Context, module: Module, node: ast.AST) -> bool:
    start, end = module.start(node), module.end(node)
    return any(e.path == module.path and start <= e.start <= end and TOKEN in e.text for e in ctx.plan.edits)


def _runs_python(call: ast.Call) -> bool:
    """Whether a Python program is among the words of a command."""
    text = " ".join(ast.unparse(argument) for argument in call.args)
    return bool(re.search(r"\bpython|sys\.executable|torchrun|accelerate|deepspeed|\.py\b", text))


def _keeps_back(ctx: Context, module: Module, call: ast.Call, given: ast.expr) -> bool:
    """Whether an environment is written out, or filtered, without the token."""
    if has_everything(given):
        return False
    if isinstance(given, ast.Name):
        made = list(assignments(module.function(call) or module.tree, given.id))
        if not made or any(map(has_everything, made)):
            return False
        added = any(e.path == module.path and TOKEN in e.text and given.id in e.text for e in ctx.plan.edits)
        dicts = [value for value in made if isinstance(value, (ast.Dict, ast.DictComp))]
        return bool(dicts) and not added and not any(_inside(ctx, module, v) or TOKEN in ast.unparse(v) for v in dicts)
    return isinstance(given, (ast.Dict, ast.DictComp)) or (
        isinstance(given, ast.Call) and ast.unparse(given.func) == "dict" and not any(map(has_everything, given.args))
    )


def _cluster_variable(ctx: Context, module: Module, call: ast.Call) -> None:
    """`V1EnvVar(name="WANDB_API_KEY", ...)` of the Kubernetes client and its like."""
    if not ast.unparse(call.func).endswith("EnvVar"):
        return
    names = [constant(value) or "" for value in (*call.args, *(keyword.value for keyword in call.keywords))]
    name = next((name for name in names if is_credential(name)), "")
    if name and not re.search(r"EnvVar\([^()]*" + TOKEN, module.source.text):
        _ask(ctx, module, call, f"{name} is handed on here and {TOKEN} is not")


def _slurm(ctx: Context, module: Module, node: ast.Dict) -> None:
    """`slurm_additional_parameters={"export": "WANDB_API_KEY"}` of submitit, which hands everything on otherwise."""
    for key, value in zip(node.keys, node.values):
        names = (constant(value) or "ALL").split(",")
        if constant(key) == "export" and "ALL" not in names and TOKEN not in names:
            parent = module.parent(node)
            if isinstance(parent, ast.keyword) and "slurm" in (parent.arg or ""):
                _ask(ctx, module, node, f"a Slurm job gets a part of this environment only: {TOKEN} is not in it")


def _driver(ctx: Context, module: Module, targets: frozenset[str]) -> None:
    """`ray.init(address="auto")`: workers of a cluster that runs already have its environment, not this one."""
    if module.path not in targets or b"ray.init" not in module.source.data or _handles(ctx, module):
        return
    for call in module.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "init" or not (call.args or call.keywords):
            continue
        address = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "address"), None)
        text = constant(address) or ""
        if (text == "auto" or text.startswith("ray://")) and "ray.init" in ctx.program.resolve(module, call.func):
            if not _job_has_it(ctx):
                _ask(ctx, module, call, f"workers of a running cluster do not see this environment: {TOKEN} is not handed to them",
                     f'runtime_env={{"env_vars": {{"{TOKEN}": os.environ.get("{TOKEN}", "")}}}}')  # fmt: skip


def _job_has_it(ctx: Context) -> bool:
    if any(edit.rule in ("ray_job", "ray_python") and TOKEN in edit.text for edit in ctx.plan.edits):
        return True
    paths = ctx.repo.having(b"ray job submit", b"submit_job(")
    return any(TOKEN.encode() in ctx.repo.read(path) for path in paths)


RULE = Rule(name="python_start", title="Processes that Python starts", needles=NEEDLES, plan=plan, order=ORDER + 20)
