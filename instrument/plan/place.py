"""Where text goes: beside a statement, into a call, under the imports.

Each function works out an insertion that keeps the program's meaning by construction: one-line suites stay on their
line, `;` lists stay lists, nothing lands between a decorator and its `def`, imports never cross an executable
statement. What can't be placed is answered with None, and the rule asks instead. The proofs check the result anyway.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan.bind import effect_free

if TYPE_CHECKING:
    from instrument.repo.names import Module

_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef, ast.Match,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put at an offset."""

    offset: int
    text: str


def is_compound(stmt: ast.stmt) -> bool:
    """Whether a statement has suites of its own (`try*` included)."""
    return isinstance(stmt, _COMPOUND) or type(stmt).__name__ == "TryStar"


def suites(stmt: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements directly inside a node."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(stmt, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
    for holder in (*getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())):
        yield holder.body


def first_line(stmt: ast.stmt) -> int:
    """The line a statement starts on, its decorators included."""
    decorators = getattr(stmt, "decorator_list", [])
    lines: list[int] = [d.lineno for d in decorators]
    return min([stmt.lineno, *lines])


def _start(module: Module, stmt: ast.stmt) -> int:
    if getattr(stmt, "decorator_list", []):
        line = first_line(stmt)
        start = module.source.line_start(line)
        text = module.source.text
        while text[start] in " \t\f":
            start += 1
        return start
    return module.start(stmt)


def indent_of(module: Module, stmt: ast.stmt) -> str:
    """The white space that a statement's block is indented by ("" for a one-line suite's own line start)."""
    block, _ = module.block(stmt)
    start = _start(module, block[0])
    line = module.source.line_start(module.source.line_of(start))
    lead = module.source.text[line:start]
    return lead.replace("\f", "") if not lead.strip() else re.match(r"[ \t]*", lead).group()  # type: ignore[union-attr]


def indent_unit(module: Module) -> str:
    """One level of indentation as this file writes it (four spaces where it has none)."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.For, ast.If, ast.While, ast.With)):
            inner = node.body[0]
            if inner.lineno > node.lineno:
                outer_lead = indent_of(module, node)
                inner_lead = indent_of(module, inner)
                if inner_lead.startswith(outer_lead) and len(inner_lead) > len(outer_lead):
                    return inner_lead[len(outer_lead) :]
    return "    "


def one_line_suite(module: Module, stmt: ast.stmt) -> bool:
    """Whether the statement sits on its header's line (`if x: stmt`)."""
    block, _ = module.block(stmt)
    start = _start(module, block[0])
    lead = module.source.text[module.source.line_start(module.source.line_of(start)) : start]
    return bool(lead.strip()) and block is not module.tree.body


def _shares_line_before(module: Module, stmt: ast.stmt) -> bool:
    start = _start(module, stmt)
    return bool(module.source.text[module.source.line_start(module.source.line_of(start)) : start].strip())


def _shares_line_after(module: Module, stmt: ast.stmt) -> bool:
    """Whether another statement follows on the line that this one ends on."""
    end = module.end(stmt)
    rest = module.source.text[end : module.source.line_end(module.source.line_of(end))].lstrip(" \t")
    return rest.startswith(";") and rest[1:].strip(" \t") != "" and not rest[1:].lstrip(" \t").startswith("#")


def _lines(module: Module, lines: list[str], indent: str) -> list[str]:
    """Lines written with four spaces a level, as this file indents them."""
    unit = indent_unit(module)
    done = []
    for line in lines:
        depth = (len(line) - len(line.lstrip(" "))) // 4
        done.append(indent + unit * depth + line.lstrip(" ") if line else "")
    return done


def before(module: Module, stmt: ast.stmt, lines: list[str]) -> Insertion | None:
    """Insert statements right before one, in its block. None where that can't be (an `elif`, a compound on a line)."""
    start = _start(module, stmt)
    if isinstance(stmt, ast.If) and module.source.text.startswith("elif", start):
        return None
    newline = module.source.newline
    if _shares_line_before(module, stmt) or one_line_suite(module, stmt):
        if any(line.startswith(" ") or line.endswith(":") for line in lines) or is_compound(stmt):
            return None
        return Insertion(start, "".join(f"{line}; " for line in lines))
    indent = indent_of(module, stmt)
    placed = _lines(module, lines, indent)
    placed[0] = placed[0][len(indent) :]
    return Insertion(start, newline.join(placed) + newline + indent)


