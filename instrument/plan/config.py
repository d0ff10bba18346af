"""Finding the script's own configuration: what a run is opened with where the tracker holds none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: Calls whose result is a script's configuration (argparse, tyro, Hugging Face's and simple-parsing's parsers, ...).
_PARSERS = (
    "argparse.ArgumentParser().parse_args()", "tyro.cli()", "tap.Tap().parse_args()", "simple_parsing.parse()",
    "omegaconf.OmegaConf.load()", "omegaconf.OmegaConf.create()", "omegaconf.OmegaConf.merge()",
    "configargparse.ArgParser().parse_args()", "transformers.HfArgumentParser().parse_args_into_dataclasses()",
    "fire.Fire()", "draccus.parse()", "pyrallis.parse()",
)  # fmt: skip
_NAMES = ("args", "config", "cfg", "hparams", "opt", "hp", "flags", "params", "settings")


def config_at(context: Context, module: Module, node: ast.AST) -> str | None:
    """The name of the configuration that is visible at a node and bound before it, or None.

    A parameter of the enclosing function by a usual name, else a variable that a known parser's result is assigned to,
    else a written-out mapping of settings by a usual name.
    """
    function = module.function(node)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        given = {a.arg for a in every}
        for name in _NAMES:
            if name in given:
                return name
    best: tuple[int, str] | None = None
    for stmt in _bound_before(module, node, function):
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        for target in targets:
            if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
                target = target.elts[0]  # `args, rest = parser.parse_known_args()`
            if not isinstance(target, ast.Name) or stmt.value is None:
                continue
            rank = _rank(context, module, target.id, stmt.value)
            if rank and (best is None or rank <= best[0]):
                best = (rank, target.id)
    return best[1] if best else None


def _rank(context: Context, module: Module, name: str, value: ast.expr) -> int:
    if isinstance(value, ast.Call):
        resolved = context.program.resolve(module, value)
        if resolved & set(_PARSERS) or any(r.endswith((".parse_args()", ".parse_known_args()")) for r in resolved):
            return 1
        func = value.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if last in ("parse_args", "parse_known_args", "get_args", "get_config", "load_config") or (
            name in _NAMES and last[:1].isupper()
        ):
            return 2
    if isinstance(value, ast.Dict) and value.keys and name.lower() in _NAMES:
        return 3
    return 0


def _bound_before(
    module: Module, node: ast.AST, function: ast.AST | None
) -> list[ast.Assign | ast.AnnAssign]:  # fmt: skip
    """Assignments in the node's function, then at module level, that are done before it."""
    line = module.statement(node).lineno
    found: list[ast.Assign | ast.AnnAssign] = []
    for other in walk(module.tree):
        if isinstance(other, (ast.Assign, ast.AnnAssign)):
            owner = module.function(other)
            if (
                owner is function
                and other.lineno < line
                and module.enclosing_class(other) is module.enclosing_class(node)
            ) or (
                owner is None
                and function is not None
                and module.enclosing_class(other) is None
                and _at_top(module, other)
            ):
                found.append(other)
    return found


def _at_top(module: Module, stmt: ast.stmt) -> bool:
    """Bound when the module is imported, not under `if __name__ == "__main__"` of a file that others import."""
    return module.parent(stmt) is module.tree
