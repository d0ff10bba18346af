"""What is in a row of metrics: its keys and the expression of each value, followed back through the repository.

`Rows.entries` goes from the expression that a tracker is given to the places where its items are written: literals,
`row["loss"] = ...`, `update`, `|=`, comprehensions over other rows, what functions return, and what callers pass.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from instrument.audit.keys import WILD, Frame, Keys, argument_of
from instrument.repo.scopes import Binding, Scope

if TYPE_CHECKING:
    from instrument.repo.module import Module
    from instrument.repo.names import Program

_MAX_DEPTH, _MAX_ENTRIES, _MAX_SITES, _MAX_STEPS = 14, 600, 24, 3000


@dataclass(frozen=True)
class Entry:
    """One item of a row. The key is WILD, without a value, where the row has items that can't be seen."""

    key: str
    value: ast.expr | None
    module: Module
    #: Where it is written: the key's expression, or the row's where there is none.
    node: ast.AST
    frame: Frame | None = None

    @property
    def unknown(self) -> bool:
        return self.value is None and self.key == WILD


class Rows:
    """The rows of one repository."""

    def __init__(self, program: Program, keys: Keys) -> None:
        self._program = program
        self._keys = keys
        self._budget = 0

    def entries(self, module: Module, row: ast.expr, frame: Frame | None = None) -> list[Entry]:
        """Every item that a row may have, over all branches and callers."""
        found: dict[tuple[str, int], Entry] = {}
        self._budget = _MAX_STEPS
        try:
            for entry in self._row(module, row, frame, 0, frozenset()):
                found.setdefault((entry.key, id(entry.node)), entry)
                if len(found) >= _MAX_ENTRIES:
                    found[(WILD, 0)] = Entry(WILD, None, module, row)
                    break
        except RecursionError:
            found[(WILD, 0)] = Entry(WILD, None, module, row)
        return list(found.values())

    def _row(
        self, module: Module, row: ast.AST, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> Iterator[Entry]:
        here = (id(row), id(frame.call) if frame else 0)
        if here in seen:
            return  # `row = {**row, ...}`: what it held before is another of its values
        self._budget -= 1
        if depth > _MAX_DEPTH or self._budget < 0:
            yield Entry(WILD, None, module, row)
            return
        yield from self._inside(module, row, frame, depth + 1, seen | {here})

    def _inside(
        self, module: Module, row: ast.AST, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> Iterator[Entry]:
        if isinstance(row, ast.Dict):
            for key, value in zip(row.keys, row.values):
                if key is None:
                    yield from self._row(module, value, frame, depth, seen)
                else:
                    yield from self._item(module, key, value, frame)
        elif isinstance(row, ast.DictComp):
            yield from self._comprehension(module, row, frame, depth, seen)
        elif isinstance(row, (ast.Name, ast.Attribute)):
            yield from self._held(module, row, frame, depth, seen)
        elif isinstance(row, ast.Call):
            yield from self._call(module, row, frame, depth, seen)
        elif isinstance(row, ast.IfExp):
            yield from self._row(module, row.body, frame, depth, seen)
            yield from self._row(module, row.orelse, frame, depth, seen)
        elif isinstance(row, ast.BoolOp):
            for value in row.values:
                yield from self._row(module, value, frame, depth, seen)
        elif isinstance(row, ast.BinOp) and isinstance(row.op, ast.BitOr):
            yield from self._row(module, row.left, frame, depth, seen)
            yield from self._row(module, row.right, frame, depth, seen)
        elif isinstance(row, (ast.Await, ast.NamedExpr)):
            yield from self._row(module, row.value, frame, depth, seen)
        elif not (isinstance(row, ast.Constant) and row.value is None):
            yield Entry(WILD, None, module, row)

    def _item(self, module: Module, key: ast.expr, value: ast.expr | None, frame: Frame | None) -> Iterator[Entry]:
        for text in self._keys.texts(module, key, frame):
            node = key if hasattr(key, "lineno") or value is None else value
            yield Entry(text, value if value is not None else ast.Constant(None), module, node, frame)

    # -- comprehensions and loops over other rows ---------------------------------------------------------------------

    def _comprehension(
        self, module: Module, row: ast.DictComp, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> Iterator[Entry]:
        first = row.generators[0]
        source, names = items_of(first.iter), _pair(first.target)
        if source is None or names is None or len(row.generators) > 1:
            yield from self._item(module, row.key, row.value, frame)
            return
        for entry in self._row(module, source, frame, depth, seen):
            inner = _with_name(frame, row, module, names[0], entry.key)
            own = isinstance(row.value, ast.Name) and row.value.id == names[1]
            for text in self._keys.texts(module, row.key, inner):
                if own and not entry.unknown:
                    yield replace(entry, key=text, value=entry.value or row.value)
                else:
                    yield Entry(text, row.value, module, row.key, inner)

    def _loop_texts(
        self, module: Module, key: ast.expr, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> list[tuple[Frame, Entry]] | None:
        """For `out[f"train/{k}"] = v` in `for k, v in row.items()`: the row's entries, each with k as its key."""
        node: ast.AST | None = module.parent(key)
        used = {n.id for n in ast.walk(key) if isinstance(n, ast.Name)}
        while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(node, (ast.For, ast.AsyncFor)):
                source, names = items_of(node.iter), _pair(node.target)
                if source is not None and names is not None and names[0] in used:
                    entries = list(self._row(module, source, frame, depth, seen))
                    return [(_with_name(frame, key, module, names[0], e.key), e) for e in entries]
            node = module.parent(node)
        return None

    # -- names --------------------------------------------------------------------------------------------------------

    def _held(
        self,
        module: Module,
        row: ast.Name | ast.Attribute,
        frame: Frame | None,
        depth: int,
        seen: frozenset[tuple[int, int]],
    ) -> Iterator[Entry]:
        bindings = self._bindings(module, row)
        if not bindings:
            yield Entry(WILD, None, module, row)
        for binding in bindings:
            if binding.kind in ("value", "merge") and not binding.steps:
                yield from self._row(module, binding.node, frame, depth, seen)
            elif binding.kind == "item" and binding.key is not None:
                value = binding.node if isinstance(binding.node, ast.expr) and not binding.steps else None
                looped = self._loop_texts(module, binding.key, frame, depth, seen) if _wild(binding.key) else None
                if looped is None:
                    yield from self._item(module, binding.key, value, frame)
                for inner, entry in looped or ():
                    # `out[k] = v` alone is the other row's own item.
                    kept = isinstance(binding.key, ast.Name)
                    owner = entry.module if entry.value is not None else module
                    for text in self._keys.texts(module, binding.key, inner):
                        if kept and not entry.unknown:
                            yield replace(entry, key=text)
                        else:
                            yield Entry(text, entry.value or value, owner if not kept else module, binding.key, inner)
            elif binding.kind == "param" and isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._parameter(module, binding.node, binding.name, frame, depth, seen)
            elif binding.kind == "value" and len(binding.steps) == 1 and isinstance(binding.steps[0], int):
                yield from self._taken(module, binding, frame, depth, seen)
            elif binding.kind not in ("annotation", "item"):
                yield Entry(WILD, None, module, row)

    def _bindings(self, module: Module, row: ast.Name | ast.Attribute) -> list[Binding]:
        scope = module.scope_of(row, inner=False)
        if isinstance(row, ast.Name):
            found = module.lookup(scope, row.id)
            if found is None:
                return []
            home, bound = found
            put = module.index.name_items.get(row.id, ())
            return [*bound, *(b for inner, b in put if _reads(module, inner, row.id, home))]
        if isinstance(row.value, ast.Name):
            for outer in scope.chain():
                if outer.self_name == row.value.id and outer.parent is not None:
                    owner = outer.parent
                    return [*owner.self_attributes.get(row.attr, ()), *owner.self_items.get(row.attr, ())]
        return []

    def _taken(
        self, module: Module, binding: Binding, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> Iterator[Entry]:
        """`metrics, table = evaluate()`: that element of each tuple that the function returns."""
        position = binding.steps[0]
        node = binding.node.value if isinstance(binding.node, ast.Await) else binding.node
        assert isinstance(position, int)
        if isinstance(node, (ast.Tuple, ast.List)) and position < len(node.elts):
            yield from self._row(module, node.elts[position], frame, depth, seen)
            return
        reached = False
        if isinstance(node, ast.Call):
            for owner, function, skip in self._callees(module, node):
                inner = Frame(function, module, node, skip, frame)
                for result in owner.index.inner[function].returns:
                    if isinstance(result, ast.Tuple) and -len(result.elts) <= position < len(result.elts):
                        reached = True
                        yield from self._row(owner, result.elts[position], inner, depth, seen)
        if not reached:
            yield Entry(WILD, None, module, binding.node)

    def _parameter(
        self,
        module: Module,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        name: str,
        frame: Frame | None,
        depth: int,
        seen: frozenset[tuple[int, int]],
    ) -> Iterator[Entry]:
        reached = frame
        while reached is not None and reached.function is not function:
            reached = reached.outer
        if reached is not None:
            given = argument_of(function, reached.call, reached.skip, name)
            if isinstance(given, ast.expr):
                yield from self._row(reached.caller, given, reached.outer, depth, seen)
            else:
                yield Entry(WILD, None, module, function)
            return
        sites = self._program.sites(module, function)
        if not sites or len(sites) > _MAX_SITES:
            yield Entry(WILD, None, module, function)
        for site in sites[:_MAX_SITES]:
            given = argument_of(function, site.call, site.skip, name) if site.direct else False
            if isinstance(given, ast.expr):
                yield from self._row(site.module, given, None, depth, seen)
            else:
                yield Entry(WILD, None, module, function)

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(
        self, module: Module, row: ast.Call, frame: Frame | None, depth: int, seen: frozenset[tuple[int, int]]
    ) -> Iterator[Entry]:
        func = row.func
        if isinstance(func, ast.Name) and func.id in ("dict", "OrderedDict", "defaultdict"):
            for argument in row.args[:1] if func.id != "defaultdict" else ():
                yield from self._row(module, argument, frame, depth, seen)
            for keyword in row.keywords:
                if keyword.arg is None:
                    yield from self._row(module, keyword.value, frame, depth, seen)
                else:
                    yield Entry(keyword.arg, keyword.value, module, keyword.value, frame)
            return
        if isinstance(func, ast.Attribute) and func.attr in ("copy", "to_dict") and not row.args:
            if isinstance(func.value, (ast.Name, ast.Attribute)) and func.attr == "copy":
                yield from self._row(module, func.value, frame, depth, seen)
                return
        if isinstance(func, ast.Attribute) and func.attr in ("deepcopy", "copy") and len(row.args) == 1:
            yield from self._row(module, row.args[0], frame, depth, seen)
            return
        reached = False
        for owner, function, skip in self._callees(module, row):
            inner = Frame(function, module, row, skip, frame)
            for result in owner.index.inner[function].returns:
                reached = True
                yield from self._row(owner, result, inner, depth, seen)
        if not reached:
            yield Entry(WILD, None, module, row)

    def _callees(
        self, module: Module, call: ast.Call
    ) -> list[tuple[Module, ast.FunctionDef | ast.AsyncFunctionDef, int]]:
        found = []
        for owner, node in self._program.definitions(module, call.func)[:3]:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                method = owner.index.inner[node].self_name is not None
                found.append((owner, node, 1 if method and isinstance(call.func, ast.Attribute) else 0))
        return found


def _reads(module: Module, scope: Scope, name: str, home: Scope) -> bool:
    """Whether a name in a scope is the one of another scope."""
    found = module.lookup(scope, name)
    return found is not None and found[0] is home


def items_of(node: ast.expr) -> ast.expr | None:
    """`row` of `row.items()`, sorted or not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sorted", "list"):
        return items_of(node.args[0]) if node.args else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "items":
        return node.func.value
    return None


def _pair(target: ast.expr) -> tuple[str, str] | None:
    if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == 2:
        first, second = target.elts
        if isinstance(first, ast.Name) and isinstance(second, ast.Name):
            return first.id, second.id
    return None


def _with_name(frame: Frame | None, node: ast.AST, module: Module, name: str, text: str) -> Frame:
    """The same frame with one name known; a frame of its own where there is none."""
    call = frame.call if frame else ast.Call(ast.Name("_"), [], [])
    names = {**(frame.names if frame else {}), name: (text,)}
    function = frame.function if frame else ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(0))
    return Frame(
        function,
        frame.caller if frame else module,
        call,
        frame.skip if frame else 0,
        frame.outer if frame else None,
        names,
    )


def _wild(key: ast.expr) -> bool:
    return not isinstance(key, ast.Constant)