def after(module: Module, stmt: ast.stmt, lines: list[str]) -> Insertion | None:
    """Insert statements right after one, in its block. None where that can't be."""
    compound = any(line.startswith(" ") or line.rstrip().endswith(":") for line in lines)
    newline = module.source.newline
    if one_line_suite(module, stmt) or _shares_line_after(module, stmt):
        if compound or is_compound(stmt):
            return None
        return Insertion(module.end(stmt), "".join(f"; {line}" for line in lines))
    end_line = module.source.line_of(module.end(stmt))
    offset = module.source.line_end(end_line)
    if module.source.text[module.end(stmt) : offset].rstrip(" \t").endswith("\\"):
        return None
    placed = _lines(module, lines, indent_of(module, stmt))
    return Insertion(offset, "".join(newline + line for line in placed))


def at_top_of(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Insertion | None:
    """Insert statements at the start of a function's body, below its docstring."""
    body = function.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return after(module, first, lines) if len(body) == 1 else before(module, body[1], lines)
    return before(module, first, lines)


def evaluated_once(module: Module, node: ast.expr) -> bool:
    """Whether an expression is evaluated exactly once, first to last, each time its statement runs."""
    child: ast.AST = node
    parent = module.parent(child)
    while parent is not None:
        if isinstance(
            parent, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension)
        ):
            return False
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return False
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            return False
        if isinstance(parent, ast.Compare) and len(parent.comparators) > 1 and child is not parent.left:
            return False
        if isinstance(parent, ast.stmt):
            return _once_in(module, parent, child)
        child, parent = parent, module.parent(parent)
    return False


def _once_in(module: Module, stmt: ast.stmt, part: ast.AST) -> bool:
    if isinstance(stmt, ast.With):
        return part is stmt.items[0]
    if isinstance(stmt, ast.If):
        return part is stmt.test and not module.source.text.startswith("elif", module.start(stmt))
    if isinstance(stmt, ast.For):
        return part is stmt.iter
    if isinstance(stmt, ast.Match):
        return part is stmt.subject
    # An assert's test is not moved out of it: -O drops both.
    return not is_compound(stmt) and not isinstance(stmt, ast.Assert)


def comes_first(module: Module, node: ast.expr) -> bool:
    """Whether its statement evaluates nothing with an effect before an expression (which is evaluated once)."""
    child: ast.AST = node
    parent = module.parent(child)
    while parent is not None and not isinstance(parent, ast.stmt):
        parts: list[ast.expr] = []
        if isinstance(parent, ast.Call):
            parts = [parent.func, *parent.args, *(k.value for k in parent.keywords)]
        elif isinstance(parent, (ast.List, ast.Tuple, ast.Set)):
            parts = list(parent.elts)
        elif isinstance(parent, ast.Dict):
            parts = [part for pair in zip(parent.keys, parent.values) for part in pair if part is not None]
        elif isinstance(parent, (ast.BinOp, ast.Compare, ast.Subscript)):
            parts = [part for part in ast.iter_child_nodes(parent) if isinstance(part, ast.expr)]
        elif not isinstance(parent, _UNARY):
            return False
        inner = child.value if isinstance(child, ast.keyword) else child
        if inner in parts and not all(effect_free(part) for part in parts[: parts.index(inner)]):
            return False
        child, parent = parent, module.parent(parent)
    return True


#: What evaluates nothing else before its first part.
_UNARY = (
    ast.Attribute, ast.Starred, ast.keyword, ast.Await, ast.NamedExpr, ast.withitem, ast.UnaryOp, ast.BoolOp, ast.IfExp,
)  # fmt: skip


def ends_block(stmt: ast.stmt) -> bool:
    """Whether nothing written after a statement in its block would run."""
    return isinstance(stmt, (ast.Return, ast.Raise, ast.Continue, ast.Break))


# -- calls -----------------------------------------------------------------------------------------------------------


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """A call's argument by keyword, else by position. None where it is not given plainly (or hidden behind a splat)."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    if position is not None and len(call.args) > position:
        if any(isinstance(arg, ast.Starred) for arg in call.args[: position + 1]):
            return None
        return call.args[position]
    return None


def has_splat(call: ast.Call) -> bool:
    """Whether a call takes `*args` or `**kwargs`, so that what it is given can't be read."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


# -- imports ---------------------------------------------------------------------------------------------------------


def import_like(stmt: ast.stmt) -> bool:
    """An import, or a guarded block of nothing but imports and their fallbacks."""
    if isinstance(stmt, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(stmt, ast.Try) or (isinstance(stmt, ast.If) and not stmt.orelse):
        inner = [s for block in suites(stmt) for s in block]
        return any(isinstance(s, (ast.Import, ast.ImportFrom)) for s in inner) and all(
            isinstance(s, (ast.Import, ast.ImportFrom, ast.Pass))
            or (isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant))
            or (isinstance(s, ast.Try) and import_like(s))
            for s in inner
        )
    return False


