"""How launch rules read the environment in Python: with the module's own `os`, which is imported where it is not."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.module import Module


def knows_os(module: Module) -> bool:
    """Whether `os` is imported at the top of a module, or inside a `try` there."""
    return any(
        isinstance(stmt, ast.Import) and any(alias.name == "os" and alias.asname is None for alias in stmt.names)
        for stmt in module.tree.body
    )


def import_os(ctx: Context, module: Module, rule: str, group: str = "") -> bool:
    """Have a module know `os` by its own name: as it does, or by an import before the others. False where it can't."""
    if knows_os(module) or any(e.path == module.path and e.text.startswith("import os") for e in ctx.plan.edits):
        return True
    if module.source.kind != "python" or _taken(module.tree):
        return False
    body = module.tree.body
    imports = [
        s for s in body if isinstance(s, (ast.Import, ast.ImportFrom)) and getattr(s, "module", "") != "__future__"
    ]
    if not imports:
        return False
    anchor = next((stmt for stmt in imports if not _before_os(stmt)), None)
    newline = module.source.newline
    if anchor is None or module.source.text[module.source.line_start(anchor.lineno) : module.start(anchor)].strip():
        return False
    # A group of the standard library of its own is set off by a blank line, as isort does.
    alone = not any(map(_standard, imports)) and len(imports) > 1
    start = module.start(anchor)
    text = "import os" + newline * (2 if alone else 1)
    ctx.edit(module.path, start, start, text, reason="the environment is read below", rule=rule, group=group)
    return True


def _standard(stmt: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in stmt.names] if isinstance(stmt, ast.Import) else [stmt.module or "."]
    return all(name.split(".")[0] in sys.stdlib_module_names for name in names)


def _before_os(stmt: ast.Import | ast.ImportFrom) -> bool:
    """`import json` comes before `import os`."""
    return isinstance(stmt, ast.Import) and _standard(stmt) and stmt.names[0].name < "os"


def _taken(tree: ast.Module) -> bool:
    """Whether the name `os` stands for something else anywhere in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.alias) and (node.asname or node.name) == "os" and node.name != "os":
            return True
        if isinstance(node, ast.Name) and node.id == "os" and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.arg) and node.arg == "os":
            return True
    return False


#: The token's value, empty where it is not set.
READ = 'os.environ.get("{}", "")'
