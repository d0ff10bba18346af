"""What an expression may stand for: symbolic evaluation of names, imports and attributes, without running anything.

The evaluation is a union over everything that could flow into a name, insensitive to order and branches. Work for one
question is bounded: past the bound the answer is what was found so far.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.repo.annotations import PLAIN
from instrument.repo.calls import instances
from instrument.repo.containers import SEQUENCES
from instrument.repo.module import BUILTINS, Module
from instrument.repo.scopes import Binding, Scope, terminal
from instrument.repo.values import EMPTY, REPO, Box, Value, Values, boxes, constant, ordered, union

if TYPE_CHECKING:
    from instrument.repo.names import Program

#: Longer chains than this are growing in a loop (`node = node.next`).
_MAX_PARTS = 14
_PROPERTIES = frozenset("property cached_property abstractproperty lazy_property".split())
_NOTHING = (ast.Constant, ast.JoinedStr, ast.Compare, ast.UnaryOp)
_DISPLAYS = (*SEQUENCES, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class Expressions:
    """The part of Program that evaluates expressions."""

    program: Program

    def expr(self, module: Module, node: ast.AST | None) -> Values:
        """All values of an expression."""
        if node is None or isinstance(node, _NOTHING):
            return EMPTY
        return self.program.memo.get(node, self._expr, module, node)

    def _expr(self, module: Module, node: ast.AST) -> Values:
        if isinstance(node, ast.Name):
            scope = module.index.scopes.get(node) or module.scope_of(node)
            return self.name(module, scope, node.id) | self._narrowed(module, node)
        if isinstance(node, ast.Attribute):
            receiver = self.expr(module, node.value)
            found = self.attribute(module, receiver, node.attr) if receiver else self._unknown(module, node)
            return found | self._narrowed(module, node)
        if isinstance(node, ast.Call):
            return self.program.call(module, node)
        if isinstance(node, ast.Subscript):
            values = self.expr(module, node.value)
            return values if isinstance(node.slice, ast.Slice) else self.program.item(values, constant(node.slice))
        if isinstance(node, ast.Await | ast.Starred | ast.NamedExpr):
            return self.expr(module, node.value)
        if isinstance(node, ast.IfExp):
            return self.expr(module, node.body) | self.expr(module, node.orelse)
        if isinstance(node, ast.BoolOp):
            return union(self.expr(module, value) for value in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr):
            return boxes(self.expr(module, node.left) | self.expr(module, node.right))
        if isinstance(node, ast.Lambda):
            return frozenset((f"{REPO}{module.dotted}.{module.qualname(node)}",))
        return frozenset((Box("literal", module, node),)) if isinstance(node, _DISPLAYS) else EMPTY

    # -- names -------------------------------------------------------------------------------------------------------

    def name(self, module: Module, scope: Scope, name: str) -> Values:
        """All values of a name that is read in a scope."""
        found = module.lookup(scope, name)
        if found is not None:
            home, bindings = found
            return self.program.memo.get((home, name), self._bound, module, home, name, bindings)
        values = union(self._from(module, star, name, star=True) for star in module.index.stars)
        if values:
            return values
        return frozenset((f"builtins.{name}",)) if name in BUILTINS else EMPTY

    def _bound(self, module: Module, home: Scope, name: str, bindings: list[Binding]) -> Values:
        values = union(self.binding(module, binding) for binding in bindings)
        if not any(isinstance(value, Box) for value in values):
            return values
        put = {
            Box("item", module, binding=binding)
            for scope, binding in module.index.name_items.get(name, ())
            if (found := module.lookup(scope, name)) is not None and found[0] is home
        }
        if home is module.scope:
            stem = module.dotted.rpartition(".")[2]
            for other, taken, binding in self.program.everywhere.items.get(name, ()):
                if taken.dotted.rpartition(".")[2] == stem:
                    put.add(Box("item", other, binding=binding))
        return values | put

    def binding(self, module: Module, binding: Binding) -> Values:
        """All values that one binding gives."""
        kind, node, program = binding.kind, binding.node, self.program
        if kind == "value":
            return program.steps(module, self.expr(module, node), binding.steps)
        if kind == "module":
            return self.imported(module, binding.dotted)
        if kind == "from":
            return self._from(module, binding, binding.name)
        if kind == "annotation":
            return program.steps(module, program.annotation(module, binding.scope, node), binding.steps)
        if kind == "def":
            return self.defined(module, node)
        if kind == "param":
            return program.memo.get((node, binding.name), program.parameter, module, node, binding.name, hop=1)
        return EMPTY

    def defined(self, module: Module, node: ast.AST) -> Values:
        """The name of a function or class."""
        return frozenset((f"{REPO}{module.dotted}.{module.qualname(node)}",))

    def lineage(self, module: Module, node: ast.ClassDef) -> Values:
        """The names of a class and of all its bases, its own and foreign ones."""
        return self.program.memo.get(("lineage", node), self._lineage, module, node)

    def _lineage(self, module: Module, node: ast.ClassDef) -> Values:
        results: set[Value] = set(self.defined(module, node))
        for base in node.bases:
            for value in ordered(self.expr(module, base.value if isinstance(base, ast.Subscript) else base)):
                if isinstance(value, str) and not value.startswith(PLAIN) and not value.endswith((")", "]")):
                    results.add(value)
                    for owner, definition in self.program.entities(value):
                        if isinstance(definition, ast.ClassDef):
                            results |= self.lineage(owner, definition)
        return frozenset(results)

    def expanded(self, values: Values) -> Values:
        """The values, and for each class or instance of this repository also those of its bases."""
        own = frozenset(value for value in values if isinstance(value, str) and value.startswith(REPO))
        if not own:
            return values
        results: set[Value] = set(values)
        for value in ordered(own):
            if isinstance(value, str):
                instance = value.endswith("()")
                for owner, node in self.program.entities(value.removesuffix("()")):
                    if isinstance(node, ast.ClassDef):
                        names = self.lineage(owner, node)
                        results |= instances(names) if instance else names
        return frozenset(results)

    # -- imports -----------------------------------------------------------------------------------------------------

    def imported(self, module: Module, dotted: str) -> Values:
        """What `import dotted` gives."""
        found = self.program.finder.find(dotted, module.path)
        if found is None:
            return frozenset((dotted,))
        name = self.program.module_name(found)
        # A plain folder loses against an installed package of the same name, so both are possible.
        return frozenset((name, dotted)) if self.program.is_folder(found) else frozenset((name,))

    def _from(self, module: Module, binding: Binding, name: str, *, star: bool = False) -> Values:
        """What `from m import name` gives; with `star` what `from m import *` does for a name."""
        finder, program = self.program.finder, self.program
        foreign = frozenset((f"{binding.dotted}.{name}",))
        if binding.level:
            place = finder.relative(module.path, binding.level)
            if place is None:
                return EMPTY
            found = finder.below(place, binding.dotted.split(".") if binding.dotted else [])
            if found is None:
                base = f"{place.replace('/', '.')}.{binding.dotted}".strip(".")
                return EMPTY if star else frozenset((f"{REPO}{base}.{name}",))
        else:
            found = finder.find(binding.dotted, module.path)
            if found is None:
                return EMPTY if star and name in BUILTINS else foreign
        if program.is_folder(found):
            inside = finder.below(found, [name])
            if inside is not None:
                return frozenset((program.module_name(inside),))
            return EMPTY if star or binding.level else foreign
        if star and name.startswith("_"):
            return EMPTY
        if found == module.path:
            # `from . import x` in a package's own `__init__.py`
            inside = finder.below(found.rpartition("/")[0], [name]) if found.endswith("__init__.py") else None
            return frozenset((program.module_name(inside),)) if inside else EMPTY
        return self.member(found, name, strict=star)

    def member(self, path: str, name: str, *, strict: bool = False) -> Values:
        """What `name` is in the module at a path; with `strict` nothing where the module does not bind it."""
        return self.program.memo.get((path, name, strict), self._member, path, name, strict)

    def _member(self, path: str, name: str, strict: bool) -> Values:
        program = self.program
        unknown: Values = EMPTY if strict else frozenset((f"{program.module_name(path)}.{name}",))
        values = EMPTY
        if program.mentions(path, name) or program.mentions(path, "*"):
            try:
                module = program.module(path)
            except SourceError:
                return unknown
            if name in module.scope.names:
                values = self.name(module, module.scope, name)
                unknown = EMPTY
            elif module.index.stars:
                values = union(self._from(module, star, name, star=True) for star in module.index.stars)
        if not values and path.endswith("__init__.py"):
            inside = program.finder.below(path.rpartition("/")[0], [name])
            if inside is not None:
                return frozenset((program.module_name(inside),))
        return values or unknown

    # -- attributes --------------------------------------------------------------------------------------------------

    def attribute(self, module: Module, values: Values, name: str) -> Values:
        """All values of an attribute of any of these values."""
        results: set[Value] = set()
        for value in ordered(values):
            if isinstance(value, Box):
                if value.kind == "namespace":
                    results |= self.program.item(frozenset((value,)), name)
            elif value.startswith(REPO):
                results |= self.repo_attribute(value, name)
            elif value.count(".") + value.count("(") < _MAX_PARTS:
                results.add(f"{value}.{name}")
        return frozenset(results) | self._stored(module, values, name)

    def repo_attribute(self, value: str, name: str) -> Values:
        """An attribute of a module, class, instance or function of this repository."""
        return self.program.memo.get((value, name), self._repo_attribute, value, name, hop=1)

    def _repo_attribute(self, value: str, name: str) -> Values:
        program = self.program
        results: set[Value] = set()
        for owner, node in program.entities(value):
            if isinstance(node, ast.ClassDef):
                results |= self._class_attribute(owner, node, name, instance=False)
            elif name in ("remote", "options", "bind", "__wrapped__", "__call__"):
                results.add(value)
        if value.endswith("()"):
            for owner, node in program.entities(value[:-2]):
                if isinstance(node, ast.ClassDef):
                    results |= self._class_attribute(owner, node, name, instance=True)
        path = program.path_of(value)
        if path is not None and program.is_folder(path):
            inside = program.finder.below(path, [name])
            if inside is not None:
                results.add(program.module_name(inside))
        elif path is not None:
            results |= self.member(path, name)
        return frozenset(results)

    def _class_attribute(self, module: Module, node: ast.ClassDef, name: str, *, instance: bool) -> Values:
        """An attribute of a class or its instance: what the class, its bases and its subclasses put there."""
        if name == "__class__":
            return self.defined(module, node)
        program = self.program
        results: set[Value] = set()
        shadowed = False
        bases = program.mro(module, node)
        family = bases + program.subclasses(module, node)
        for position, (owner, member) in enumerate(family):
            scope = owner.index.inner[member]
            for binding in scope.self_attributes.get(name, ()):
                results |= self.binding(owner, binding)
            bindings = scope.names.get(name, ())
            if not bindings or (shadowed and position < len(bases)):
                continue
            for binding in bindings:
                if binding.kind == "def" and instance and _is_property(binding.node):
                    results |= program.returned(owner, binding.node)
                else:
                    results |= self.binding(owner, binding)
                if binding.kind == "annotation":
                    results |= program.field(owner, member, name)
            if position < len(bases):
                shadowed = shadowed or any(binding.kind != "annotation" for binding in bindings)
        if any(isinstance(value, Box) for value in results):
            for owner, member in family:
                for binding in owner.index.inner[member].self_items.get(name, ()):
                    results.add(Box("item", owner, binding=binding))
        if instance and not results and not name.startswith("__"):
            results |= self._delegated(bases, name)
        if not shadowed:
            for base in ordered(self.lineage(module, node)):
                if isinstance(base, str) and not base.startswith(REPO):
                    results.add(f"{base}().{name}" if instance else f"{base}.{name}")
        if not results and not instance and name in ("remote", "options", "bind"):
            return self.defined(module, node)
        return frozenset(results)

    def _delegated(self, classes: list[tuple[Module, ast.ClassDef]], name: str) -> Values:
        """What `def __getattr__(self, attr): return getattr(self.run, attr)` hands an attribute on to."""
        results: Values = EMPTY
        for owner, member in classes:
            for method in member.body:
                if (
                    not isinstance(method, ast.FunctionDef)
                    or method.name != "__getattr__"
                    or len(method.args.args) != 2
                ):
                    continue
                for value in owner.index.inner[method].returns:
                    if (
                        isinstance(value, ast.Call)
                        and terminal(value.func) == "getattr"
                        and len(value.args) >= 2
                        and isinstance(value.args[1], ast.Name)
                        and value.args[1].id == method.args.args[1].arg
                    ):
                        results |= self.attribute(owner, self.expr(owner, value.args[0]), name)
        return results

    def _stored(self, module: Module, values: Values, name: str) -> Values:
        """What is stored by `receiver.name = ...` on any of these values, in the files where that could be."""
        results: set[Value] = set()
        wide: Values | None = None
        for owner, receiver, binding in self.program.stores(module, name, values):
            some = self.expr(owner, receiver)
            alike = bool(some & values or self.expanded(some) & values)
            if not alike and some:
                wide = self.expanded(values) if wide is None else wide
                alike = bool(some & wide)
            if alike:
                results |= self.binding(owner, binding)
        if any(isinstance(value, Box) for value in results):
            for receiver, binding in module.index.attribute_items.get(name, ()):
                if self._alike(self.expr(module, receiver), values):
                    results.add(Box("item", module, binding=binding))
        return frozenset(results)

    def _alike(self, some: Values, others: Values) -> bool:
        """Whether two expressions could be the same object: equal names, or one a base of the other."""
        return bool(some & others or self.expanded(some) & others or some & self.expanded(others))

    def _unknown(self, module: Module, node: ast.Attribute) -> Values:
        """`args.run` where nothing is known of `args`: what is stored as `run` on that same name."""
        name = node.value
        stores = module.index.attributes.get(node.attr)
        if not stores or not isinstance(name, ast.Name):
            return EMPTY
        home = module.lookup(module.scope_of(name), name.id)
        results: set[Value] = set()
        for receiver, binding in stores:
            if home is not None and isinstance(receiver, ast.Name) and receiver.id == name.id:
                other = module.lookup(module.scope_of(receiver), name.id)
                if other is not None and other[0] is home[0]:
                    results |= self.binding(module, binding)
        return frozenset(results)

    def _narrowed(self, module: Module, node: ast.Name | ast.Attribute) -> Values:
        """What `isinstance(x, T)` before or around a use of `x` says of it."""
        asked = module.index.narrowed.get(terminal(node) or "")
        if not asked:
            return EMPTY
        wanted = ast.dump(node)
        results: set[Value] = set()
        for call in asked:
            if ast.dump(call.args[0]) == wanted and _holds_at(module, call, node):
                kinds = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
                results |= instances(union(self.expr(module, kind) for kind in kinds))
        return frozenset(results)


def _holds_at(module: Module, call: ast.Call, node: ast.AST) -> bool:
    """Whether code at a node only runs if a call gave true: `if`, `and`, `assert` or an early exit see to it."""
    child: ast.AST = call
    test = module.parent(call)
    while isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        if _within(module, node, test) and child is not node and not _within(module, node, child):
            return True
        child, test = test, module.parent(test)
    if isinstance(test, ast.If | ast.While) and test.test is child:
        return any(_within(module, node, statement) for statement in test.body)
    if isinstance(test, ast.IfExp) and test.test is child:
        return _within(module, node, test.body)
    leaves: ast.AST | None = None
    if isinstance(test, ast.Assert):
        leaves = test
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and child is call:
        around = module.parent(test)
        if isinstance(around, ast.If) and around.test is test and isinstance(around.body[-1], _EXITS):
            leaves = around
    if leaves is None:
        return False
    place = module.parent(leaves)
    return place is not None and _within(module, node, place) and _line(node) > (getattr(leaves, "end_lineno", 0) or 0)


_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _within(module: Module, node: ast.AST, place: ast.AST) -> bool:
    current: ast.AST | None = node
    while current is not None and current is not place:
        current = module.parent(current)
    return current is not None


def _is_property(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any((terminal(d.func if isinstance(d, ast.Call) else d) or "") in _PROPERTIES for d in decorators)