def imports(stmt: ast.stmt, roots: frozenset[str]) -> bool:
    """Whether a statement imports one of these top-level packages."""
    for node in ast.walk(stmt):
        if isinstance(node, ast.Import) and any(a.name.split(".")[0] in roots for a in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in roots and not node.level:
            return True
    return False


def import_point(
    module: Module, lines: list[str], *, beside: frozenset[str] = frozenset(),
    own: Callable[[str], bool] | None = None,
) -> Insertion | None:  # fmt: skip
    """Where new top-level import lines go.

    At the end of the block of imports that holds the top-level import of one of the `beside` packages; else of the
    first block of imports. Never above the docstring or `from __future__`, never across an executable statement, never
    out of the notebook cell that the block is in. `own` says of a top-level package whether it is the repository's:
    lines that import the repository's own code are set off from third-party imports by a blank line, as isort does.
    """
    body = module.tree.body
    source = module.source
    newline = source.newline
    start = 0
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    ):
        start = 1
    while start < len(body) and isinstance(body[start], ast.ImportFrom) and body[start].module == "__future__":  # type: ignore[attr-defined]
        start += 1
    anchor = next((i for i in range(start, len(body)) if import_like(body[i]) and imports(body[i], beside)), None)
    if anchor is None:
        anchor = next((i for i in range(start, len(body)) if import_like(body[i])), None)
        if anchor is not None and any(not import_like(s) for s in body[start:anchor]):
            anchor = None  # something runs before the first import: stay above it
    if anchor is None:
        return _above_code(module, start, lines)
    cell_of = getattr(source, "cell_of", None)
    cell = cell_of(module.start(body[anchor])) if cell_of else None
    last = anchor
    while last + 1 < len(body) and import_like(body[last + 1]):
        if cell_of and cell_of(module.start(body[last + 1])) != cell:
            break
        last += 1
    in_order = _in_order(module, body[anchor : last + 1], lines) if own is not None else None
    if in_order is not None:
        return in_order
    stmt = body[last]
    if _shares_line_after(module, stmt):
        line = source.line_start(source.line_of(module.start(body[anchor])))
        return Insertion(line, newline.join(lines) + newline)
    gap = ""
    if own is not None and not cell_of and not _imports_own(stmt, own):
        gap = newline
    line = source.line_of(module.end(stmt))
    offset = source.line_end(line)
    following = source.text[source.line_start(line + 1) : source.line_end(line + 1)]
    tail = newline if gap and following.strip() else ""
    return Insertion(offset, gap + "".join(newline + line for line in lines) + tail)


def _in_order(module: Module, block: list[ast.stmt], lines: list[str]) -> Insertion | None:
    """Among the package's own absolute imports, where those are in the order that isort keeps."""
    wanted = re.match(r"from ([A-Za-z_][\w.]*) import ", lines[0]) if len(lines) == 1 else None
    if wanted is None:
        return None
    root = wanted[1].split(".")[0]
    same = [s for s in block if isinstance(s, ast.ImportFrom) and not s.level and s.module]
    same = [s for s in same if str(s.module).split(".")[0] == root]
    names = [str(s.module) for s in same]
    if not same or names != sorted(names):
        return None
    later = next((s for s in same if str(s.module) > wanted[1]), None)
    return before(module, later, lines) if later is not None else after(module, same[-1], lines)


def _imports_own(stmt: ast.stmt, own: Callable[[str], bool]) -> bool:
    if isinstance(stmt, ast.ImportFrom):
        return bool(stmt.level) or own((stmt.module or "").split(".")[0])
    if isinstance(stmt, ast.Import):
        return own(stmt.names[-1].name.split(".")[0])
    return False


def _above_code(module: Module, start: int, lines: list[str]) -> Insertion:
    """There is no import to stand beside: below docstring, `__future__` and leading comments, above the first code."""
    body, source, newline = module.tree.body, module.source, module.source.newline
    if start < len(body):
        offset = source.line_start(first_line(body[start]))
        tail = newline * (3 if isinstance(body[start], (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) else 2)
        cell_of = getattr(source, "cell_of", None)
        if cell_of:
            tail = newline
        return Insertion(offset, newline.join(lines) + tail)
    if body:
        return Insertion(source.line_end(source.line_of(module.end(body[-1]))), newline + newline.join(lines))
    return Insertion(len(source.text), newline.join(lines) + newline)
