"""Files that get hold of a value without naming its library: `from tracking import run`, and no «wandb» in sight."""

from __future__ import annotations

import ast
from collections.abc import Collection

from instrument.errors import SourceError
from instrument.repo.module import Module
from instrument.repo.names import Program

#: Rounds of files that hand a value on to further files.
_MAX_ROUNDS = 3


def consumers(program: Program, wanted: Collection[str]) -> list[Module]:
    """Modules that import something which holds, returns or is one of these values, beyond those parsed so far.

    `wanted` are qualified names as `Program.resolve` gives them, such as {"wandb.init()"}. The repository is read once
    more for the names through which the values leave their files; what is found is parsed. In order of path.
    """
    found: dict[str, Module] = {}
    sought: set[tuple[str, str]] = set()
    known = set(wanted)
    modules = program.loaded
    for _ in range(_MAX_ROUNDS):
        leaving = {pair for module in modules for pair in _leaving(program, module, known)} - sought
        if not leaving:
            break
        sought |= leaving
        program.repo.scan(sorted({name.encode() for name, _ in leaving}))
        program.rescanned()
        loaded = {module.path for module in program.loaded}
        modules = []
        for name, stem in sorted(leaving):
            for path in program.repo.having(name.encode(), suffixes=(".py", ".ipynb")):
                if path not in loaded and program.mentions(path, stem):
                    loaded.add(path)
                    try:
                        modules.append(program.module(path))
                    except SourceError:
                        continue
        found |= {module.path: module for module in modules}
    return [found[path] for path in sorted(found)]


def _leaving(program: Program, module: Module, wanted: set[str]) -> list[tuple[str, str]]:
    """(name, module's own name) of what other files can import from this one to get a wanted value."""
    stem = module.dotted.rpartition(".")[2]
    names: set[str] = set()
    for name, bindings in module.scope.names.items():
        node = bindings[0].node
        # An import is the other file's to make; only what this file makes of it leaves by a new name.
        if any(binding.kind in ("value", "annotation") for binding in bindings):
            values = program.expanded(program.name(module, module.scope, name))
            if wanted & {value for value in values if isinstance(value, str)}:
                names.add(name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if program.returns(module, node) & wanted:
                names.add(name)
        elif isinstance(node, ast.ClassDef) and _holds(program, module, node, wanted):
            names.add(name)
    return [(name, stem) for name in names]


def _holds(program: Program, module: Module, node: ast.ClassDef, wanted: set[str]) -> bool:
    scope = module.index.inner[node]
    for binding in (b for bound in scope.self_attributes.values() for b in bound):
        if program.expanded(program.binding(module, binding)) & wanted:
            return True
    return any(
        isinstance(binding.node, ast.FunctionDef | ast.AsyncFunctionDef)
        and program.returns(module, binding.node) & wanted
        for bound in scope.names.values()
        for binding in bound
        if binding.kind == "def"
    )
