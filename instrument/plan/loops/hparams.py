"""What a run without a tracker is opened with: the script's own settings."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.config import config_at
from instrument.plan.loops.evidence import TRIALS
from instrument.plan.loops.units import Unit, inside, loops_around
from instrument.plan.loops.values import name_of
from instrument.plan.loops.words import tokens

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.loops.runs import Run
    from instrument.repo.names import Module

#: Settings that are written out one by one; more of them would be longer than the loop.
MOST = 12
_SETTING = re.compile(
    r"(?:\w*_)?(?:lr|lr_\w+|learning_rate|epochs?|n_epochs|batch_?size|bs|steps|iters?|iterations|episodes|seed|gamma|alpha|beta\d?|eps|epsilon|"
    r"momentum|dropout|hidden|hidden_(?:dim|size|units)|dim|n_?(?:layers?|heads?|hidden|embd)|layers|heads|width|depth|"
    r"weight_decay|wd|warmup\w*|block_size|seq_len|max_len\w*|vocab_size|embed\w*|optimi[sz]er|lambda|lam|tau|temperature|"
    r"clip|grad_clip|num_\w+|n_\w+|max_\w+|model_name|arch|dataset|buffer_size|update_every|decay|rate)",
    re.IGNORECASE,
)  # fmt: skip
_SECRET = re.compile(r"token|key|secret|passw|path|dir|file|url|user|host|worker|device|log_|print_|save_|eval_every|interval|"
                     r"num_gpus|n_gpus?|world_size|rank|port|node|thread|num_proc|n_jobs|max_norm_print", re.IGNORECASE)  # fmt: skip
_CONFIGS = (
    "args",
    "config",
    "cfg",
    "hparams",
    "opt",
    "opts",
    "hp",
    "params",
    "flags",
    "settings",
    "conf",
    "train_config",
    "hyperparams",
)


def config_of(context: Context, run: Run) -> str:
    """The text for `config=`, "" where the script has no settings to speak of."""
    unit, module = run.unit, run.module
    names = [
        config_at(context, module, run.anchor) or "",
        *(n for n in unit.parameters if n in _CONFIGS),
        *_bound_settings(run),
    ]
    for name in names:
        if name and is_bound(run, name) and _is_settings(unit, run, name):
            # The inline form of a notebook takes mappings only.
            if not module.path.endswith(".ipynb") or _is_mapping(run, name):
                return name
    if _uses_flags(module):
        return "FLAGS.flag_values_dict()"
    own = _of_self(unit)
    if own:
        return own
    seen: dict[str, str] = {}
    for key, text in [*_trials(run), *_parameters(unit), *_attributes(run), *_constants(run)]:
        seen.setdefault(key, text)
    items = [f'"{key}": {text}' for key, text in list(seen.items())[:MOST]]
    return f"{{{', '.join(items)}}}" if items else ""


def _trials(run: Run) -> list[tuple[str, str]]:
    """What tells this run from the others of a loop around it: its fold, its seed."""
    found = []
    for loop in reversed(loops_around(run.module, run.anchor)):
        if isinstance(loop, ast.For):
            target = loop.target
            if (
                isinstance(target, ast.Tuple)
                and isinstance(loop.iter, ast.Call)
                and name_of(loop.iter.func) == "enumerate"
            ):
                target = target.elts[0]
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found += [
                (n.id, n.id) for n in names if isinstance(n, ast.Name) and n.id != "_" and TRIALS & set(tokens(n.id))
            ]
    return found


def _is_mapping(run: Run, name: str) -> bool:
    for stmt in bound_before(run):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        if any(isinstance(t, ast.Name) and t.id == name for t in targets):
            value = stmt.value
            if isinstance(value, ast.Dict) or (
                isinstance(value, ast.Call) and name_of(value.func) in ("dict", "vars", "asdict")
            ):
                return True
    return False


def _is_settings(unit: Unit, run: Run, name: str) -> bool:
    """Whether a name holds settings: it is not stepped, updated or bound anew in the loop, nor is it parameters of a model."""
    if name == "params" and re.search(rb"\bjax\b|\boptax\b|\bautograd\b|\btheano\b", run.module.source.data):
        return False
    for node in inside(unit.node.body):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            if node.attr in ("step", "zero_grad", "param_groups", "state_dict", "apply_gradients", "minimize"):
                return False
    for node in inside(run.loop.body):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return False
    return True


def _bound_settings(run: Run) -> list[str]:
    """Names such as `config` that are bound by a call or a mapping before the run, in its function or at module level."""
    found = []
    for stmt in bound_before(run):
        for target in stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]:
            if not isinstance(target, ast.Name) or target.id.lower() not in _CONFIGS:
                continue
            if isinstance(stmt.value, ast.Dict) or (isinstance(stmt.value, ast.Call) and not _is_optimizer(stmt.value)):
                found.append(target.id)
    return found


def bound_before(run: Run) -> list[ast.Assign | ast.AnnAssign]:
    """Assignments that have surely been made when the run begins."""
    return [s for s in done_before(run) if isinstance(s, (ast.Assign, ast.AnnAssign)) and s.value is not None]


def done_before(run: Run) -> list[ast.stmt]:
    """Statements that have surely been executed when the run begins: above it in its own block and those around it, and
    at module level above its function."""
    module, unit = run.module, run.unit
    found: list[ast.stmt] = []
    stmt: ast.AST | None = run.anchor
    while isinstance(stmt, ast.stmt) and stmt is not unit.node:
        block, index = module.block(stmt)
        found = [*block[:index], *found]
        stmt = module.parent(stmt)
    if not isinstance(unit.node, ast.Module):
        found = [*(s for s in module.tree.body if s.lineno < unit.node.lineno), *found]
    return found


def is_bound(run: Run, name: str) -> bool:
    """Whether a name surely has a value when the run begins."""
    return name in run.unit.parameters or any(_binds(stmt, name) for stmt in done_before(run))


def _binds(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement surely binds a name: an assignment, or every branch of an `if`."""
    if isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target] if stmt.value is not None else []
        parts = [e for t in targets for e in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
        return any(isinstance(part, ast.Name) and part.id == name for part in parts)
    if isinstance(stmt, ast.If):
        return all(any(_binds(inner, name) for inner in branch) for branch in (stmt.body, stmt.orelse))
    if isinstance(stmt, (ast.With, ast.AsyncWith)):
        named = [item.optional_vars for item in stmt.items]
        return any(isinstance(n, ast.Name) and n.id == name for n in named) or any(_binds(s, name) for s in stmt.body)
    return False


def _is_optimizer(call: ast.Call) -> bool:
    text = ast.unparse(call.func).lower()
    return "optim" in text or any(
        isinstance(n, ast.Attribute) and n.attr == "parameters" for a in call.args for n in ast.walk(a)
    )


def _uses_flags(module: Module) -> bool:
    return any(
        isinstance(stmt, ast.Assign) and ast.unparse(stmt.value) in ("flags.FLAGS", "absl.flags.FLAGS")
        and any(isinstance(t, ast.Name) and t.id == "FLAGS" for t in stmt.targets)
        for stmt in module.tree.body
    )  # fmt: skip


def _of_self(unit: Unit) -> str:
    """`self.config`, where objects of the class surely keep their settings there."""
    for target, _ in _made_with(unit):
        if target.attr in _CONFIGS and target.attr not in ("opt", "params"):
            return f"self.{target.attr}"
    return ""


def _made_with(unit: Unit) -> list[tuple[ast.Attribute, ast.expr]]:
    """What every object of a method's class gets when it is made: the assignments to `self` at the top of `__init__`."""
    if unit.owner is None or unit.parameters[:1] != ["self"]:
        return []
    init = next((s for s in unit.owner.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)
    return [
        (target, value)
        for stmt in (init.body if init is not None else ())
        if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is not None
        for whole in (stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target])
        for target, value in _pairs(whole, stmt.value)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    ]


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """A target with its value, those of `a, b = 1, 2` one by one."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts))
    return [(target, value)]


def _parameters(unit: Unit) -> list[tuple[str, str]]:
    """Settings that the function is called with (also click's and typer's)."""
    used = {
        node.value.id
        for node in inside(unit.node.body)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name)
    }  # an object or a list, not a setting
    return [(name, name) for name in unit.parameters if _names_setting(name) and name not in used]


def _attributes(run: Run) -> list[tuple[str, str]]:
    """Settings that an object was made with: `self.epochs = epochs`."""
    owner = run.unit.owner
    init = next(
        (s for s in (owner.body if owner else ()) if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None
    )
    given = {a.arg for a in (*init.args.args, *init.args.kwonlyargs)} if init is not None else set()
    return [
        (target.attr, f"self.{target.attr}")
        for target, value in _made_with(run.unit)
        if isinstance(value, ast.Name) and value.id in given and _names_setting(target.attr)
    ]


def _constants(run: Run) -> list[tuple[str, str]]:
    """Settings that are bound to constants before the run, in its function and at module level."""
    found = []
    rebound = {n.id for n in inside(run.loop.body) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for stmt in bound_before(run):
        for target in stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]:
            for one, value in _pairs(target, stmt.value) if stmt.value is not None else ():
                if not isinstance(one, ast.Name) or not _is_constant(value):
                    continue
                if _names_setting(one.id) and one.id not in rebound:
                    found.append((one.id.lower() if one.id.isupper() else one.id, one.id))
    return found


def _names_setting(name: str) -> bool:
    return _SETTING.fullmatch(name) is not None and not _SECRET.search(name)


def _is_constant(node: ast.expr | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)) and node.value not in ("", None)
